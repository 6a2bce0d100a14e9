/* SPDX-License-Identifier: MIT */
/* The store: each block once and in order, whatever comes twice, early, late, torn, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tlgmake.h"
#include "fleet/t2x_parcel.h"
#include "fleet/t2x_store.h"

enum { BLOCKS = 12 };

static char directory[] = "/tmp/test_t2x_store.XXXXXX", path[256], command[512];
static unsigned char message[T2X_ENVELOPE_MESSAGE], plain[TLG_FRAME_BYTES], gathered[TLG_FRAME_BYTES];
static struct tlgmake make;
static size_t begins[BLOCKS + 2];         /* of the blocks, by number */
static struct t2x_store *store;
static int fails_to_sync;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	if (!fails_to_sync)
		return __real_fdatasync(fd);
	errno = EIO;
	return -1;
}

/* A stream of BLOCKS blocks. */
static int begin(void **state)
{
	struct t2x_parcel_block block;

	(void)state;
	tlgmake_init(&make, 0xabcdef, 77);
	tlgmake_cycle(&make);
	for (unsigned i = 0; i < BLOCKS - 2; i++) {
		tlgmake_begin(&make, i);
		tlgmake_scope(&make, i + 1, 0, 0, "label");
		tlgmake_hit(&make, 10 + i, i + 1);
		tlgmake_seal(&make);
	}
	tlgmake_end(&make);
	for (size_t at = 0, number = 1; at < make.n; at += block.bytes) {
		assert_true(t2x_parcel_block(&block, make.stream, make.bytes + at, make.n - at));
		begins[number++] = at;
	}
	assert_int_equal(make.number, BLOCKS);
	begins[BLOCKS + 1] = make.n;
	return 0;
}

static struct t2x_store *open_store(void)
{
	const char *why;
	struct t2x_store *opened = t2x_store_open(directory, &why);

	assert_non_null(opened);
	return opened;
}

static int set_up(void **state)
{
	begin(state);
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/web-1/2023-11-14/77-00abcdef.tlg", directory);
	store = open_store();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	t2x_store_free(store);
	tlgmake_free(&make);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
	memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
	return 0;
}

static struct t2x_envelope head_of(uint32_t first, uint32_t last)
{
	return (struct t2x_envelope){ .host = "web-1", .stream = make.stream, .pid = 77, .previous = first - 1,
				      .first = first, .last = last, .blocks = last - first + 1,
				      .start_ns = 1700000000000000000 };
}

/* Send blocks to a store, from a host. */
static enum t2x_stored put_to(struct t2x_store *to, const char *host, uint32_t first, uint32_t last, uint32_t *until)
{
	struct t2x_parcel parcel = { .plain = gathered };
	struct t2x_envelope head = head_of(first, last);

	snprintf(head.host, sizeof(head.host), "%s", host);
	for (uint32_t i = first; i <= last; i++) {
		struct t2x_parcel_block block;

		assert_true(t2x_parcel_block(&block, make.stream, make.bytes + begins[i], make.n - begins[i]));
		assert_true(t2x_parcel_add(&parcel, &head, &block, make.bytes + begins[i]));
	}
	assert_null(t2x_parcel_open(&head, message, t2x_parcel_seal(&parcel, message), plain));
	return t2x_store_put(to, &head, message, plain, until);
}

static uint32_t until;

static enum t2x_stored put(uint32_t first, uint32_t last)
{
	return put_to(store, "web-1", first, last, &until);
}

/* Say that blocks will never come. */
static enum t2x_stored put_gap(uint32_t first, uint32_t last)
{
	struct t2x_envelope head = head_of(first, last), read;

	head.reason = T2X_GAP_QUOTA;
	head.events = 100;
	t2x_envelope_write(&head, message);
	assert_null(t2x_parcel_open(&read, message, T2X_ENVELOPE_BYTES, plain));
	return t2x_store_put(store, &read, message, plain, &until);
}

/* What is in a file; the caller frees it. */
static char *read_file(const char *name, size_t *n)
{
	FILE *file = fopen(name, "re");
	char *bytes = calloc(1, 1 << 20);

	assert_non_null(file);
	*n = fread(bytes, 1, (1 << 20) - 1, file);
	fclose(file);
	return bytes;
}

/* The file has the stream's blocks from first to last, in order, once, and nothing else. */
static void check_file(uint32_t first, uint32_t last)
{
	size_t n, at = 0, made = 0;
	unsigned char *bytes = (unsigned char *)read_file(path, &n), *all = malloc(make.n + TLG_FRAME_BYTES);

	while (at < n) {
		size_t end = at + 24;
		while (end < n && memcmp(bytes + end, "\x54\x2a\x4d\x18", 4) != 0)
			end++;
		assert_true(made <= make.n);
		made += t2x_parcel_unpack(all + made, bytes + at, end - at);
		at = end;
	}
	assert_int_equal(made, begins[last + 1] - begins[first]);
	assert_memory_equal(all, make.bytes + begins[first], made);
	free(all);
	free(bytes);
}

static void test_store_blocks_in_order_are_stored(void **state)
{
	(void)state;
	assert_int_equal(put(1, 3), T2X_STORED_NEW);
	assert_int_equal(until, 3);
	assert_int_equal(put(4, 4), T2X_STORED_NEW);
	assert_int_equal(put(5, BLOCKS), T2X_STORED_NEW);
	assert_int_equal(until, BLOCKS);
	assert_int_equal(t2x_store_sync(store), 0);
	check_file(1, BLOCKS);
}

static void test_store_blocks_sent_again_are_stored_once(void **state)
{
	(void)state;
	assert_int_equal(put(1, 5), T2X_STORED_NEW);
	assert_int_equal(put(1, 5), T2X_STORED_BEFORE);
	assert_int_equal(put(2, 3), T2X_STORED_BEFORE);
	assert_int_equal(until, 5);
	/* divided at other places than before: only what is new is appended */
	assert_int_equal(put(4, 8), T2X_STORED_NEW);
	assert_int_equal(put(1, BLOCKS), T2X_STORED_NEW);
	check_file(1, BLOCKS);
}

static void test_store_blocks_that_come_early_wait(void **state)
{
	(void)state;
	assert_int_equal(put(4, 6), T2X_STORED_EARLY);
	assert_int_equal(until, 0);
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(put(4, 6), T2X_STORED_EARLY);
	assert_int_equal(until, 2);
	assert_int_equal(put(3, 3), T2X_STORED_NEW);
	assert_int_equal(put(4, 6), T2X_STORED_NEW);
	check_file(1, 6);
}

static void test_store_gap_is_a_line_and_the_rest_follows(void **state)
{
	char *lines;
	size_t n;

	(void)state;
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(put_gap(3, 7), T2X_STORED_NEW);
	assert_int_equal(put_gap(3, 7), T2X_STORED_BEFORE);
	assert_int_equal(until, 7);
	/* what was thrown away comes after all: it is too late */
	assert_int_equal(put(3, 7), T2X_STORED_BEFORE);
	t2x_store_free(store);
	store = open_store();
	assert_int_equal(put(8, BLOCKS), T2X_STORED_NEW);
	assert_int_equal(t2x_store_sync(store), 0);
	memcpy(strrchr(path, '.'), ".gaps", 6);
	lines = read_file(path, &n);
	assert_string_equal(lines, "3 7 100 quota\n");
	free(lines);
}

static void test_store_another_host_has_its_own_files(void **state)
{
	(void)state;
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(put_to(store, "web-2", 3, 5, &until), T2X_STORED_EARLY);
	assert_int_equal(until, 0);
	assert_int_equal(put_to(store, "web-2", 1, BLOCKS, &until), T2X_STORED_NEW);
	assert_int_equal(put(3, 4), T2X_STORED_NEW);
	assert_int_equal(until, 4);
	check_file(1, 4);
}

static void test_store_of_two_collectors_has_each_block_once(void **state)
{
	struct t2x_store *other = open_store();

	(void)state;
	for (uint32_t i = 1; i <= BLOCKS; i++) {
		assert_int_equal(put_to(i % 2 ? store : other, "web-1", i, i, &until), T2X_STORED_NEW);
		assert_int_equal(put_to(i % 3 ? store : other, "web-1", i, i, &until), T2X_STORED_BEFORE);
	}
	assert_int_equal(t2x_store_sync(other), 0);
	assert_int_equal(t2x_store_sync(store), 0);
	t2x_store_free(other);
	check_file(1, BLOCKS);
}

/* A collector that was killed, or the power: the last frame is there in part. */
static void test_store_torn_at_any_byte_goes_on_from_what_is_whole(void **state)
{
	struct stat whole, torn;

	(void)state;
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(stat(path, &torn), 0);
	assert_int_equal(put(3, 5), T2X_STORED_NEW);
	assert_int_equal(stat(path, &whole), 0);
	for (off_t size = whole.st_size - 1; size >= torn.st_size; size--) {
		t2x_store_free(store);
		assert_int_equal(truncate(path, size), 0);
		store = open_store();
		assert_int_equal(put(6, 7), T2X_STORED_EARLY);
		assert_int_equal(until, 2);
		assert_int_equal(put(3, 5), T2X_STORED_NEW);
		check_file(1, 5);
	}
}

/* After a power cut pages may be there in any order. */
static void test_store_with_zeros_inside_the_last_frame_goes_on_from_what_is_whole(void **state)
{
	static const char zeros[64];
	struct stat first;
	char *cut;
	size_t n;
	int fd;

	(void)state;
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(put(3, 5), T2X_STORED_NEW);
	t2x_store_free(store);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), first.st_size + 60), sizeof(zeros));
	close(fd);
	store = open_store();
	assert_int_equal(put(3, 5), T2X_STORED_NEW);
	check_file(1, 5);
	memcpy(strrchr(path, '.'), ".cut", 5);
	cut = read_file(path, &n);
	assert_true(n > sizeof(zeros));
	free(cut);
}

static void test_store_full_disk_leaves_the_file_as_it_was(void **state)
{
	struct rlimit limit, small;
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = (rlim_t)st.st_size + 40;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(3, 5), T2X_STORED_FAILED);
	assert_true(t2x_store_error(store) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_file(1, 2);
	assert_int_equal(put(3, 5), T2X_STORED_NEW);
	check_file(1, 5);
}

/* Files that somebody has removed, as too old, are not what is appended to. */
static void test_store_removed_file_begins_again(void **state)
{
	(void)state;
	assert_int_equal(put(1, 4), T2X_STORED_NEW);
	assert_int_equal(t2x_store_sync(store), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(put(5, 6), T2X_STORED_EARLY);
	assert_int_equal(until, 0);
	assert_int_equal(put(1, 6), T2X_STORED_NEW);
	assert_int_equal(t2x_store_sync(store), 0);
	check_file(1, 6);
}

static void test_store_removed_host_is_locked_by_one_collector(void **state)
{
	struct t2x_store *other = open_store();

	(void)state;
	assert_int_equal(put(1, 4), T2X_STORED_NEW);
	assert_int_equal(put_to(other, "web-1", 1, 4, &until), T2X_STORED_BEFORE);
	snprintf(command, sizeof(command), "rm -rf %s/web-1", directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(put_to(other, "web-1", 1, 2, &until), T2X_STORED_NEW);
	assert_int_equal(put(1, 4), T2X_STORED_NEW);
	assert_int_equal(put_to(other, "web-1", 3, 6, &until), T2X_STORED_NEW);
	assert_int_equal(t2x_store_sync(other), 0);
	assert_int_equal(t2x_store_sync(store), 0);
	t2x_store_free(other);
	check_file(1, 6);
}

/* What was not confirmed is not there any more: so it is not mistaken for stored the next time. */
static void test_store_failed_sync_stores_nothing(void **state)
{
	(void)state;
	assert_int_equal(put(1, 2), T2X_STORED_NEW);
	assert_int_equal(t2x_store_sync(store), 0);
	assert_int_equal(put(3, 5), T2X_STORED_NEW);
	fails_to_sync = 1;
	assert_int_equal(t2x_store_sync(store), -EIO);
	fails_to_sync = 0;
	check_file(1, 2);
	assert_int_equal(put(3, 5), T2X_STORED_NEW);
	assert_int_equal(t2x_store_sync(store), 0);
	check_file(1, 5);
}

static void test_store_more_streams_than_files_may_be_open_are_stored(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < T2X_STORE_OPEN + 20; i++) {
			char host[32];

			snprintf(host, sizeof(host), "host-%u", i);
			assert_int_equal(put_to(store, host, 1 + 2 * round, 2 + 2 * round, &until), T2X_STORED_NEW);
			assert_int_equal(t2x_store_sync(store), 0);
		}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_store_blocks_in_order_are_stored),
		TEST(test_store_blocks_sent_again_are_stored_once),
		TEST(test_store_blocks_that_come_early_wait),
		TEST(test_store_gap_is_a_line_and_the_rest_follows),
		TEST(test_store_another_host_has_its_own_files),
		TEST(test_store_of_two_collectors_has_each_block_once),
		TEST(test_store_torn_at_any_byte_goes_on_from_what_is_whole),
		TEST(test_store_with_zeros_inside_the_last_frame_goes_on_from_what_is_whole),
		TEST(test_store_full_disk_leaves_the_file_as_it_was),
		TEST(test_store_removed_file_begins_again),
		TEST(test_store_removed_host_is_locked_by_one_collector),
		TEST(test_store_failed_sync_stores_nothing),
		TEST(test_store_more_streams_than_files_may_be_open_are_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

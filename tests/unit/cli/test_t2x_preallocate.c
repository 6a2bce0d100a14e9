/* SPDX-License-Identifier: MIT */
/* Output to a file: room that is reserved is given back, and where there is none the text is written all the same. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/t2x_preallocate.h"

enum { MIB = 1024 * 1024 };

static char text[MIB];

static int open_file(void)
{
	char path[] = "/tmp/test_t2x_preallocate.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static uint64_t blocks_bytes(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void test_preallocate_small_reserves_nothing(void **state)
{
	struct t2x_preallocated file = { .fd = open_file() };

	(void)state;
	assert_int_equal(t2x_preallocate_write(&file, text, MIB), 0);
	assert_int_equal(file.allocated, 0);
	assert_int_equal(t2x_preallocate_finish(&file), 0);
	assert_int_equal(lseek(file.fd, 0, SEEK_END), MIB);
	close(file.fd);
}

static void test_preallocate_large_gives_back_what_it_did_not_need(void **state)
{
	struct t2x_preallocated file = { .fd = open_file() };
	char byte[1];

	(void)state;
	for (int i = 0; i < 20; i++) {
		memset(text, 'a' + i, sizeof(text));
		assert_int_equal(t2x_preallocate_write(&file, text, MIB), 0);
	}
	/* the file's length is that of its text all the time */
	assert_int_equal(lseek(file.fd, 0, SEEK_END), 20 * MIB);
	if (!file.is_off)
		assert_true(file.allocated > 20 * MIB);
	assert_int_equal(t2x_preallocate_finish(&file), 0);
	assert_int_equal(lseek(file.fd, 0, SEEK_END), 20 * MIB);
	fsync(file.fd);
	assert_true(blocks_bytes(file.fd) < 21 * MIB);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(pread(file.fd, byte, 1, (off_t)(i + 1) * MIB - 1), 1);
		assert_int_equal(byte[0], 'a' + i);
	}
	close(file.fd);
}

static void test_preallocate_without_room_to_reserve_is_written(void **state)
{
	struct t2x_preallocated file = { .written = 2 * MIB };
	char got[8];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	file.fd = ends[1];
	assert_int_equal(t2x_preallocate_write(&file, "text", 4), 0);
	assert_true(file.is_off);
	assert_int_equal(read(ends[0], got, sizeof(got)), 4);
	assert_memory_equal(got, "text", 4);
	assert_int_equal(t2x_preallocate_finish(&file), 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preallocate_small_reserves_nothing),
		cmocka_unit_test(test_preallocate_large_gives_back_what_it_did_not_need),
		cmocka_unit_test(test_preallocate_without_room_to_reserve_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

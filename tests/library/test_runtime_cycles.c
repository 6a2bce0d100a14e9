/* SPDX-License-Identifier: MIT */
/* Cycles and rotation: what begins a new one, and that each can be read by itself. */
#include "t2test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

static void read_back(const char *path, size_t hits)
{
	raw_free(&file);
	assert_int_equal(raw_read(path, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits, hits);
}

static void pass_checkpoint(void)
{
	trace2_region_enter("test", "again", NULL);
	trace2_region_leave("test", "again", NULL);
}

static int run_cycles(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		pass_checkpoint();
		trace2_flush();
		trace2_next_cycle();
	}
	return 0;
}

static size_t count_type(unsigned type)
{
	size_t n = 0;

	for (size_t i = 0; i < file.count; i++)
		n += tlg_event_type(&file.events[i]) == type;
	return n;
}

static void test_cycles_next_one_repeats_the_context(void **state)
{
	(void)state;
	traced_run(&t, run_cycles, (void *)10, NULL);
	read_back(t.raw, 2 + 10 * 2);
	assert_int_equal(file.cycles, 11);   /* the last one holds atexit */
	assert_int_equal(count_type(TLG_PROLOGUE), 11);
	assert_int_equal(count_type(TLG_SLOC), 1 + 10 * 2 + 1);
	assert_int_equal(count_type(TLG_THREAD), 11);
}

static int run_many(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++)
		pass_checkpoint();
	return 0;
}

static void test_cycles_setting_begins_them_by_bytes(void **state)
{
	(void)state;
	traced_run(&t, run_many, (void *)10000, (const char *const[]){ "TRACE2_RAW_CYCLE=64k", NULL });
	read_back(t.raw, 20000 + 2);
	assert_in_range(file.cycles, 20000 * 24 / 65536, 20000 * 24 / 65536 + 2);
}

static int run_rotation(void *data)
{
	trace2_initialize();
	trace2_region_enter("test", "across", NULL);
	for (long i = 0; i < (long)data; i++) {
		pass_checkpoint();
		trace2_rotate();
	}
	return 0;
}

static void test_cycles_rotation_gives_numbered_files_complete_in_themselves(void **state)
{
	char path[160];

	(void)state;
	traced_run(&t, run_rotation, (void *)2, NULL);
	read_back(t.raw, 1 + 1 + 2);
	for (int i = 1; i <= 2; i++) {
		snprintf(path, sizeof(path), "%s/raw.%d.tlg", t.dir, i);
		read_back(path, i == 1 ? 2 : 1);
		assert_int_equal(file.ends, 1);
		assert_int_equal(file.cycles, 1);
		assert_int_equal(count_type(TLG_OPEN), 1);   /* open across the files, and named */
		assert_int_equal(count_type(TLG_SLOC), i == 1 ? 3 : 2);
	}
}

static void test_cycles_rotation_never_overwrites(void **state)
{
	char path[160];
	struct stat st;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/raw.1.tlg", t.dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	traced_run(&t, run_rotation, (void *)1, NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 4);
	snprintf(path, sizeof(path), "%s/raw.2.tlg", t.dir);
	read_back(path, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_cycles_next_one_repeats_the_context),
		TRACED_TEST(test_cycles_setting_begins_them_by_bytes),
		TRACED_TEST(test_cycles_rotation_gives_numbered_files_complete_in_themselves),
		TRACED_TEST(test_cycles_rotation_never_overwrites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

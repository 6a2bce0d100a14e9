/* SPDX-License-Identifier: MIT */
/* Which files of a directory are traces. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/t2x_dir.h"

static char top[] = "/tmp/t2x_dir.XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	return !mkdtemp(top) || chdir(top);
}

static int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return chdir("/") || system(command);
}

static void make_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void test_dir_regular_tlg_files_are_listed_by_name(void **state)
{
	struct t2x_dir dir;

	(void)state;
	make_file("b.tlg");
	make_file("a.1.tlg");
	make_file("a.tlg");
	make_file(".tlg");
	make_file("c.tlg.lz4");
	make_file("ctlg");
	assert_int_equal(mkdir("d.tlg", 0700), 0);
	assert_int_equal(mkfifo("e.tlg", 0600), 0);
	assert_int_equal(symlink("b.tlg", "f.tlg"), 0);
	assert_int_equal(symlink("nothing", "g.tlg"), 0);
	assert_int_equal(t2x_dir_list(&dir, "."), 0);
	assert_int_equal(dir.n, 4);
	assert_string_equal(dir.paths[0], "./a.1.tlg");
	assert_string_equal(dir.paths[1], "./a.tlg");
	assert_string_equal(dir.paths[2], "./b.tlg");
	assert_string_equal(dir.paths[3], "./f.tlg");
	assert_true(dir.is_directory);
	assert_false(dir.has_sentinel);
	t2x_dir_free(&dir);
}

static void test_dir_sentinel_is_the_last(void **state)
{
	struct t2x_dir dir;

	(void)state;
	make_file("git-trace2-discard");
	make_file("z.tlg");
	assert_int_equal(t2x_dir_list(&dir, "./"), 0);
	assert_int_equal(dir.n, 2);
	assert_string_equal(dir.paths[0], "./z.tlg");
	assert_string_equal(dir.paths[1], "./git-trace2-discard");
	assert_true(dir.has_sentinel);
	t2x_dir_free(&dir);
}

static void test_dir_of_many_files_gives_all_by_name(void **state)
{
	enum { FILES = 10007 };
	struct t2x_dir dir;
	char name[32];

	(void)state;
	/* the names come in no order */
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%05u.tlg", i * 7919 % FILES);
		make_file(name);
	}
	assert_int_equal(t2x_dir_list(&dir, "."), 0);
	assert_int_equal(dir.n, FILES);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "./%05u.tlg", i);
		assert_string_equal(dir.paths[i], name);
	}
	t2x_dir_free(&dir);
}

static void test_dir_anything_else_is_no_directory(void **state)
{
	struct t2x_dir dir;

	(void)state;
	make_file("a.tlg");
	assert_int_equal(t2x_dir_list(&dir, "a.tlg"), 0);
	assert_false(dir.is_directory);
	t2x_dir_free(&dir);
	assert_int_equal(t2x_dir_list(&dir, "nothing"), 0);
	assert_false(dir.is_directory);
	t2x_dir_free(&dir);
}

static void test_dir_that_cannot_be_read_fails(void **state)
{
	struct t2x_dir dir;

	(void)state;
	if (!geteuid())
		skip();
	assert_int_equal(mkdir("closed", 0), 0);
	assert_int_equal(t2x_dir_list(&dir, "closed"), -EACCES);
	assert_true(dir.is_directory);
	assert_int_equal(dir.n, 0);
	t2x_dir_free(&dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dir_regular_tlg_files_are_listed_by_name),
		TEST(test_dir_sentinel_is_the_last),
		TEST(test_dir_of_many_files_gives_all_by_name),
		TEST(test_dir_anything_else_is_no_directory),
		TEST(test_dir_that_cannot_be_read_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

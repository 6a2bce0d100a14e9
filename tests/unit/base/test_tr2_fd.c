/* SPDX-License-Identifier: MIT */
/* Descriptors: how a file begins, which a descriptor is open for writing, wherever its name leads by now. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tr2_fd.h"

static char g_dir[] = "/tmp/test_tr2_fd.XXXXXX", g_path[64], g_other[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(g_dir))
		return -1;
	snprintf(g_path, sizeof(g_path), "%s/file", g_dir);
	snprintf(g_other, sizeof(g_other), "%s/other", g_dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(g_path);
	unlink(g_other);
	return rmdir(g_dir);
}

/* A new file with this text, open for writing alone. */
static int write_file(const char *path, const char *text)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void expect_begin(int fd, const char *path, const char *expected)
{
	unsigned char begin[4];

	errno = ERANGE;
	assert_int_equal(tr2_fd_begin(fd, path, begin, sizeof(begin)), expected != NULL);
	assert_int_equal(errno, ERANGE);
	if (expected)
		assert_memory_equal(begin, expected, sizeof(begin));
}

static void test_fd_begin_is_read_by_name_or_without(void **state)
{
	int fd = write_file(g_path, "first file");

	(void)state;
	expect_begin(fd, g_path, "firs");
	expect_begin(fd, "", "firs");
	close(fd);
}

static void test_fd_begin_is_that_of_the_descriptor_not_of_the_name(void **state)
{
	int fd = write_file(g_path, "first file"), other;

	(void)state;
	unlink(g_path);
	expect_begin(fd, g_path, "firs");
	other = write_file(g_path, "second file");
	expect_begin(fd, g_path, "firs");
	expect_begin(other, g_path, "seco");
	close(other);
	close(fd);
}

static void test_fd_begin_of_a_fifo_under_the_name_does_not_wait(void **state)
{
	int fd = write_file(g_path, "first file");

	(void)state;
	unlink(g_path);
	assert_int_equal(mkfifo(g_path, 0600), 0);
	expect_begin(fd, g_path, "firs");
	close(fd);
}

static void test_fd_begin_of_what_has_less_is_none(void **state)
{
	int fd = write_file(g_path, "abc"), pipes[2];

	(void)state;
	expect_begin(fd, g_path, NULL);
	close(fd);
	expect_begin(fd, g_path, NULL);
	assert_int_equal(pipe(pipes), 0);
	expect_begin(pipes[0], g_path, NULL);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fd_begin_is_read_by_name_or_without),
		cmocka_unit_test(test_fd_begin_is_that_of_the_descriptor_not_of_the_name),
		cmocka_unit_test(test_fd_begin_of_a_fifo_under_the_name_does_not_wait),
		cmocka_unit_test(test_fd_begin_of_what_has_less_is_none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

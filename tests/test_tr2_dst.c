/* SPDX-License-Identifier: MIT */
/* Destinations by themselves: what a failed write leaves in a file. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tr2_dst.h"
#include "traced.h"

static const struct tr2_dst_rules rules = { 0, 0 };

/* Files of this process may grow up to so many bytes; no signal tells it. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static long size_of(const struct tr2_dst *dst)
{
	struct stat st;

	return fstat(dst->fd, &st) ? -1 : (long)st.st_size;
}

static void test_dst_failed_write_is_cut_back_in_a_file_of_its_own(void **state)
{
	struct tr2_dst dst;

	(void)state;
	assert_int_equal(tr2_dst_open(&dst, "V", t.dir, "own", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), 0);
	limit_files(15);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), -EFBIG);
	assert_int_equal(size_of(&dst), 10);
	limit_files(RLIM_INFINITY);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), 0);
	assert_int_equal(size_of(&dst), 20);
	tr2_dst_close(&dst);
}

static void test_dst_failed_write_leaves_what_a_forked_child_has_written(void **state)
{
	struct tr2_dst dst, child;

	(void)state;
	assert_int_equal(tr2_dst_open(&dst, "V", t.dir, "shared", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), 0);
	child = dst;
	assert_int_equal(tr2_dst_inherit(&child), 0);
	assert_int_equal(tr2_dst_write(&child, "child", 5), 0);
	limit_files(18);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), -EFBIG);
	assert_int_equal(tr2_dst_write(&child, "child", 5), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(size_of(&dst), 18);
	tr2_dst_close(&dst);
}

static void test_dst_failed_write_leaves_what_others_have_appended(void **state)
{
	struct tr2_dst dst;

	(void)state;
	assert_int_equal(tr2_dst_open(&dst, "V", traced_path("common"), "", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), 0);
	limit_files(15);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(size_of(&dst), 15);
	tr2_dst_close(&dst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_dst_failed_write_is_cut_back_in_a_file_of_its_own),
		TRACED_TEST(test_dst_failed_write_leaves_what_a_forked_child_has_written),
		TRACED_TEST(test_dst_failed_write_leaves_what_others_have_appended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

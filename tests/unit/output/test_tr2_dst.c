/* SPDX-License-Identifier: MIT */
/* Destinations by themselves: what a failed write leaves in a file, what others may have put where ours should be. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "traced.h"
#include "output/tr2_dst.h"

static const struct tr2_dst_rules rules = { .max_files = 0 };

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
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), 0);
	limit_files(15);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), -EFBIG);
	assert_int_equal(size_of(&dst), 10);
	limit_files(RLIM_INFINITY);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), 0);
	assert_int_equal(size_of(&dst), 20);
	tr2_dst_close(&dst);
}

static void test_dst_failed_write_leaves_what_a_forked_child_has_written(void **state)
{
	struct tr2_dst dst, child;

	(void)state;
	assert_int_equal(tr2_dst_open(&dst, "V", t.dir, "shared", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), 0);
	child = dst;
	assert_int_equal(tr2_dst_inherit(&child), 0);
	assert_int_equal(tr2_dst_write(&child, "child", 5, NULL), 0);
	limit_files(18);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), -EFBIG);
	assert_int_equal(tr2_dst_write(&child, "child", 5, NULL), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(size_of(&dst), 18);
	tr2_dst_close(&dst);
}

/* A file that is named is not its own, and has something in it; but it grows by nothing else. */
static void test_dst_failed_write_is_cut_back_in_a_named_file_that_grows_alone(void **state)
{
	struct tr2_dst before, dst;
	size_t stored = 99;

	(void)state;
	assert_int_equal(tr2_dst_open(&before, "V", traced_path("alone"), "", &rules), 0);
	assert_int_equal(tr2_dst_write(&before, "before", 6, NULL), 0);
	tr2_dst_close(&before);
	assert_int_equal(tr2_dst_open(&dst, "V", traced_path("alone"), "", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), 0);
	limit_files(20);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, &stored), -EFBIG);
		assert_int_equal(stored, 0);
		assert_int_equal(size_of(&dst), 16);
	}
	limit_files(RLIM_INFINITY);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), 0);
	assert_int_equal(size_of(&dst), 26);
	tr2_dst_close(&dst);
}

static void test_dst_failed_write_leaves_what_others_have_appended(void **state)
{
	struct tr2_dst dst, other;
	size_t stored = 99;

	(void)state;
	assert_int_equal(tr2_dst_open(&dst, "V", traced_path("common"), "", &rules), 0);
	assert_int_equal(tr2_dst_open(&other, "V", traced_path("common"), "", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, NULL), 0);
	assert_int_equal(tr2_dst_write(&other, "other", 5, NULL), 0);
	limit_files(18);
	assert_int_equal(tr2_dst_write(&dst, "0123456789", 10, &stored), -EFBIG);
	assert_int_equal(stored, 3);
	assert_int_equal(tr2_dst_write(&other, "other", 5, &stored), -EFBIG);
	assert_int_equal(stored, 0);
	limit_files(RLIM_INFINITY);
	assert_int_equal(size_of(&dst), 18);
	tr2_dst_close(&dst);
	tr2_dst_close(&other);
}

/* ---- peers ---------------------------------------------------------------------------------------- */

static unsigned polls;
static int races;          /* so often others are faster to take the room that there is */

int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);

int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms)
{
	polls++;
	return __real_tr2_sys_poll(fds, n, ms > 1 ? 1 : ms);
}

ssize_t __wrap_tr2_sys_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __real_tr2_sys_send(int fd, const void *data, size_t bytes, int flags);

ssize_t __wrap_tr2_sys_send(int fd, const void *data, size_t bytes, int flags)
{
	if (races > 0) {
		races--;
		errno = EAGAIN;
		return -1;
	}
	return __real_tr2_sys_send(fd, data, bytes, flags);
}

static void test_dst_fifo_that_nobody_empties_is_waited_for_once(void **state)
{
	static char text[1 << 18];
	struct tr2_dst dst;
	size_t stored;
	int reader;

	(void)state;
	assert_int_equal(mkfifo(traced_path("fifo"), 0600), 0);
	assert_int_equal(tr2_dst_open(&dst, "V", traced_path("fifo"), "", &rules), -1);
	reader = open(traced_path("fifo"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(tr2_dst_open(&dst, "V", traced_path("fifo"), "", &rules), 0);
	polls = 0;
	assert_int_equal(tr2_dst_write(&dst, text, sizeof(text), &stored), -EAGAIN);
	assert_true(polls > 0);
	assert_in_range(stored, 1, sizeof(text) - 1);
	polls = 0;
	assert_int_equal(tr2_dst_write(&dst, text, sizeof(text), &stored), -EAGAIN);
	assert_int_equal(polls, 0);
	assert_int_equal(stored, 0);
	while (read(reader, text, sizeof(text)) > 0)
		;
	assert_int_equal(tr2_dst_write(&dst, text, 100, &stored), 0);
	assert_int_equal(stored, 100);
	assert_int_equal(tr2_dst_write(&dst, text, sizeof(text), NULL), -EAGAIN);
	assert_true(polls > 0);
	tr2_dst_close(&dst);
	close(reader);
}

/* A socket of datagrams, and the destination that it is.  Return  the peer */
static int open_peer(struct tr2_dst *dst)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int peer = socket(AF_UNIX, SOCK_DGRAM, 0);
	char value[160];

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", traced_path("socket"));
	snprintf(value, sizeof(value), "af_unix:dgram:%s", address.sun_path);
	assert_int_equal(bind(peer, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(tr2_dst_open(dst, "V", value, "", &rules), 0);
	return peer;
}

static void test_dst_peer_that_reads_is_waited_for_though_others_are_faster(void **state)
{
	char text[8];
	struct tr2_dst dst;
	int peer = open_peer(&dst);

	(void)state;
	races = 200;
	assert_int_equal(tr2_dst_write(&dst, "line\n", 5, NULL), 0);
	assert_int_equal(races, 0);
	assert_int_equal(recv(peer, text, sizeof(text), MSG_DONTWAIT), 5);
	tr2_dst_close(&dst);
	close(peer);
}

static void test_dst_peer_that_stops_reading_is_waited_for_once(void **state)
{
	char text[8];
	struct tr2_dst dst;
	int peer = open_peer(&dst), n = 0;

	(void)state;
	polls = 0;
	while (!tr2_dst_write(&dst, "line\n", 5, NULL))
		n++;
	assert_in_range(polls, 10, 100);       /* of 50 ms each: about a second */
	assert_int_equal(tr2_dst_takes_now(&dst), 0);
	polls = 0;
	assert_int_equal(tr2_dst_write(&dst, "line\n", 5, NULL), -EAGAIN);
	assert_int_equal(polls, 0);
	while (n-- > 0)
		assert_int_equal(recv(peer, text, sizeof(text), MSG_DONTWAIT), 5);
	assert_int_equal(tr2_dst_takes_now(&dst), 1);
	assert_int_equal(tr2_dst_write(&dst, "line\n", 5, NULL), 0);
	tr2_dst_close(&dst);
	close(peer);
}

/* ---- descriptors of the program --------------------------------------------------------------------- */

static int open_file(const char *name)
{
	int fd = open(traced_path(name), O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0 && fd < 9);
	assert_int_equal(dup2(fd, 9), 9);
	close(fd);
	return 9;
}

static int is_replaced_at_write;       /* by another thread of the program, just now */

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __real_tr2_sys_write(int fd, const void *data, size_t bytes);

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes)
{
	if (is_replaced_at_write)
		open_file("own");
	is_replaced_at_write = 0;
	return __real_tr2_sys_write(fd, data, bytes);
}

static void test_dst_descriptor_of_a_file_replaced_amid_a_write_is_left_alone(void **state)
{
	struct tr2_dst dst;
	struct stat st;

	(void)state;
	open_file("given");
	assert_int_equal(tr2_dst_open(&dst, "V", "9", "", &rules), 0);
	is_replaced_at_write = 1;
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), 0);
	assert_int_equal(lseek(9, 0, SEEK_END), 0);
	assert_int_equal(stat(traced_path("given"), &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), -EBADF);
	tr2_dst_close(&dst);
	close(9);
}

static void test_dst_descriptor_of_a_pipe_ends_when_the_program_closes_it(void **state)
{
	struct tr2_dst dst;
	int ends[2];
	char text[8];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], 9), 9);
	close(ends[1]);
	assert_int_equal(tr2_dst_open(&dst, "V", "9", "", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), 0);
	close(9);
	assert_int_equal(read(ends[0], text, sizeof(text)), 5);
	assert_int_equal(read(ends[0], text, sizeof(text)), 0);
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), -EBADF);
	tr2_dst_close(&dst);
	close(ends[0]);
}

static void test_dst_descriptor_that_is_not_open_stays_off(void **state)
{
	struct tr2_dst dst;

	(void)state;
	close(9);   /* whatever the tests were started with */
	assert_int_equal(tr2_dst_open(&dst, "V", "9", "", &rules), -1);
	open_file("own");   /* later, under this number: the program's own */
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), -EBADF);
	assert_int_equal(lseek(9, 0, SEEK_END), 0);
	close(9);
}

static void test_dst_descriptor_that_is_another_file_now_is_left_alone(void **state)
{
	struct tr2_dst dst;

	(void)state;
	open_file("given");
	assert_int_equal(tr2_dst_open(&dst, "V", "9", "", &rules), 0);
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), 0);
	open_file("own");
	assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), -EBADF);
	assert_int_equal(lseek(9, 0, SEEK_END), 0);
	tr2_dst_close(&dst);
	assert_int_equal(fcntl(9, F_GETFD), 0);
	close(9);
}

/* ---- what is there already -------------------------------------------------------------------------- */

enum { PLANTS = 5 };
static const char *const plants[PLANTS] = { "fifo", "dangling link", "link", "hard link", "directory" };

static long size_of_path(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? -1 : (long)st.st_size;
}

/* Others have put this there; "precious" is what a link leads to. */
static void plant(int which, const char *path)
{
	int fd = open(traced_path("precious"), O_WRONLY | O_CREAT, 0600);

	close(fd);
	if (which == 0)
		assert_int_equal(mkfifo(path, 0666), 0);
	else if (which == 1)
		assert_int_equal(symlink(traced_path("made by us"), path), 0);
	else if (which == 2)
		assert_int_equal(symlink(traced_path("precious"), path), 0);
	else if (which == 3)
		assert_int_equal(link(traced_path("precious"), path), 0);
	else
		assert_int_equal(mkdir(path, 0777), 0);
}

static void assert_nothing_was_followed(int which)
{
	if (size_of_path(traced_path("precious")) || size_of_path(traced_path("made by us")) != -1)
		fail_msg("a planted %s was written through", plants[which]);
}

static void test_dst_planted_name_in_a_directory_is_not_ours(void **state)
{
	char directory[128], name[160], second[160];
	struct tr2_dst dst;

	(void)state;
	for (int i = 0; i < PLANTS; i++) {
		snprintf(directory, sizeof(directory), "%s/%d", t.dir, i);
		snprintf(name, sizeof(name), "%s/x.tlg", directory);
		snprintf(second, sizeof(second), "%s/x.1.tlg", directory);
		assert_int_equal(mkdir(directory, 0700), 0);
		plant(i, name);
		assert_int_equal(tr2_dst_open(&dst, "V", directory, "x.tlg", &rules), 0);
		assert_int_equal(tr2_dst_write(&dst, "trace", 5, NULL), 0);
		assert_int_equal(size_of_path(second), 5);
		assert_nothing_was_followed(i);
		tr2_dst_close(&dst);
	}
}

static void test_dst_planted_name_of_the_next_file_is_not_ours(void **state)
{
	char name[160];
	struct tr2_dst dst, next;

	(void)state;
	assert_int_equal(tr2_dst_open(&dst, "V", traced_path("x.tlg"), "", &rules), 0);
	for (int i = 0; i < PLANTS; i++) {
		snprintf(name, sizeof(name), "%s/x.%d.tlg", t.dir, i + 1);
		plant(i, name);
	}
	assert_int_equal(tr2_dst_open_next(&dst, &next), 0);
	assert_int_equal(next.rotation, PLANTS + 1);
	assert_int_equal(tr2_dst_write(&next, "trace", 5, NULL), 0);
	assert_nothing_was_followed(0);
	tr2_dst_close(&next);
	tr2_dst_close(&dst);
}

/* Whatever has the sentinel's name: the directory is full, and it is not written to. */
static void test_dst_planted_sentinel_is_not_ours(void **state)
{
	const struct tr2_dst_rules few = { .max_files = 3 };
	char directory[128], name[160];
	struct tr2_dst dst;

	(void)state;
	for (int i = 0; i < PLANTS; i++) {
		snprintf(directory, sizeof(directory), "%s/%d", t.dir, i);
		snprintf(name, sizeof(name), "%s/git-trace2-discard", directory);
		assert_int_equal(mkdir(directory, 0700), 0);
		plant(i, name);
		assert_int_equal(tr2_dst_open(&dst, "V", directory, "x.tlg", &few), -1);
		assert_nothing_was_followed(i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_dst_failed_write_is_cut_back_in_a_file_of_its_own),
		TRACED_TEST(test_dst_failed_write_is_cut_back_in_a_named_file_that_grows_alone),
		TRACED_TEST(test_dst_failed_write_leaves_what_a_forked_child_has_written),
		TRACED_TEST(test_dst_failed_write_leaves_what_others_have_appended),
		TRACED_TEST(test_dst_fifo_that_nobody_empties_is_waited_for_once),
		TRACED_TEST(test_dst_peer_that_reads_is_waited_for_though_others_are_faster),
		TRACED_TEST(test_dst_peer_that_stops_reading_is_waited_for_once),
		TRACED_TEST(test_dst_descriptor_of_a_file_replaced_amid_a_write_is_left_alone),
		TRACED_TEST(test_dst_descriptor_of_a_pipe_ends_when_the_program_closes_it),
		TRACED_TEST(test_dst_descriptor_that_is_not_open_stays_off),
		TRACED_TEST(test_dst_descriptor_that_is_another_file_now_is_left_alone),
		TRACED_TEST(test_dst_planted_name_in_a_directory_is_not_ours),
		TRACED_TEST(test_dst_planted_name_of_the_next_file_is_not_ours),
		TRACED_TEST(test_dst_planted_sentinel_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

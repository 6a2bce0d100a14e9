/* SPDX-License-Identifier: MIT */
/* Writes that take less than they were given, down to a byte; what was written before one failed is not lost. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expanding.h"
#include "trace2.h"
#include "traced.h"

enum { EVENTS = 3000, OURS_FROM = 7, BUSY_IN_A_ROW = 3 };

/* How writes to the library's descriptors go: in the programs under test. */
static struct {
	size_t most;              /* bytes that one takes; 0: all */
	int is_busy;              /* EAGAIN so often before each */
	long left;                /* bytes until the disk is full; -1: it never is */
	unsigned full_for;        /* then so many fail */
} rules = { .left = -1 };
static int busy;

/* What a write may take.  Return  0: it fails, and errno says why */
static size_t allow(int fd, size_t bytes)
{
	if (fd < OURS_FROM)
		return bytes;
	if (rules.is_busy && busy++ % (BUSY_IN_A_ROW + 1) < BUSY_IN_A_ROW) {
		errno = EAGAIN;
		return 0;
	}
	if (rules.most && bytes > rules.most)
		bytes = rules.most;
	if (rules.left > 0 && bytes > (size_t)rules.left)
		bytes = (size_t)rules.left;
	if (!rules.left && rules.full_for) {
		rules.full_for--;
		errno = ENOSPC;
		return 0;
	}
	if (rules.left > 0)
		rules.left -= (long)bytes;
	return bytes;
}

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __real_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_tr2_sys_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __real_tr2_sys_send(int fd, const void *data, size_t bytes, int flags);

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes)
{
	size_t n = allow(fd, bytes);

	return n || !bytes ? __real_tr2_sys_write(fd, data, n) : -1;
}

ssize_t __wrap_tr2_sys_send(int fd, const void *data, size_t bytes, int flags)
{
	size_t n = allow(fd, bytes);

	return n || !bytes ? __real_tr2_sys_send(fd, data, n, flags) : -1;
}

int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);

/* How long the reader of a socket takes to be scheduled is not what is tested. */
int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms)
{
	return __real_tr2_sys_poll(fds, n, ms < 10000 ? 10000 : ms);
}

/* ---- the program, and what it left ---------------------------------------------------------------- */

static int run_program(void *data)
{
	(void)data;
	trace2_initialize();
	for (int i = 0; i < EVENTS; i++)
		trace2_printf("event %d of %s", i, "many");
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

enum { EMITTED = EVENTS + 2 };   /* version and atexit */

static int drop_text(void *unused, const char *text, size_t n)
{
	(void)unused;
	(void)text;
	(void)n;
	return 0;
}

static struct expanding expand(const char *path)
{
	static unsigned char bytes[1 << 20];
	struct expanding result;
	struct t2x_out out;
	FILE *in = fopen(path, "r");
	size_t n;

	assert_non_null(in);
	n = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	assert_int_equal(t2x_out_init_fn(&out, drop_text, NULL), 0);
	result = expanding_run(bytes, n, NULL, &t2x_writer_normal, &out);
	t2x_out_free(&out);
	return result;
}

static void assert_whole(const char *path)
{
	struct expanding result = expand(path);

	assert_int_equal(result.damages, 0);
	assert_int_equal(result.summary.checkpoints, EMITTED);
	assert_int_equal(result.open_streams, 0);
}

/* A text has its lines, each whole. */
static void assert_lines(const char *path)
{
	char line[256], expected[64];
	FILE *in = fopen(path, "r");
	int n = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		snprintf(expected, sizeof(expected), "event %d of many\n", n - 1);
		if (n > 0 && n <= EVENTS)
			assert_non_null(strstr(line, expected));
		n++;
	}
	fclose(in);
	assert_int_equal(n, EMITTED);
}

/* ---- short writes --------------------------------------------------------------------------------- */

static void run(const char *const *settings)
{
	traced_run(&t, run_program, NULL, settings);
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), TRACED);
	assert_string_equal(t.said, "");
}

static void test_short_writes_to_files_lose_nothing(void **state)
{
	static const size_t most[] = { 1, 23, 4095 };
	char normal[192];

	(void)state;
	snprintf(normal, sizeof(normal), "TRACE2=%s", traced_path("normal"));
	for (int i = 0; i < 3; i++) {
		unlink(t.raw);
		unlink(traced_path("normal"));
		rules.most = most[i];
		run((const char *const[]){ normal, "TRACE2_RAW_LZ4=1", NULL });
		assert_whole(t.raw);
		assert_lines(traced_path("normal"));
	}
}

static int g_in = -1;

/* What the descriptor g_in gives until its end, into a file of t.dir, by a child. */
static pid_t collect_into(const char *name)
{
	pid_t pid = fork();

	if (!pid) {
		static char data[1 << 16];
		int in = g_in, out = open(traced_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ssize_t n;

		close(OURS_FROM);
		while ((n = read(in, data, sizeof(data))) > 0)
			if (__real_tr2_sys_write(out, data, (size_t)n) != n)
				_exit(1);
		_exit(0);
	}
	return pid;
}

static void wait_for(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void run_into_pipe(const char *variable)
{
	char setting[64];
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], OURS_FROM), OURS_FROM);
	close(ends[1]);
	g_in = ends[0];
	pid = collect_into("got");
	close(ends[0]);
	snprintf(setting, sizeof(setting), "%s=%d", variable, OURS_FROM);
	run((const char *const[]){ "TRACE2_RAW=0", setting, NULL });
	close(OURS_FROM);
	wait_for(pid);
}

static void test_short_writes_to_pipes_lose_nothing(void **state)
{
	(void)state;
	rules.most = 7;
	run_into_pipe("TRACE2_RAW");
	assert_whole(traced_path("got"));
	run_into_pipe("TRACE2");
	assert_lines(traced_path("got"));
}

static void run_into_socket(const char *variable)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	char setting[192];
	pid_t pid;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", traced_path("socket"));
	unlink(address.sun_path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	pid = fork();
	if (!pid) {
		g_in = accept(listener, NULL, NULL);
		close(listener);
		pid = collect_into("got");
		_exit(waitpid(pid, NULL, 0) != pid);
	}
	close(listener);
	snprintf(setting, sizeof(setting), "%s=af_unix:stream:%s", variable, address.sun_path);
	run((const char *const[]){ "TRACE2_RAW=0", setting, NULL });
	wait_for(pid);
}

static void test_short_sends_lose_nothing(void **state)
{
	(void)state;
	rules.most = 997;
	run_into_socket("TRACE2_RAW");
	assert_whole(traced_path("got"));
	run_into_socket("TRACE2");
	assert_lines(traced_path("got"));
}

/* A peer that takes a little, again and again, is waited for longer than one that takes nothing. */
static void test_short_sends_to_a_busy_peer_lose_nothing(void **state)
{
	(void)state;
	rules.most = 300;
	rules.is_busy = 1;
	run_into_socket("TRACE2_RAW");
	assert_whole(traced_path("got"));
	run_into_socket("TRACE2");
	assert_lines(traced_path("got"));
}

/* ---- writes that fail behind a part ----------------------------------------------------------------- */

/* A file that others may append to is not cut back: what is whole of a write that failed counts as stored. */
static void test_short_write_that_then_fails_loses_only_what_is_missing(void **state)
{
	static const char *const encodings[] = { "TRACE2_RAW_ENCODING=plain", "TRACE2_RAW_ENCODING=packed" };
	struct expanding result;
	uint64_t lost, reached = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		unlink(t.raw);
		rules.left = 2000 + i * 3001;
		rules.full_for = 5;
		run((const char *const[]){ encodings[i % 2], NULL });
		result = expand(t.raw);
		lost = result.summary.dropped[TLG_LOSS_WRITE];
		assert_true(lost > 0);
		assert_int_equal(result.summary.checkpoints + lost, EMITTED);
		reached += result.summary.checkpoints;
	}
	assert_true(reached > 12 * 2);   /* some of it was in the parts */
}

/* The same with frames, of which nothing can be read when they are cut off. */
static void test_short_frame_that_then_fails_is_lost(void **state)
{
	struct expanding result;

	(void)state;
	for (int i = 0; i < 6; i++) {
		unlink(t.raw);
		rules.left = 2000 + i * 1501;
		rules.full_for = 5;
		run((const char *const[]){ "TRACE2_RAW_LZ4=1", NULL });
		result = expand(t.raw);
		assert_int_equal(result.summary.checkpoints + result.summary.dropped[TLG_LOSS_WRITE], EMITTED);
	}
}

static int setup(void **state)
{
	memset(&rules, 0, sizeof(rules));
	rules.left = -1;
	return traced_setup(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, traced_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_short_writes_to_files_lose_nothing),
		TEST(test_short_writes_to_pipes_lose_nothing),
		TEST(test_short_sends_lose_nothing),
		TEST(test_short_sends_to_a_busy_peer_lose_nothing),
		TEST(test_short_write_that_then_fails_loses_only_what_is_missing),
		TEST(test_short_frame_that_then_fails_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

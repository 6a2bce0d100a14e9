/* SPDX-License-Identifier: MIT */
/* Where a recording goes: every destination; and that no bad setting disturbs the program. */
#include "t2test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

/* A small program with an exit status of its own, which says whether it was traced. */
static int run_program(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "program", NULL);
	trace2_region_leave("test", "program", NULL);
	trace2_cmd_exit(trace2_is_enabled() ? 42 : 43);
	return trace2_is_enabled() ? 42 : 43;
}

enum { PROGRAM_HITS = 5 };

static void read_back(const char *path, size_t hits)
{
	raw_free(&file);
	assert_int_equal(raw_read(path, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits, hits);
}

/* Run with a setting of TRACE2_RAW; the program must end by itself, with this status. */
static void run_with(const char *raw, int expected, const char *debug)
{
	char setting[256];

	snprintf(setting, sizeof(setting), "TRACE2_RAW=%s", raw);
	traced_run(&t, run_program, NULL, (const char *const[]){ setting, debug, NULL });
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), expected);
}

/* ---- destinations ------------------------------------------------------------------------------- */

static void test_target_off_values_leave_tracing_off(void **state)
{
	static const char *const values[] = { "", "0", "false", "FALSE" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		run_with(values[i], UNTRACED, "TRACE2_DST_DEBUG=1");
		assert_string_equal(t.said, "");
	}
}

static void test_target_unknown_value_is_off_and_says_why_on_request(void **state)
{
	(void)state;
	run_with("relative/path", UNTRACED, NULL);
	assert_string_equal(t.said, "");
	run_with("relative/path", UNTRACED, "TRACE2_DST_DEBUG=1");
	assert_string_equal(t.said, "warning: trace2: could not open 'relative/path' for 'TRACE2_RAW' tracing: "
				    "must be an absolute path\n");
	run_with("10", UNTRACED, "TRACE2_DST_DEBUG=1");
	assert_string_equal(t.said, "warning: trace2: could not open '10' for 'TRACE2_RAW' tracing: "
				    "must be an absolute path\n");
}

/* What a function writes to a terminal, which takes it unless it is stopped. */
static void on_terminal(int (*program)(void *), void *data, int is_stopped, char *said, size_t size)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status, slave;
	struct pollfd input = { .fd = master, .events = POLLIN };
	ssize_t n;
	pid_t child;

	assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(is_stopped ? tcflow(slave, TCOOFF) : 0, 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(300);
		unsetenv("GIT_TRACE2_PARENT_SID");
		dup2(slave, STDERR_FILENO);
		_exit(program(data));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	for (*said = '\0'; size > 1 && poll(&input, 1, 0) > 0; said += n, size -= (size_t)n) {
		n = read(master, said, size - 1);
		if (n <= 0)
			break;
		said[n] = '\0';
	}
	close(slave);
	close(master);
}

/* With children of each kind: one that is forked, and one that is executed. */
static int run_family(void *data)
{
	int status;
	pid_t child;

	setenv("TRACE2_RAW", data, 1);
	trace2_initialize();
	trace2_region_enter("category", "label", NULL);
	child = fork();
	if (!child) {
		trace2_region_leave("category", "label", NULL);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	child = fork();
	if (!child) {
		execl("/proc/self/exe", "test_runtime_target", "child", (char *)NULL);
		_exit(1);
	}
	return waitpid(child, &status, 0) != child || status;
}

static void test_target_that_is_unusable_is_reported_once_on_a_terminal(void **state)
{
	static const struct { char value[32], said[128]; } rows[] = {
		{ "relative", "could not open 'relative' for 'TRACE2_RAW' tracing: must be an absolute path\r\n" },
		{ "/nonexistent/a.tlg",
		  "could not open '/nonexistent/a.tlg' for 'TRACE2_RAW' tracing: No such file or directory\r\n" },
		{ "af_unix:x", "invalid AF_UNIX path 'x' for 'TRACE2_RAW' tracing\r\n" },
		{ "0", "" },
	};
	char said[1024], expected[160], value[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(value, rows[i].value);
		snprintf(expected, sizeof(expected), "%s%s", *rows[i].said ? "warning: trace2: " : "", rows[i].said);
		on_terminal(run_family, value, 0, said, sizeof(said));
		assert_string_equal(said, expected);
		on_terminal(run_family, value, 1, said, sizeof(said));
		assert_string_equal(said, "");
	}
}

static void test_target_missing_directory_is_off_and_says_why_on_request(void **state)
{
	(void)state;
	run_with("/nonexistent/dir/raw.tlg", UNTRACED, NULL);
	assert_string_equal(t.said, "");
	run_with("/nonexistent/dir/raw.tlg", UNTRACED, "TRACE2_DST_DEBUG=1");
	assert_string_equal(t.said, "warning: trace2: could not open '/nonexistent/dir/raw.tlg' for "
				    "'TRACE2_RAW' tracing: No such file or directory\n");
}

static void test_target_unwritable_path_is_off_and_says_why_on_request(void **state)
{
	(void)state;
	run_with("/dev/null/raw.tlg", UNTRACED, "TRACE2_DST_DEBUG=1");
	assert_int_equal(traced_count("\n"), 1);
	assert_non_null(strstr(t.said, "could not open '/dev/null/raw.tlg'"));
}

static void test_target_debug_true_is_not_a_number_and_stays_silent(void **state)
{
	(void)state;
	run_with("/nonexistent/raw.tlg", UNTRACED, "TRACE2_DST_DEBUG=true");   /* git's rule: atoi > 0 */
	assert_string_equal(t.said, "");
}

static void test_target_debug_of_another_process_stays_silent(void **state)
{
	char debug[60];

	(void)state;
	snprintf(debug, sizeof(debug), "TRACE2_DST_DEBUG=1:%ld", (long)getpid());   /* it runs in a child of this one */
	run_with("/nonexistent/raw.tlg", UNTRACED, debug);
	assert_string_equal(t.said, "");
	run_with("/nonexistent/raw.tlg", UNTRACED, "TRACE2_DST_DEBUG=1:x");
	assert_int_equal(traced_count("\n"), 1);
}

static void test_target_file_is_appended_to_as_a_new_stream(void **state)
{
	(void)state;
	run_with(t.raw, TRACED, NULL);
	run_with(t.raw, TRACED, NULL);
	read_back(t.raw, 2 * PROGRAM_HITS);
	assert_int_equal(file.streams, 2);
	assert_int_equal(file.ends, 2);
}

/* And the other way round: tests/cli/check_decode.sh */
static void test_target_file_that_is_not_compressed_stays_so(void **state)
{
	(void)state;
	run_with(t.raw, TRACED, "TRACE2_RAW_LZ4=0");
	run_with(t.raw, TRACED, "TRACE2_RAW_LZ4=1");
	read_back(t.raw, 2 * PROGRAM_HITS);
	assert_int_equal(file.streams, 2);
}

/* The only entry of a directory whose name ends so; "" if there is none or more than one. */
static void find_one(const char *directory, const char *suffix, char *path, size_t size)
{
	DIR *dir = opendir(directory);
	size_t found = 0, tail = strlen(suffix);

	path[0] = '\0';
	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);
		if (n < tail || strcmp(e->d_name + n - tail, suffix))
			continue;
		snprintf(path, size, "%s/%s", directory, e->d_name);
		found++;
	}
	closedir(dir);
	if (found != 1)
		path[0] = '\0';
}

static void test_target_directory_gets_one_file_named_after_the_sid(void **state)
{
	char path[512], pid[16];

	(void)state;
	unlink(t.raw);
	run_with(t.dir, TRACED, NULL);
	find_one(t.dir, ".tlg", path, sizeof(path));
	assert_true(path[0]);
	read_back(path, PROGRAM_HITS);
	snprintf(pid, sizeof(pid), "-P%08x.tlg", file.events[2].u.procinfo.pid);
	assert_non_null(strstr(path, pid));
	assert_int_equal(strlen(strrchr(path, '/') + 1), 43 + 4);
}

static void test_target_descriptor_is_written_as_it_is(void **state)
{
	int fd = open(t.raw, O_WRONLY | O_CREAT, 0600);

	(void)state;
	assert_int_equal(dup2(fd, 7), 7);
	run_with("7", TRACED, NULL);
	close(7);
	close(fd);
	read_back(t.raw, PROGRAM_HITS);
}

/* Bytes that a listener of this type gets, into t.raw. */
static void run_socket(int type, const char *prefix)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, type, 0), out = open(t.raw, O_WRONLY | O_CREAT | O_TRUNC, 0600), in = listener;
	static char data[1 << 20];
	char value[256];
	ssize_t n;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", t.dir);
	unlink(address.sun_path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(listener, 1), 0);
	snprintf(value, sizeof(value), "%s%s", prefix, address.sun_path);
	run_with(value, TRACED, NULL);
	if (type == SOCK_STREAM)
		in = accept(listener, NULL, NULL);
	while ((n = recv(in, data, sizeof(data), MSG_DONTWAIT)) > 0)
		assert_int_equal(write(out, data, (size_t)n), n);
	if (in != listener)
		close(in);
	close(listener);
	close(out);
	read_back(t.raw, PROGRAM_HITS);
}

static void test_target_sockets_get_everything(void **state)
{
	(void)state;
	run_socket(SOCK_STREAM, "af_unix:stream:");
	run_socket(SOCK_STREAM, "af_unix:");
	run_socket(SOCK_DGRAM, "af_unix:dgram:");
	run_socket(SOCK_DGRAM, "af_unix:");   /* stream is tried first, the peer says it is the wrong type */
}

static void test_target_absent_socket_is_off_and_says_why_on_request(void **state)
{
	(void)state;
	run_with("af_unix:/nonexistent/socket", UNTRACED, "TRACE2_DST_DEBUG=1");
	assert_int_equal(traced_count("\n"), 1);
	assert_non_null(strstr(t.said, "could not connect to socket '/nonexistent/socket' for 'TRACE2_RAW' tracing"));
	run_with("af_unix:relative", UNTRACED, "TRACE2_DST_DEBUG=1");
	assert_string_equal(t.said, "warning: trace2: invalid AF_UNIX path 'relative' for 'TRACE2_RAW' tracing\n");
}

/* ---- disks -------------------------------------------------------------------------------------- */

static void test_target_full_disk_does_not_disturb_the_program(void **state)
{
	(void)state;
	run_with("/dev/full", TRACED, NULL);
	assert_string_equal(t.said, "");
	run_with("/dev/full", TRACED, "TRACE2_DST_DEBUG=1");
	assert_string_equal(t.said, "warning: unable to write trace to 'TRACE2_RAW': "
				    "No space left on device\n");
}

static int run_under_size_limit(void *data)
{
	const struct rlimit limit = { 1 << 30, 1 << 30 };

	(void)data;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	trace2_initialize();
	if (!trace2_is_enabled())
		return 2;
	/* from here on the .tlg file may not grow: the kernel would end the program with SIGXFSZ */
	if (setrlimit(RLIMIT_FSIZE, &(const struct rlimit){ 100, 1 << 30 }))
		return 3;
	for (int i = 0; i < 100000; i++)
		trace2_data_intmax("test", NULL, "i", i);
	trace2_flush();
	return 0;
}

static void test_target_file_size_limit_does_not_kill_the_program(void **state)
{
	(void)state;
	traced_run(&t, run_under_size_limit, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_string_equal(t.said, "");
}

enum { LIMITED_HITS = 20000 };

static int run_under_file_limit(void *data)
{
	const rlim_t *limit = data;

	if (setrlimit(RLIMIT_FSIZE, &(const struct rlimit){ *limit, RLIM_INFINITY }))
		return 1;
	trace2_initialize();
	for (int i = 0; i < LIMITED_HITS; i++)
		trace2_data_intmax("test", NULL, "i", i);
	return 0;
}

/* Checkpoints in the file, and those that it counts as lost. */
static uint64_t account(void)
{
	uint64_t hits = 0, lost[TLG_LOSS_REASONS] = { 0 };

	for (size_t i = 0; i < file.count; i++) {
		const struct tlg_event *event = &file.events[i];
		if (tlg_event_type(event) == TLG_LOSS && event->u.loss.reason < TLG_LOSS_REASONS)
			lost[event->u.loss.reason] = event->u.loss.count;
		hits += tlg_event_type(event) == TLG_HIT;
	}
	for (unsigned i = 0; i < TLG_LOSS_REASONS; i++)
		hits += lost[i];
	return hits;
}

/* Rings are no files then, so only the trace can say it: there has to be room for its end. */
static void test_target_file_size_limit_costs_events_and_each_is_counted(void **state)
{
	/* a write may just fit, and leave less than the end takes: at which limits depends on the times, so at many */
	static rlim_t limits[120];

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		limits[i] = 1024 + 211 * i;
		unlink(t.raw);
		traced_run(&t, run_under_file_limit, &limits[i], NULL);
		assert_int_equal(t.status, 0);
		raw_free(&file);
		assert_int_equal(raw_read(t.raw, &file), 0);
		/* start and atexit are events, too, if they are recorded */
		assert_in_range(account(), LIMITED_HITS, LIMITED_HITS + 2);
		assert_int_equal(tlg_event_type(&file.events[file.count - 1]), TLG_END);
	}
}

/* A signal that waits does not let another one through. */
static int run_closed_pipe(void *data)
{
	sigset_t set;
	int ends[2];

	(void)data;
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	if (pipe(ends) || dup2(ends[1], 9) < 0 || sigprocmask(SIG_BLOCK, &set, NULL) || raise(SIGXFSZ))
		return 1;
	trace2_initialize();
	close(ends[0]);
	trace2_region_enter("test", "into the void", NULL);
	trace2_flush();
	return sigpending(&set) || !sigismember(&set, SIGXFSZ) || sigismember(&set, SIGPIPE);
}

static void test_target_that_nobody_reads_any_more_raises_no_signal(void **state)
{
	(void)state;
	traced_run(&t, run_closed_pipe, NULL, (const char *const[]){ "TRACE2_RAW=9", NULL });
	assert_int_equal(t.status, 0);
}

/* What run_family() executes. */
static int run_executed(void)
{
	trace2_initialize();
	return trace2_is_enabled();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_target_off_values_leave_tracing_off),
		TRACED_TEST(test_target_unknown_value_is_off_and_says_why_on_request),
		TRACED_TEST(test_target_that_is_unusable_is_reported_once_on_a_terminal),
		TRACED_TEST(test_target_missing_directory_is_off_and_says_why_on_request),
		TRACED_TEST(test_target_unwritable_path_is_off_and_says_why_on_request),
		TRACED_TEST(test_target_debug_true_is_not_a_number_and_stays_silent),
		TRACED_TEST(test_target_debug_of_another_process_stays_silent),
		TRACED_TEST(test_target_file_is_appended_to_as_a_new_stream),
		TRACED_TEST(test_target_file_that_is_not_compressed_stays_so),
		TRACED_TEST(test_target_directory_gets_one_file_named_after_the_sid),
		TRACED_TEST(test_target_descriptor_is_written_as_it_is),
		TRACED_TEST(test_target_sockets_get_everything),
		TRACED_TEST(test_target_absent_socket_is_off_and_says_why_on_request),
		TRACED_TEST(test_target_full_disk_does_not_disturb_the_program),
		TRACED_TEST(test_target_file_size_limit_does_not_kill_the_program),
		TRACED_TEST(test_target_file_size_limit_costs_events_and_each_is_counted),
		TRACED_TEST(test_target_that_nobody_reads_any_more_raises_no_signal),
	};

	if (argc > 1 && !strcmp(argv[1], "child"))
		return run_executed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

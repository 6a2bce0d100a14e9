/* SPDX-License-Identifier: MIT */
/* Several processes that write to one file, one pipe, one socket at the same time. */
#include "t2test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

enum { PROCESSES = 4, ROUNDS = 5000 };

int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);

/* A reader that gets no processor for a second is not what is tested: it is waited for longer. */
int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms)
{
	return __real_tr2_sys_poll(fds, n, 50 * ms);
}

static void be_one_of_many(int number)
{
	trace2_initialize();
	for (int i = 0; i < ROUNDS; i++) {
		trace2_region_enter("together", "of many", NULL);
		trace2_printf("process %d, round %d.", number, i);
		trace2_region_leave("together", "of many", NULL);
		if (i % 1000 == 0)
			trace2_flush();
	}
	exit(0);
}

/* Processes that trace at the same time, each from its own beginning on. */
static int run_many(void *data)
{
	int failed = 0, status;

	(void)data;
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return 1;
		if (!pid)
			be_one_of_many(i);
	}
	for (int i = 0; i < PROCESSES; i++)
		failed |= wait(&status) < 0 || status;
	return failed;
}

/* Each line of a perf text is whole, and each round of each process is there once. */
static void check_lines(FILE *in)
{
	static char line[4096];
	static unsigned char seen[PROCESSES][ROUNDS];
	unsigned lines = 0, rounds = 0;
	int process, round;

	memset(seen, 0, sizeof(seen));
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		const char *message = strstr(line, "process ");

		lines++;
		assert_int_equal(strncmp(line, "d0 | main ", 10), 0);
		assert_int_equal(line[strlen(line) - 1], '\n');
		if (!message || !strstr(line, "| printf "))
			continue;
		assert_int_equal(sscanf(message, "process %d, round %d.\n", &process, &round), 2);
		assert_in_range(process, 0, PROCESSES - 1);
		assert_in_range(round, 0, ROUNDS - 1);
		rounds += !seen[process][round]++;
	}
	fclose(in);
	assert_int_equal(rounds, PROCESSES * ROUNDS);
	assert_int_equal(lines, PROCESSES * (3 * ROUNDS + 2));
}

/* Reads datagrams into the file "got" until the test ends it. */
static pid_t start_reader(int in)
{
	static char data[1 << 16];
	pid_t pid = fork();
	int out;
	ssize_t n;

	if (pid)
		return pid;
	out = open(traced_path("got"), O_WRONLY | O_CREAT, 0600);
	while ((n = recv(in, data, sizeof(data), 0)) > 0)
		if (write(out, data, (size_t)n) != n)
			break;
	_exit(0);
}

/* Whoever finds the queue of the reader full waits, and most of them are too late the next time as well. */
static void test_together_datagrams_to_one_reader_all_arrive(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int in = socket(AF_UNIX, SOCK_DGRAM, 0);
	char perf[192];
	pid_t reader;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", traced_path("socket"));
	snprintf(perf, sizeof(perf), "TRACE2_PERF=af_unix:dgram:%s", address.sun_path);
	assert_int_equal(bind(in, (struct sockaddr *)&address, sizeof(address)), 0);
	reader = start_reader(in);
	traced_run(&t, run_many, NULL, (const char *const[]){ "TRACE2_RAW=0", perf, "TRACE2_PERF_BRIEF=1", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(shutdown(in, SHUT_RDWR), 0);   /* what is in the queue is still read */
	assert_int_equal(waitpid(reader, NULL, 0), reader);
	close(in);
	check_lines(fopen(traced_path("got"), "r"));
}

/* ---- long lines in one file ------------------------------------------------------------------------- */

enum { LONG = 300000, LONG_ROUNDS = 10 };

static void record_long_lines(void)
{
	char *text = malloc(LONG + 1);

	memset(text, 'x', LONG);
	text[LONG] = '\0';
	trace2_initialize();
	for (int i = 0; i < LONG_ROUNDS; i++) {
		trace2_data_string("together", NULL, "long", text);
		trace2_data_string("together", NULL, "short", "x");
		trace2_flush();
	}
	free(text);
	exit(0);
}

static int run_long(void *data)
{
	int failed = 0, status;

	(void)data;
	for (int i = 0; i < PROCESSES; i++)
		if (!fork())
			record_long_lines();
	for (int i = 0; i < PROCESSES; i++)
		failed |= wait(&status) < 0 || status;
	return failed;
}

/* No line has another one within it. */
static void test_together_in_one_file_long_lines_are_whole(void **state)
{
	char perf[192], *line = NULL;
	unsigned longs = 0, shorts = 0;
	size_t size = 0;
	FILE *in;

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_long, NULL, (const char *const[]){ "TRACE2_RAW=0", perf, "TRACE2_PERF_BRIEF=1", NULL });
	assert_int_equal(t.status, 0);
	in = fopen(traced_path("perf"), "r");
	assert_non_null(in);
	while (getline(&line, &size, in) > 0) {
		const char *value = strstr(line, "long:x");
		assert_int_equal(strncmp(line, "d0 | main ", 10), 0);
		shorts += strstr(line, "short:x\n") != NULL;
		longs += value && strspn(strchr(value, ':') + 1, "x") > 65536 && strchr(value, '\n') > value + 65536;
	}
	free(line);
	fclose(in);
	assert_int_equal(longs, PROCESSES * LONG_ROUNDS);
	assert_int_equal(shorts, PROCESSES * LONG_ROUNDS);
}

static void test_together_in_one_file_no_process_disturbs_another(void **state)
{
	const char *out = getenv("T2_OUT");
	char perf[192], command[512];

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_many, NULL, (const char *const[]){ perf, "TRACE2_PERF_BRIEF=1", "TRACE2_RAW_LZ4=1", NULL });
	assert_int_equal(t.status, 0);
	check_lines(fopen(traced_path("perf"), "r"));
	snprintf(command, sizeof(command), "'%s/t2expand' --brief -o '%s' '%s' 2>'%s'", out ? out : "build",
		 traced_path("expanded"), t.raw, traced_path("notes"));
	assert_int_equal(system(command), 0);
	check_lines(fopen(traced_path("expanded"), "r"));
}

static void test_together_on_one_pipe_lines_are_whole(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	if (!fork()) {
		static char data[1 << 16];
		int out = open(traced_path("perf"), O_WRONLY | O_CREAT, 0600);
		ssize_t n;

		close(ends[1]);
		while ((n = read(ends[0], data, sizeof(data))) > 0)
			if (write(out, data, (size_t)n) != n)
				_exit(1);
		_exit(0);
	}
	assert_int_equal(dup2(ends[1], 7), 7);
	close(ends[0]);
	close(ends[1]);
	traced_run(&t, run_many, NULL, (const char *const[]){ "TRACE2_PERF=7", "TRACE2_PERF_BRIEF=1", NULL });
	close(7);
	assert_int_equal(t.status, 0);
	assert_true(wait(NULL) > 0);
	check_lines(fopen(traced_path("perf"), "r"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_together_datagrams_to_one_reader_all_arrive),
		TRACED_TEST(test_together_in_one_file_long_lines_are_whole),
		TRACED_TEST(test_together_in_one_file_no_process_disturbs_another),
		TRACED_TEST(test_together_on_one_pipe_lines_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

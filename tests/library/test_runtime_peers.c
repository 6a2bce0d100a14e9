/* SPDX-License-Identifier: MIT */
/* Who else is at a destination: peers of sockets that are there, pause, are gone or absent. */
#include "t2test.h"

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

static const struct target {
	const char *variable, *format;
} targets[] = {
	{ "TRACE2_RAW", NULL }, { "TRACE2", "normal" }, { "TRACE2_PERF", "perf" }, { "TRACE2_EVENT", "event" },
};
enum { RAW, TARGETS = 4 };

/* ---- sockets ---------------------------------------------------------------------------------------- */

static const struct form {
	int type;
	const char *prefix;
} forms[] = {
	{ SOCK_STREAM, "af_unix:stream:" }, { SOCK_STREAM, "af_unix:" },
	{ SOCK_DGRAM, "af_unix:dgram:" }, { SOCK_DGRAM, "af_unix:" },
};
enum { FORMS = 4 };

int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms);

/* Who takes nothing is waited for a tenth of the time. */
int __wrap_tr2_sys_poll(struct pollfd *fds, nfds_t n, int ms)
{
	return __real_tr2_sys_poll(fds, n, (ms + 9) / 10);
}

/* The socket of the test, which its program inherits. */
static int g_listener = -1;

static void open_listener(int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", traced_path("socket"));
	unlink(address.sun_path);
	g_listener = socket(AF_UNIX, type, 0);
	assert_int_equal(bind(g_listener, (struct sockaddr *)&address, sizeof(address)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(g_listener, 4), 0);
}

/* "VARIABLE=af_unix:...", for one target; overwritten by the next call. */
static const char *to_socket(const struct target *target, const struct form *form)
{
	static char setting[256];

	snprintf(setting, sizeof(setting), "%s=%s%s", target->variable, form->prefix, traced_path("socket"));
	return setting;
}

/* What the peer gets, into the file "got" of t.dir. */
static void take_all(int type)
{
	static char data[1 << 17];
	int in = type == SOCK_STREAM ? accept(g_listener, NULL, NULL) : g_listener;
	FILE *out = fopen(traced_path("got"), "w");
	ssize_t n;

	assert_non_null(out);
	while ((n = recv(in, data, sizeof(data), MSG_DONTWAIT)) > 0)
		fwrite(data, 1, (size_t)n, out);
	fclose(out);
	if (in != g_listener)
		close(in);
	close(g_listener);
}

static int run_short(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_region_enter("peers", "short", NULL);
	trace2_printf("hello %s", "there");
	trace2_region_leave("peers", "short", NULL);
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

/* 1 if what t2expand makes of the trace is what the file "got" has. */
static int got_text(const char *format)
{
	const char *out = getenv("T2_OUT");
	char command[1024];

	snprintf(command, sizeof(command), "'%s/t2expand' --format=%s '%s' | cmp -s - '%s'", out ? out : "build",
		 format, t.raw, traced_path("got"));
	return !system(command);
}

static void test_peers_of_every_form_receive_every_target(void **state)
{
	(void)state;
	for (int i = 0; i < TARGETS * FORMS; i++) {
		const struct target *target = &targets[i / FORMS];
		const struct form *form = &forms[i % FORMS];

		unlink(t.raw);
		open_listener(form->type);
		traced_run(&t, run_short, NULL, (const char *const[]){ to_socket(target, form), NULL });
		assert_int_equal(WEXITSTATUS(t.status), TRACED);
		take_all(form->type);
		if (target->format) {
			assert_true(got_text(target->format));
			continue;
		}
		assert_int_equal(raw_read(traced_path("got"), &file), 0);
		assert_int_equal(file.bad_blocks, 0);
		assert_int_equal(file.hits, 5);
		raw_free(&file);
	}
}

/* Far more than fits into a socket, in which nobody reads, or with data: nobody is left. */
static int run_without_reader(void *data)
{
	char text[121] = "";

	memset(text, 'x', sizeof(text) - 1);
	trace2_initialize();
	if (data) {
		int peer = accept(g_listener, NULL, NULL);   /* fails for datagrams, which have no peer to close */
		shutdown(peer < 0 ? g_listener : peer, SHUT_RDWR);
	}
	for (int i = 0; i < 3000; i++)
		trace2_printf("%s", text);
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

/* The program ends as always, all other targets are complete; why the one is not is said on request. */
static void check_unread(void *is_gone, const char *reason)
{
	char perf[192], expected[128];

	/* a stream and datagrams: how they were found does not matter */
	for (int i = 0; i < TARGETS * FORMS; i += 2) {
		const struct target *target = &targets[i / FORMS];
		const struct form *form = &forms[i % FORMS];
		const char *other = target->format && !strcmp(target->format, "perf") ? "TRACE2" : "TRACE2_PERF";
		const char *format = !strcmp(other, "TRACE2") ? "normal" : "perf";

		unlink(t.raw);
		open_listener(form->type);
		snprintf(perf, sizeof(perf), "%s=%s", other, traced_path("got"));
		unlink(traced_path("got"));
		traced_run(&t, run_without_reader, is_gone, (const char *const[]){
			to_socket(target, form), perf, "TRACE2_DST_DEBUG=1", NULL });
		close(g_listener);
		assert_true(WIFEXITED(t.status));
		assert_int_equal(WEXITSTATUS(t.status), TRACED);
		snprintf(expected, sizeof(expected), "warning: unable to write trace to '%s': %s\n", target->variable,
			 reason);
		assert_int_equal(traced_count(expected), 1);
		/* while the drain waits, a ring may become full */
		assert_int_equal(traced_count("warning: "), 1 + traced_count("checkpoints are lost: ring full\n"));
		if (target->format)
			assert_true(got_text(format));
	}
}

static void test_peers_that_do_not_read_delay_nothing(void **state)
{
	(void)state;
	check_unread(NULL, "Resource temporarily unavailable");
}

static void test_peers_that_disconnect_do_not_end_the_program(void **state)
{
	(void)state;
	check_unread((void *)1, "Broken pipe");
}

/* ---- peers that read ------------------------------------------------------------------------------ */

struct pause {
	_Atomic int is_over, is_end;
	_Atomic unsigned empty;           /* how often the peer has found nothing more */
};
enum { NOTES = 3000, WAIT_MS = 60000 };

/* A process that writes into the file "got" what comes, from when it may, until nobody is left who sends. */
static pid_t start_reader(int type, struct pause *pause)
{
	static char data[1 << 17];
	pid_t pid = fork();
	int in, n;
	FILE *out;

	if (pid)
		return pid;
	in = type == SOCK_STREAM ? accept(g_listener, NULL, NULL) : g_listener;
	out = fopen(traced_path("got"), "w");
	while (!pause->is_over)
		usleep(1000);
	for (;;) {
		int is_last = pause->is_end;
		while ((n = (int)recv(in, data, sizeof(data), MSG_DONTWAIT)) > 0)
			fwrite(data, 1, (size_t)n, out);
		if (is_last || !n)
			break;
		pause->empty++;
		usleep(100);
	}
	fclose(out);
	_exit(0);
}

/* Until the peer has taken all that has come so far, whenever it gets a processor.  Return  0: not within a minute */
static int await_reader(struct pause *pause)
{
	unsigned before = pause->empty;

	for (unsigned ms = 0; ms < WAIT_MS && pause->empty - before < 2; ms++)
		usleep(1000);
	return pause->empty - before >= 2;
}

/* The peer reads only after it is not waited for any longer, but then all. */
static int run_with_pausing_peer(void *data)
{
	struct pause *pause = data;
	char text[121] = "";

	memset(text, 'x', sizeof(text) - 1);
	trace2_initialize();
	for (int i = 0; i < NOTES; i++)
		trace2_printf("%s", text);
	trace2_flush();
	pause->is_over = 1;
	if (!await_reader(pause))
		return 1;
	for (int i = 0; i < 10; i++) {
		trace2_printf("it is there again");
		trace2_flush();
		if (!await_reader(pause))
			return 2;
	}
	return 0;
}

/* Every line that came is whole, and all are there or reported missing. */
static void check_lines_or_losses(void)
{
	static const char lost_lines[] = "| name:lost-write-error value:";
	static char line[4096];
	FILE *in = fopen(traced_path("got"), "r");
	unsigned notes = 0, lost = 0, again = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		const char *counter = strstr(line, lost_lines);
		assert_int_equal(strncmp(line, "d0 | main ", 10), 0);
		assert_int_equal(line[strlen(line) - 1], '\n');
		notes += strstr(line, "| xxxx") && strlen(line) > 120;
		again += strstr(line, "it is there again") != NULL;
		if (counter)
			lost = (unsigned)atoi(counter + strlen(lost_lines));
	}
	fclose(in);
	assert_true(lost > 0);
	assert_int_equal(notes + lost, NOTES);
	assert_int_equal(again, 10);
}

static void test_peers_that_pause_get_a_report_of_what_they_missed(void **state)
{
	struct pause *pause = traced_shared(sizeof(*pause));
	pid_t reader;

	(void)state;
	for (int i = 0; i < FORMS; i += 2) {
		memset(pause, 0, sizeof(*pause));
		open_listener(forms[i].type);
		reader = start_reader(forms[i].type, pause);
		traced_run(&t, run_with_pausing_peer, pause, (const char *const[]){
			"TRACE2_RAW=0", to_socket(&targets[2], &forms[i]), "TRACE2_PERF_BRIEF=1", NULL });
		pause->is_end = 1;
		assert_int_equal(t.status, 0);
		assert_int_equal(waitpid(reader, NULL, 0), reader);
		close(g_listener);
		check_lines_or_losses();
	}
}

static void test_peers_of_the_wrong_type_turn_every_target_off(void **state)
{
	(void)state;
	for (int i = 0; i < TARGETS * 2; i++) {
		const struct form *form = &forms[i % 2 ? 2 : 0];   /* the two that ask for a type */

		open_listener(form->type == SOCK_STREAM ? SOCK_DGRAM : SOCK_STREAM);
		traced_run(&t, run_short, NULL, (const char *const[]){
			"TRACE2_RAW=0", to_socket(&targets[i / 2], form), "TRACE2_DST_DEBUG=1", NULL });
		close(g_listener);
		assert_int_equal(WEXITSTATUS(t.status), UNTRACED);
		assert_int_equal(traced_count("tracing: Protocol wrong type for socket\n"), 1);
	}
}

static void test_peers_that_are_absent_turn_every_target_off(void **state)
{
	char expected[256];

	(void)state;
	for (int i = 0; i < TARGETS * FORMS; i++) {
		const struct target *target = &targets[i / FORMS];

		traced_run(&t, run_short, NULL, (const char *const[]){
			"TRACE2_RAW=0", to_socket(target, &forms[i % FORMS]), "TRACE2_DST_DEBUG=1", NULL });
		assert_int_equal(WEXITSTATUS(t.status), UNTRACED);
		snprintf(expected, sizeof(expected), "warning: trace2: could not connect to socket '%s' for '%s' "
			 "tracing: No such file or directory\n", traced_path("socket"), target->variable);
		assert_string_equal(t.said, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_peers_of_every_form_receive_every_target),
		TRACED_TEST(test_peers_that_do_not_read_delay_nothing),
		TRACED_TEST(test_peers_that_disconnect_do_not_end_the_program),
		TRACED_TEST(test_peers_of_the_wrong_type_turn_every_target_off),
		TRACED_TEST(test_peers_that_are_absent_turn_every_target_off),
		TRACED_TEST(test_peers_that_pause_get_a_report_of_what_they_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

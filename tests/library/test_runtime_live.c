/* SPDX-License-Identifier: MIT */
/* Live text targets: complete at the end, the same bytes as the expanded raw file, everywhere they can go. */
#include "t2test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

static char normal[160], perf[160], event[160];

static int setup(void **state)
{
	traced_setup(state);
	snprintf(normal, sizeof(normal), "TRACE2=%s/normal", t.dir);
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s/event", t.dir);
	return 0;
}

static void *work(void *data)
{
	trace2_thread_start("live");
	for (long i = 0; i < (long)data; i++) {
		trace2_region_enter_printf("live", "round", NULL, "number %ld of %s", i, "many");
		trace2_data_intmax("live", NULL, "i", i);
		trace2_printf("note %d", (int)i);
		trace2_region_leave("live", "round", NULL);
		if (i % 100 == 0)
			usleep(100);
	}
	trace2_thread_exit();
	return NULL;
}

static int run_threads(void *data)
{
	const char *argv[] = { "live", "it's", NULL };
	pthread_t threads[3];

	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_cmd_name("live");
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, data);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	trace2_cmd_exit(0);
	return 0;
}

/* 1 if what t2expand makes of the raw file is what the program itself wrote. */
static int is_same(const char *format, const char *options)
{
	const char *out = getenv("T2_OUT");
	char command[512];

	snprintf(command, sizeof(command), "'%s/t2expand' --format=%s %s '%s' 2>/dev/null | cmp -s - '%s/%s'",
		 out ? out : "build", format, options, t.raw, t.dir, format);
	return !system(command);
}

/* Size of a file in the directory, -1 if there is none. */
static long size_of(const char *name)
{
	struct stat st;

	return stat(traced_path(name), &st) ? -1 : (long)st.st_size;
}

static void test_live_texts_equal_those_expanded_later(void **state)
{
	(void)state;
	traced_run(&t, run_threads, (void *)2000, (const char *const[]){ normal, perf, event, NULL });
	assert_int_equal(t.status, 0);
	assert_string_equal(t.said, "");
	assert_true(is_same("normal", ""));
	assert_true(is_same("perf", ""));
	assert_true(is_same("event", ""));
	assert_true(size_of("perf") > 3 * 2000 * 4 * 60);
}

static void test_live_brief_and_nesting_settings_take_effect(void **state)
{
	(void)state;
	traced_run(&t, run_threads, (void *)100, (const char *const[]){
		normal, perf, event, "TRACE2_BRIEF=1", "TRACE2_PERF_BRIEF=yes", "TRACE2_EVENT_BRIEF=true",
		"TRACE2_EVENT_NESTING=1", NULL });
	assert_int_equal(t.status, 0);
	assert_true(is_same("normal", "--brief"));
	assert_true(is_same("perf", "--brief"));
	assert_true(is_same("event", "--brief --nesting=1"));
}

static void test_live_needs_no_raw_target(void **state)
{
	(void)state;
	traced_run(&t, run_threads, (void *)100, (const char *const[]){ "TRACE2_RAW=0", perf, NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(size_of("raw.tlg"), -1);
	assert_true(size_of("perf") > 0);
}

static int run_short(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_printf("hello %s", "there");
	return 0;
}

static void test_live_stderr_is_complete_when_a_short_program_ends(void **state)
{
	(void)state;
	traced_run(&t, run_short, NULL, (const char *const[]){ "TRACE2_RAW=0", "TRACE2=1", "TRACE2_BRIEF=1", NULL });
	assert_int_equal(t.status, 0);
	assert_ptr_equal(strstr(t.said, "version " TRACE2_VERSION "\nhello there\natexit elapsed:"), t.said);
	assert_int_equal(t.said[strlen(t.said) - 1], '\n');
}

static void test_live_datagrams_carry_a_line_each(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_DGRAM, 0), lines = 0;
	char setting[256], data[4096];
	ssize_t n;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", t.dir);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	snprintf(setting, sizeof(setting), "TRACE2_EVENT=af_unix:dgram:%s", address.sun_path);
	traced_run(&t, run_short, NULL, (const char *const[]){ "TRACE2_RAW=0", setting, NULL });
	while ((n = recv(listener, data, sizeof(data) - 1, MSG_DONTWAIT)) > 0) {
		data[n] = '\0';
		assert_ptr_equal(strchr(data, '\n'), data + n - 1);
		lines++;
	}
	close(listener);
	assert_int_equal(lines, 3);
}

static void test_live_full_disk_does_not_disturb_the_program(void **state)
{
	(void)state;
	traced_run(&t, run_threads, (void *)100, (const char *const[]){
		"TRACE2=/dev/full", "TRACE2_PERF=/dev/full", "TRACE2_EVENT=/dev/full", NULL });
	assert_int_equal(t.status, 0);
	assert_string_equal(t.said, "");
}

static void test_live_full_disk_is_reported_once_for_each_target(void **state)
{
	(void)state;
	traced_run(&t, run_threads, (void *)100, (const char *const[]){
		"TRACE2=/dev/full", perf, "TRACE2_EVENT=/dev/full", "TRACE2_DST_DEBUG=1", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(traced_count("\n"), 2);   /* whichever fails first */
	assert_int_equal(traced_count("warning: unable to write trace to 'TRACE2': No space left on device"), 1);
	assert_int_equal(traced_count("warning: unable to write trace to 'TRACE2_EVENT': No space left"), 1);
	assert_true(is_same("perf", ""));
}

/* The raw file has nothing; the text has all, and so no dropped events to report. */
static void test_live_text_is_complete_though_the_raw_file_is_not(void **state)
{
	char command[256];

	(void)state;
	traced_run(&t, run_threads, (void *)100, (const char *const[]){ "TRACE2_RAW=/dev/full", perf, NULL });
	assert_int_equal(t.status, 0);
	snprintf(command, sizeof(command), "! grep -q 'lost-' '%s/perf' && test $(grep -c '| region_leave ' "
		 "'%s/perf') = 300", t.dir, t.dir);
	assert_int_equal(system(command), 0);
}

static int run_exec(void *data)
{
	const char *argv[] = { "true", NULL };

	trace2_initialize();
	trace2_cmd_start(argv);
	if (data) {
		trace2_printf("the last thing before _exit");
		trace2_flush();
		_exit(0);
	}
	trace2_exec("true", argv);
	execvp("true", (char *const *)argv);
	return 1;
}

/* Texts are in order of time over all threads, and so hold back what is very young; not here. */
static void test_live_texts_are_complete_after_a_flush_and_before_an_exec(void **state)
{
	(void)state;
	for (int is_exit = 0; is_exit < 2; is_exit++) {
		for (int i = 0; i < 10; i++) {
			unlink(t.raw);
			unlink(traced_path("perf"));
			traced_run(&t, run_exec, is_exit ? &t : NULL, (const char *const[]){ perf, NULL });
			assert_int_equal(t.status, 0);
			assert_int_equal(raw_read(t.raw, &file), 0);
			assert_int_equal(file.hits, 3);
			raw_free(&file);
			assert_true(is_same("perf", ""));
		}
	}
}

/* More than a ring holds, faster than it is drained; then something that must not be lost. */
static int run_flood(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		trace2_region_enter("live", "flood", NULL);
		trace2_region_leave("live", "flood", NULL);
	}
	trace2_flush();
	trace2_printf("the end");
	return 0;
}

/* The value of the counter of dropped events that ends a text, 0 if there is none. */
static unsigned long read_counter(const char *name, const char *before)
{
	char line[512] = "";
	FILE *in = fopen(traced_path(name), "r");
	const char *at = NULL;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		at = strstr(line, before);
	fclose(in);
	return at ? strtoul(at + strlen(before), NULL, 10) : 0;
}

static void test_live_dropped_events_are_counted_at_the_end_of_each_text(void **state)
{
	(void)state;
	traced_run(&t, run_flood, (void *)300000, (const char *const[]){
		normal, perf, event, "TRACE2_RAW_RING=64k", NULL });
	assert_int_equal(t.status, 0);
	assert_string_equal(t.said, "");
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_true(file.lost > 0);
	assert_int_equal(file.hits + file.lost, 2 * 300000 + 3);
	assert_int_equal(read_counter("normal", " counter trace2/lost-ring-full value:"), file.lost);
	assert_int_equal(read_counter("perf", "| trace2       | name:lost-ring-full value:"), file.lost);
	assert_int_equal(read_counter("event", "\"category\":\"trace2\",\"name\":\"lost-ring-full\",\"count\":"),
			 file.lost);
	assert_true(is_same("normal", ""));
	assert_true(is_same("perf", ""));
	assert_true(is_same("event", ""));
}

static void test_live_dropped_events_are_reported_at_once_on_request(void **state)
{
	(void)state;
	traced_run(&t, run_flood, (void *)300000, (const char *const[]){
		perf, "TRACE2_RAW_RING=128k", "TRACE2_DST_DEBUG=1", NULL });
	assert_string_equal(t.said, "warning: trace2: checkpoints are lost: ring full\n");
	traced_run(&t, run_threads, (void *)10, (const char *const[]){ perf, "TRACE2_DST_DEBUG=1", NULL });
	assert_string_equal(t.said, "");
}

static int run_fork(void *data)
{
	int status;
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_printf("before");
	pid = fork();
	if (!pid) {
		trace2_printf("in the child");
		exit(0);
	}
	waitpid(pid, &status, 0);
	trace2_printf("in the parent");
	return status != 0;
}

static void test_live_fork_writes_every_line_once(void **state)
{
	char command[256];

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the child inherits the locks of the sanitizer's allocator, which glibc's would have in order */
#endif
	traced_run(&t, run_fork, NULL, (const char *const[]){ "TRACE2_BRIEF=1", normal, NULL });
	assert_int_equal(t.status, 0);
	snprintf(command, sizeof(command), "sort '%s/normal' | sed 's/elapsed:.*//' | tr '\\n' '|' | grep -qx "
		 "'atexit |atexit |before|in the child|in the parent|version " TRACE2_VERSION "|'", t.dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, traced_teardown)
		TEST(test_live_texts_equal_those_expanded_later),
		TEST(test_live_brief_and_nesting_settings_take_effect),
		TEST(test_live_needs_no_raw_target),
		TEST(test_live_stderr_is_complete_when_a_short_program_ends),
		TEST(test_live_datagrams_carry_a_line_each),
		TEST(test_live_full_disk_does_not_disturb_the_program),
		TEST(test_live_full_disk_is_reported_once_for_each_target),
		TEST(test_live_text_is_complete_though_the_raw_file_is_not),
		TEST(test_live_texts_are_complete_after_a_flush_and_before_an_exec),
		TEST(test_live_dropped_events_are_counted_at_the_end_of_each_text),
		TEST(test_live_dropped_events_are_reported_at_once_on_request),
		TEST(test_live_fork_writes_every_line_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

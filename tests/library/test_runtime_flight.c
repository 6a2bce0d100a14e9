/* SPDX-License-Identifier: MIT */
/* The flight recorder: nothing is written before a snapshot; each holds the latest, its context, nothing twice. */
#include "t2test.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flood.h"
#include "rawread.h"
#include "trace2.h"
#include "traced.h"

enum { FLOOD = 100000 };
#define SETTINGS(setting) (const char *const[]){ "TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_RING=256k", setting, NULL }

static off_t size_of_file(void)
{
	struct stat st;

	return stat(t.raw, &st) ? 0 : st.st_size;
}

/* The drain's thread has been asked: it writes when it comes to it. */
static void wait_for_file(off_t larger_than)
{
	const struct timespec pause = { 0, 1000000 };

	while (size_of_file() <= larger_than)
		nanosleep(&pause, NULL);
}

static void record(int (*program)(void *), void *data, const char *const *settings)
{
	traced_run(&t, program, data, settings);
	assert_int_equal(t.status, 0);
	assert_string_equal(t.said, "");
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits, file.end_stored);
}

/* Of the values 0..n-1 each is there once, or not; those that are there end with the last.  Return  how many */
static size_t assert_latest(size_t n, size_t end)
{
	unsigned char *seen = calloc(n, 1);
	size_t first = end;

	assert_int_equal(raw_tally(&file, TLG_STYLE_data_intmax, "i", seen, n), 0);
	while (first && seen[first - 1])
		first--;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(seen[i], i >= first && i < end);
	free(seen);
	return end - first;
}

/* ---- what is written, and when ------------------------------------------------------------------- */

static int run_flood(void *data)
{
	trace2_initialize();
	flood(0, (long)data);
	trace2_flush();
	return size_of_file() != 0;
}

static void test_flight_nothing_is_written_without_a_snapshot(void **state)
{
	(void)state;
	record(run_flood, (void *)(long)FLOOD, SETTINGS(NULL));
	assert_int_equal(file.hits, 0);
	assert_int_equal(raw_lost(&file, 0, TLG_LOSS_OVERWRITTEN), FLOOD + 2);
	assert_int_equal(file.lost, FLOOD + 2);
	assert_int_equal(file.ends, 1);
}

static int run_snapshot(void *data)
{
	trace2_initialize();
	flood(0, (long)data);
	trace2_snapshot("now");
	return size_of_file() == 0;
}

static void test_flight_snapshot_has_the_latest_events(void **state)
{
	char reason[64] = "";

	(void)state;
	record(run_snapshot, (void *)(long)FLOOD, SETTINGS(NULL));
	assert_true(assert_latest(FLOOD, FLOOD) > 2 * 2728 / 2);
	assert_int_equal(raw_text(&file, TLG_STYLE_snapshot, reason, sizeof(reason)), 3);
	assert_string_equal(reason, "now");
	assert_int_equal(raw_stored(&file, 0) + raw_lost(&file, 0, TLG_LOSS_OVERWRITTEN), FLOOD + 3);
	assert_int_equal(file.lost, raw_lost(&file, 0, TLG_LOSS_OVERWRITTEN));
	assert_int_equal(file.gaps, 2 * (FLOOD - assert_latest(FLOOD, FLOOD)));
	assert_int_equal(raw_count(&file, TLG_STYLE_version, NULL), 1);   /* which is kept */
}

static int run_few(void *data)
{
	trace2_initialize();
	flood(0, (long)data);
	trace2_snapshot("now");
	trace2_snapshot("and again");
	flood((long)data, 2 * (long)data);
	trace2_snapshot("at last");
	return 0;
}

static void test_flight_snapshots_repeat_no_event_and_are_cycles(void **state)
{
	(void)state;
	record(run_few, (void *)1000, SETTINGS(NULL));
	assert_int_equal(assert_latest(2000, 2000), 2000);
	assert_int_equal(raw_count(&file, TLG_STYLE_snapshot, NULL), 3);
	assert_int_equal(file.cycles, 3);
	assert_int_equal(file.gaps, 0);
	assert_int_equal(file.lost, 1);   /* atexit, which nobody asked for */
}

static int run_long(void *data)
{
	trace2_initialize();
	for (long n = 0; n < (long)data; n++) {
		flood(n * 7919, (n + 1) * 7919);
		trace2_snapshot("in between");
	}
	return 0;
}

static void test_flight_snapshots_in_a_row_lose_nothing_that_fits(void **state)
{
	(void)state;
	record(run_long, (void *)10, SETTINGS("TRACE2_RAW_RING=1m"));
	assert_int_equal(assert_latest(79190, 79190), 79190);
	assert_int_equal(file.cycles, 10);
}

static int run_threads(void *data)
{
	pthread_t threads[4];

	trace2_initialize();
	flood_begin(threads, 4, (long)data);
	for (int i = 0; i < 10; i++)
		trace2_snapshot("amid");
	flood_join(threads, 4);
	trace2_snapshot("behind");
	return 0;
}

/* Threads that write while snapshots are taken; each is right to the last checkpoint. */
static void test_flight_accounts_for_every_event_of_each_thread(void **state)
{
	(void)state;
	record(run_threads, (void *)(long)FLOOD, SETTINGS(NULL));
	for (uint64_t tid = 0; tid <= 4; tid++) {
		size_t emitted = tid ? FLOOD + 2 : 1 + 11 + 1;
		uint64_t lost = raw_lost(&file, tid, TLG_LOSS_OVERWRITTEN) + raw_lost(&file, tid, TLG_LOSS_FULL);
		assert_int_equal(raw_stored(&file, tid) + lost, emitted);
	}
	assert_int_equal(file.hits + file.lost, 4 * (FLOOD + 2) + 13);
}

/* ---- context ------------------------------------------------------------------------------------- */

static int run_regions(void *data)
{
	trace2_initialize();
	trace2_region_enter("test", "outer", NULL);
	trace2_region_enter("test", "inner", NULL);
	for (long i = 0; i < (long)data; i++) {
		trace2_region_enter("test", "brief", NULL);
		trace2_region_leave("test", "brief", NULL);
	}
	trace2_snapshot("within two");
	trace2_region_leave("test", "inner", NULL);
	flood(0, (long)data);
	trace2_snapshot("within one");
	return 0;
}

/* The OPEN events of a cycle, counted from 1. */
static size_t count_open(size_t cycle)
{
	size_t n = 0, seen = 0;

	for (size_t i = 0; i < file.count; i++) {
		seen += tlg_event_type(&file.events[i]) == TLG_CYCLE;
		n += seen == cycle && tlg_event_type(&file.events[i]) == TLG_OPEN;
	}
	return n;
}

static void test_flight_snapshot_lists_the_open_regions(void **state)
{
	(void)state;
	record(run_regions, (void *)(long)FLOOD, SETTINGS(NULL));
	assert_int_equal(file.cycles, 2);
	assert_in_range(count_open(1), 2, 3);   /* it may begin within a brief one */
	assert_in_range(count_open(2), 1, 2);   /* the enter or the leave of inner may be in it */
	/* nobody has hit their checkpoints, but a reader wants to name them */
	for (size_t i = 0; i < file.count; i++) {
		char label[64];
		if (tlg_event_type(&file.events[i]) != TLG_OPEN)
			continue;
		assert_true(raw_label(&file, i, label, sizeof(label)) > 0);
		assert_true(!strcmp(label, "outer") || !strcmp(label, "inner") || !strcmp(label, "brief"));
	}
}

static int run_idle(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "outer", NULL);
	trace2_snapshot("first");
	trace2_snapshot("second");
	return 0;
}

static void test_flight_region_of_an_earlier_snapshot_is_still_open(void **state)
{
	(void)state;
	record(run_idle, NULL, SETTINGS(NULL));
	assert_int_equal(count_open(1), 0);   /* its enter is there */
	assert_int_equal(count_open(2), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "outer"), 1);
}

static int run_fork(void *data)
{
	int status;
	pid_t pid;

	trace2_initialize();
	trace2_region_enter("test", "outer", NULL);
	flood(0, (long)data);
	trace2_region_enter("test", "inner", NULL);
	pid = fork();
	if (!pid) {
		flood(0, 10);
		trace2_snapshot("child");
		exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static void test_flight_forked_child_keeps_its_open_regions(void **state)
{
	(void)state;
	traced_run(&t, run_fork, (void *)(long)FLOOD, SETTINGS(NULL));
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.streams, 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), 10);
	assert_int_equal(count_open(1), 2);
}

/* ---- what asks ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t handled;

static void own_handler(int signo)
{
	handled = signo;
}

static int run_signal(void *data)
{
	struct sigaction action = { .sa_handler = own_handler };

	if (data)
		sigaction(SIGUSR1, &action, NULL);
	alarm(300);   /* should the handlers call each other for ever */
	trace2_initialize();
	flood(0, FLOOD);
	raise(SIGUSR1);
	wait_for_file(0);
	return handled != (data ? SIGUSR1 : 0);
}

static void test_flight_signal_takes_a_snapshot_and_does_not_end_the_program(void **state)
{
	char reason[64] = "";

	(void)state;
	record(run_signal, NULL, SETTINGS("TRACE2_RAW_SNAPSHOT=error,USR1"));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
	raw_text(&file, TLG_STYLE_snapshot, reason, sizeof(reason));
	assert_string_equal(reason, "SIGUSR1");
}

static void test_flight_signal_keeps_the_programs_own_handler(void **state)
{
	(void)state;
	record(run_signal, (void *)1, SETTINGS("TRACE2_RAW_SNAPSHOT=SIGUSR1"));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
}

static void test_flight_signal_named_twice_takes_one_snapshot(void **state)
{
	(void)state;
	record(run_signal, (void *)1, SETTINGS("TRACE2_RAW_SNAPSHOT=USR1,SIGUSR1 10"));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
	assert_int_equal(raw_count(&file, TLG_STYLE_snapshot, NULL), 1);
}

static void ask_in_handler(int signo)
{
	(void)signo;
	trace2_snapshot("handler");
}

static int run_call_in_handler(void *data)
{
	struct sigaction action = { .sa_handler = ask_in_handler };

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	flood(0, FLOOD);
	raise(SIGUSR1);
	wait_for_file(0);
	return 0;
}

static void test_flight_snapshot_from_a_handler_is_left_to_the_drain(void **state)
{
	(void)state;
	record(run_call_in_handler, NULL, SETTINGS(NULL));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
	assert_int_equal(file.cycles, 1);
}

static int run_fatal(void *data)
{
	signal((int)(long)data, SIG_DFL);   /* the test's framework may have a handler */
	trace2_initialize();
	flood(0, FLOOD);
	raise((int)(long)data);
	return 0;
}

/* The program was ended by it, and what led to it is there. */
static void assert_fault_is_recorded(void)
{
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), SIGSEGV);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_snapshot, NULL), 1);
}

static void test_flight_fatal_signal_writes_what_led_to_it(void **state)
{
	(void)state;
	traced_run(&t, run_fatal, (void *)SIGSEGV, SETTINGS("TRACE2_SIGNALS=SEGV,ABRT"));
	assert_fault_is_recorded();
	assert_int_equal(file.hits + file.lost, FLOOD + 3);
}

static int run_fault(void *data)
{
	volatile int *volatile nowhere = NULL;

	signal(SIGSEGV, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	alarm(300);   /* should it come again and again */
	trace2_initialize();
	flood(0, FLOOD);
	*nowhere = 1;
	return data != NULL;
}

static void test_flight_fault_takes_a_snapshot_and_ends_the_program(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the sanitizer has a handler */
#endif
	traced_run(&t, run_fault, NULL, SETTINGS("TRACE2_RAW_SNAPSHOT=SEGV"));
	assert_fault_is_recorded();
}

static void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void report(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_cmd_error_va(format, ap);
	va_end(ap);
}

static int run_error(void *data)
{
	trace2_initialize();
	flood(0, FLOOD);
	report("no such %s", "thing");
	if (data)
		wait_for_file(0);
	return 0;
}

static void test_flight_error_takes_a_snapshot_if_set(void **state)
{
	char reason[64] = "";

	(void)state;
	record(run_error, (void *)1, SETTINGS("TRACE2_RAW_SNAPSHOT=error"));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
	assert_int_equal(raw_count(&file, TLG_STYLE_error, NULL), 1);
	raw_text(&file, TLG_STYLE_snapshot, reason, sizeof(reason));
	assert_string_equal(reason, "error");
	raw_free(&file);
	unlink(t.raw);
	record(run_error, NULL, SETTINGS(NULL));
	assert_int_equal(file.hits, 0);
}

/* A program that dies of its error does not wait for the drain. */
static void test_flight_error_just_before_the_end_is_written(void **state)
{
	(void)state;
	record(run_error, NULL, SETTINGS("TRACE2_RAW_SNAPSHOT=error"));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
}

static void test_flight_exit_takes_a_snapshot_if_set(void **state)
{
	(void)state;
	record(run_flood, (void *)(long)FLOOD, SETTINGS("TRACE2_RAW_SNAPSHOT=exit"));
	assert_true(assert_latest(FLOOD, FLOOD) > 2728);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 1);
	assert_int_equal(file.hits + file.lost, FLOOD + 3);
}

static void test_flight_snapshot_under_another_policy_is_a_flush(void **state)
{
	(void)state;
	record(run_snapshot, (void *)1000, NULL);
	assert_int_equal(assert_latest(1000, 1000), 1000);
	assert_int_equal(raw_count(&file, TLG_STYLE_snapshot, NULL), 1);
	assert_int_equal(file.lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_flight_nothing_is_written_without_a_snapshot),
		TRACED_TEST(test_flight_snapshot_has_the_latest_events),
		TRACED_TEST(test_flight_snapshots_repeat_no_event_and_are_cycles),
		TRACED_TEST(test_flight_snapshots_in_a_row_lose_nothing_that_fits),
		TRACED_TEST(test_flight_accounts_for_every_event_of_each_thread),
		TRACED_TEST(test_flight_snapshot_lists_the_open_regions),
		TRACED_TEST(test_flight_region_of_an_earlier_snapshot_is_still_open),
		TRACED_TEST(test_flight_forked_child_keeps_its_open_regions),
		TRACED_TEST(test_flight_signal_takes_a_snapshot_and_does_not_end_the_program),
		TRACED_TEST(test_flight_signal_named_twice_takes_one_snapshot),
		TRACED_TEST(test_flight_fault_takes_a_snapshot_and_ends_the_program),
		TRACED_TEST(test_flight_signal_keeps_the_programs_own_handler),
		TRACED_TEST(test_flight_snapshot_from_a_handler_is_left_to_the_drain),
		TRACED_TEST(test_flight_fatal_signal_writes_what_led_to_it),
		TRACED_TEST(test_flight_error_takes_a_snapshot_if_set),
		TRACED_TEST(test_flight_error_just_before_the_end_is_written),
		TRACED_TEST(test_flight_exit_takes_a_snapshot_if_set),
		TRACED_TEST(test_flight_snapshot_under_another_policy_is_a_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Forked children that record while signals are blocked, as those of servers do: their consumer thread starts as soon
 * as a call finds signals open, and what they have recorded gets into the file even if none does.
 */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "drain/tr2_wake.h"

enum { FEW = 5, MANY = 30000, LOOKS = 2000 };

static int is_refused;            /* the program may have no more threads */

typedef void *thread_fn(void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data)
{
	return is_refused ? EAGAIN : __real_pthread_create(thread, attributes, fn, data);
}

static const char *const settings[] = { "TRACE2_RAW_FLUSH=10ms", NULL };

static void pause_ms(long ms)
{
	const struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
}

/* So many checkpoints of this name are in the file, or will be soon.  It waits 10 s, and records nothing. */
static int is_written(const char *label, size_t n)
{
	struct raw_file now;
	size_t found = 0;

	for (int i = 0; found < n && i < LOOKS; i++) {
		pause_ms(5);
		if (raw_read(t.raw, &now))
			continue;
		found = raw_count(&now, TLG_STYLE_data_intmax, label);
		raw_free(&now);
	}
	return found >= n;
}

static void ignore(int signo)
{
	(void)signo;
}

/* All signals, one of which has a handler: the library's of SIGPIPE is one, too. */
static void block(sigset_t *before)
{
	sigset_t all;

	signal(SIGHUP, ignore);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

/* Run body in a child that was forked with signals blocked; before is what was blocked before.  Return  1: it failed */
static int in_blocked_child(int (*body)(const sigset_t *before))
{
	sigset_t before;
	pid_t pid;
	int failed;

	block(&before);
	pid = fork();
	if (!pid)
		_exit(body(&before));
	failed = wait_for(pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return failed;
}

static void assert_passes(int (*program)(void *), void *data)
{
	traced_run(&t, program, data, settings);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.lost, 0);
	assert_int_equal(file.gaps, 0);
}

/* ---- the thread starts -------------------------------------------------------------------------------- */

/* The second checkpoint is recorded with signals open, and nothing behind it. */
static int record_then_open(const sigset_t *before)
{
	trace2_data_intmax("test", NULL, "blocked", 1);
	if (tr2_wake_is_running())
		return 1;
	sigprocmask(SIG_SETMASK, before, NULL);
	trace2_data_intmax("test", NULL, "open", 1);
	return !tr2_wake_is_running() || !is_written("open", 1);
}

static int run_opens(void *data)
{
	(void)data;
	trace2_initialize();
	return in_blocked_child(record_then_open);
}

static void test_blocked_child_has_its_thread_with_the_first_call_that_finds_signals_open(void **state)
{
	(void)state;
	assert_passes(run_opens, NULL);
}

/* So many that there is no look for each of them. */
static int record_many_then_open(const sigset_t *before)
{
	int was_running;

	for (int i = 0; i < MANY; i++)
		trace2_data_intmax("test", NULL, "many", i);
	was_running = tr2_wake_is_running();
	sigprocmask(SIG_SETMASK, before, NULL);
	pause_ms(20);
	trace2_data_intmax("test", NULL, "open", 1);
	return was_running || !tr2_wake_is_running() || !is_written("open", 1);
}

static int run_many(void *data)
{
	(void)data;
	trace2_initialize();
	return in_blocked_child(record_many_then_open);
}

static void test_blocked_child_that_records_much_has_all_of_it_once(void **state)
{
	(void)state;
	assert_passes(run_many, NULL);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "many", MANY), 0);
}

static int open_then_flush(const sigset_t *before)
{
	trace2_data_intmax("test", NULL, "blocked", 1);
	sigprocmask(SIG_SETMASK, before, NULL);
	trace2_flush();
	return !tr2_wake_is_running();
}

static int run_flushes(void *data)
{
	(void)data;
	trace2_initialize();
	return in_blocked_child(open_then_flush);
}

static void test_blocked_child_has_its_thread_with_a_flush_that_finds_signals_open(void **state)
{
	(void)state;
	assert_passes(run_flushes, NULL);
}

static void *fork_in_thread(void *failed)
{
	trace2_thread_start("forks");
	*(int *)failed = in_blocked_child(record_then_open);
	trace2_thread_exit();
	return NULL;
}

static int run_thread_forks(void *data)
{
	pthread_t thread;
	int failed = 0;

	(void)data;
	trace2_initialize();
	if (pthread_create(&thread, NULL, fork_in_thread, &failed))
		return 1;
	return pthread_join(thread, NULL) || failed;
}

static void test_blocked_child_of_a_thread_has_its_thread_too(void **state)
{
	(void)state;
	assert_passes(run_thread_forks, NULL);
}

/* Its own signals were never opened: the child's child opens them. */
static int fork_again(const sigset_t *before)
{
	pid_t pid;

	trace2_data_intmax("test", NULL, "between", 1);
	pid = fork();
	if (!pid)
		_exit(record_then_open(before));
	return wait_for(pid) || tr2_wake_is_running();
}

static int run_nested(void *data)
{
	(void)data;
	trace2_initialize();
	return in_blocked_child(fork_again);
}

static void test_blocked_child_of_a_blocked_child_has_its_thread_too(void **state)
{
	(void)state;
	assert_passes(run_nested, NULL);
}

/* ---- the thread cannot start --------------------------------------------------------------------------- */

/* What was recorded before is in the file soon after a later call, without a thread. */
static int record_without_thread(void)
{
	for (int i = 0; i < FEW; i++) {
		trace2_data_intmax("test", NULL, "few", i);
		pause_ms(30);
	}
	trace2_data_intmax("test", NULL, "last", 1);
	return tr2_wake_is_running() || !is_written("few", FEW);
}

static int record_blocked(const sigset_t *before)
{
	(void)before;
	return record_without_thread();
}

static int run_never_opens(void *data)
{
	(void)data;
	trace2_initialize();
	return in_blocked_child(record_blocked);
}

static void test_blocked_child_that_never_opens_signals_writes_with_its_next_call(void **state)
{
	(void)state;
	assert_passes(run_never_opens, NULL);
}

static int run_refused(void *data)
{
	(void)data;
	is_refused = 1;
	trace2_initialize();
	return record_without_thread();
}

static void test_process_that_may_have_no_thread_writes_with_its_next_call(void **state)
{
	(void)state;
	assert_passes(run_refused, NULL);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "few", FEW), 0);
}

/* ---- handlers while it is missing ----------------------------------------------------------------------- */

static volatile int handled;

static void record_in_handler(int signo)
{
	(void)signo;
	if (handled < MANY)
		trace2_data_intmax("test", NULL, "handled", handled++);
}

/* Another signal stays blocked, so that the thread is missing; handlers come in the midst of reservations. */
static int record_beside_handler(const sigset_t *before)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	sigset_t alarm;

	(void)before;
	signal(SIGALRM, record_in_handler);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 10 * MANY; i++)
		trace2_data_intmax("test", NULL, "interrupted", i);
	setitimer(ITIMER_REAL, &never, NULL);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	trace2_data_intmax("test", NULL, "handlers", handled);
	trace2_flush();
	return !handled || tr2_wake_is_running();
}

static int run_handlers(void *data)
{
	(void)data;
	trace2_initialize();
	return in_blocked_child(record_beside_handler);
}

static void test_blocked_child_that_handlers_interrupt_has_each_event_once(void **state)
{
	(void)state;
	traced_run(&t, run_handlers, NULL, settings);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "interrupted", 10 * MANY), 0);
	assert_true(raw_count(&file, TLG_STYLE_data_intmax, "handled") > 0);
#ifndef TRACE2_HAS_TSAN_   /* which runs handlers later than the kernel would, also where the library blocks signals */
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "handled",
				      raw_count(&file, TLG_STYLE_data_intmax, "handled")), 0);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_blocked_child_has_its_thread_with_the_first_call_that_finds_signals_open),
		TRACED_TEST(test_blocked_child_that_records_much_has_all_of_it_once),
		TRACED_TEST(test_blocked_child_has_its_thread_with_a_flush_that_finds_signals_open),
		TRACED_TEST(test_blocked_child_of_a_thread_has_its_thread_too),
		TRACED_TEST(test_blocked_child_of_a_blocked_child_has_its_thread_too),
		TRACED_TEST(test_blocked_child_that_never_opens_signals_writes_with_its_next_call),
		TRACED_TEST(test_process_that_may_have_no_thread_writes_with_its_next_call),
		TRACED_TEST(test_blocked_child_that_handlers_interrupt_has_each_event_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

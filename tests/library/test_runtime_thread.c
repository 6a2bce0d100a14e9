/* SPDX-License-Identifier: MIT */
/* When the drain's thread starts, what is done without it, and how soon it writes. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

enum { MANY = 50000 };

static int is_refused;            /* the program may have no more threads */
static _Atomic unsigned asked;    /* for threads, so far */

typedef void *thread_fn(void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data)
{
	asked++;
	return is_refused ? EAGAIN : __real_pthread_create(thread, attributes, fn, data);
}

static void record_many(void)
{
	for (int i = 0; i < MANY; i++)
		trace2_data_intmax("n", NULL, "number", i);
}

/* Each number is in the file, or counted as lost. */
static void assert_all_are_known(const char *const *settings, int (*program)(void *), void *data)
{
	unlink(t.raw);
	traced_run(&t, program, data, settings);
	assert_int_equal(t.status, 0);
	raw_free(&file);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "number", MANY), file.lost);
	assert_int_equal(file.ends, 1);
}

static void assert_all_are_there(const char *const *settings, int (*program)(void *), void *data)
{
	assert_all_are_known(settings, program, data);
	assert_int_equal(file.lost, 0);
}

static int run_first_and_then_many(void *data)
{
	const unsigned *expected = data;
	unsigned first;

	trace2_initialize();
	first = asked;
	record_many();
	return first == expected[0] && asked == expected[1] ? 0 : 1;
}

static void test_thread_starts_with_tracing(void **state)
{
	(void)state;
	assert_all_are_known((const char *const[]){ "TRACE2_RAW_FLUSH=1s", NULL }, run_first_and_then_many,
			     (unsigned[]){ 1, 1 });
	assert_all_are_known((const char *const[]){ "TRACE2_RAW_THREAD=init", NULL }, run_first_and_then_many,
			     (unsigned[]){ 1, 1 });
}

static void test_thread_late_starts_when_a_ring_fills(void **state)
{
	(void)state;
	assert_all_are_known((const char *const[]){ "TRACE2_RAW_THREAD=late", NULL }, run_first_and_then_many,
			     (unsigned[]){ 0, 1 });
}

static void test_thread_off_never_starts_and_loses_nothing(void **state)
{
	(void)state;
	assert_all_are_there((const char *const[]){ "TRACE2_RAW_THREAD=off", NULL }, run_first_and_then_many,
			     (unsigned[]){ 0, 0 });
	assert_all_are_there((const char *const[]){ "TRACE2_RAW_THREAD=off", "TRACE2_RAW_POLICY=block", NULL },
			     run_first_and_then_many, (unsigned[]){ 0, 0 });
}

static int run_refused(void *data)
{
	(void)data;
	is_refused = 1;
	trace2_initialize();
	record_many();
	return asked >= 1 && asked < 10 ? 0 : 1;
}

static _Atomic int has_turn;      /* relaxed: it orders nothing between the two */

static void *record_behind(void *data)
{
	const struct timespec pause = { 0, 1000000 };

	trace2_thread_start("behind");
	while (!atomic_load_explicit(&has_turn, memory_order_relaxed))
		nanosleep(&pause, NULL);
	record_many();
	trace2_thread_exit();
	return data;
}

static int run_refused_to_two(void *data)
{
	pthread_t thread;

	(void)data;
	is_refused = 1;
	trace2_initialize();
	if (__real_pthread_create(&thread, NULL, record_behind, NULL))
		return 1;
	while (!atomic_load_explicit(&asked, memory_order_relaxed))
		trace2_step("n", "until it is refused");
	atomic_store_explicit(&has_turn, 1, memory_order_relaxed);
	return pthread_join(thread, NULL);
}

/* What the one has found out is read by the other: ThreadSanitizer judges how. */
static void test_thread_that_is_refused_to_one_is_not_asked_for_by_another(void **state)
{
	(void)state;
	assert_all_are_there((const char *const[]){ "TRACE2_RAW_THREAD=late", NULL }, run_refused_to_two, NULL);
}

/* As under RLIMIT_NPROC, or a filter of system calls. */
static void test_thread_that_is_refused_is_reported_once_and_not_needed(void **state)
{
	(void)state;
	assert_all_are_there((const char *const[]){ "TRACE2_DST_DEBUG=1", NULL }, run_refused, NULL);
	assert_string_equal(t.said, "warning: trace2: cannot start a thread (Resource temporarily unavailable): "
				    "recording threads write themselves\n");
}

static void crash(int signal)
{
	_exit(signal);
}

/* As redis and LLVM do. */
static int run_with_crash_handler(void *data)
{
	struct sigaction action = { .sa_handler = crash, .sa_flags = SA_NODEFER | (int)SA_RESETHAND };

	(void)data;
	trace2_initialize();
	if (sigaction(SIGSEGV, &action, NULL))
		return 1;
	record_many();
	return asked == 1 ? 0 : 2;
}

static void test_thread_late_starts_beside_a_handler_that_may_nest(void **state)
{
	(void)state;
	assert_all_are_known((const char *const[]){ "TRACE2_RAW_THREAD=late", NULL }, run_with_crash_handler, NULL);
}

static int run_child(void *data)
{
	unsigned expected = *(unsigned *)data;
	int status;
	pid_t pid;

	trace2_initialize();
	pid = fork();
	if (!pid) {
		trace2_data_intmax("n", NULL, "child", 1);
		_exit(asked != expected);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static void test_thread_of_a_forked_child_starts_with_its_first_event(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the child inherits the locks of the sanitizer's allocator, which glibc's would have in order */
#endif
	traced_run(&t, run_child, (unsigned[]){ 2 }, (const char *const[]){ "TRACE2_RAW_THREAD=init", NULL });
	assert_int_equal(t.status, 0);
	traced_run(&t, run_child, (unsigned[]){ 0 }, (const char *const[]){ "TRACE2_RAW_THREAD=off", NULL });
	assert_int_equal(t.status, 0);
}

/* Return  1 as soon as the file has more than that many bytes; 0: not in a minute */
static int grows_beyond(const char *path, off_t bytes)
{
	const struct timespec pause = { 0, 5000000 };
	struct stat st = { 0 };

	for (int i = 0; i < 12000; i++) {
		if (!stat(path, &st) && st.st_size > bytes)
			return 1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int run_slowly(void *data)
{
	const char *path = data;
	struct stat st;

	trace2_initialize();
	trace2_printf("a word");
	if (!grows_beyond(path, 0) || stat(path, &st))
		return 1;
	trace2_printf("another");
	return grows_beyond(path, st.st_size) ? 0 : 2;
}

static void test_flush_setting_bounds_how_long_a_few_events_wait(void **state)
{
	(void)state;
	traced_run(&t, run_slowly, t.raw, (const char *const[]){ "TRACE2_RAW_FLUSH=20", NULL });
	assert_int_equal(t.status, 0);
	traced_run(&t, run_slowly, t.raw, (const char *const[]){ "TRACE2_RAW_THREAD=init", NULL });
	assert_int_equal(t.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_thread_starts_with_tracing),
		TRACED_TEST(test_thread_late_starts_when_a_ring_fills),
		TRACED_TEST(test_thread_off_never_starts_and_loses_nothing),
		TRACED_TEST(test_thread_that_is_refused_is_reported_once_and_not_needed),
		TRACED_TEST(test_thread_that_is_refused_to_one_is_not_asked_for_by_another),
		TRACED_TEST(test_thread_late_starts_beside_a_handler_that_may_nest),
		TRACED_TEST(test_thread_of_a_forked_child_starts_with_its_first_event),
		TRACED_TEST(test_flush_setting_bounds_how_long_a_few_events_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Forks among threads: the parent's that fork at the same time, the child's that record before the one that forked. */
#include "t2test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "drain/tr2_wake.h"

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

/* ---- several at once -------------------------------------------------------------------------------- */

static __thread int forks_slowly;
static sem_t is_forking, may_go_on;

/* Behind ours, which keeps the drain out. */
static void wait_in_fork(void)
{
	if (!forks_slowly)
		return;
	sem_post(&is_forking);
	sem_wait(&may_go_on);
}

static void *fork_slowly(void *data)
{
	pid_t pid;

	trace2_thread_start("slow");
	forks_slowly = 1;
	pid = fork();
	if (!pid) {
		trace2_data_intmax("test", NULL, "child", 0);
		trace2_flush();
		_exit(0);
	}
	forks_slowly = 0;
	*(int *)data = wait_for(pid);
	trace2_thread_exit();
	return NULL;
}

/* data  NULL: the thread does not record */
static void *fork_meanwhile(void *data)
{
	pid_t pid;

	if (data)
		trace2_thread_start("quick");
	sem_wait(&is_forking);
	pid = fork();
	if (!pid)
		_exit(0);
	wait_for(pid);
	sem_post(&may_go_on);
	if (data)
		trace2_thread_exit();
	return NULL;
}

static int run_forks_at_once(void *data)
{
	pthread_t slow, quick;
	int failed = 0;

	if (sem_init(&is_forking, 0, 0) || sem_init(&may_go_on, 0, 0) || pthread_atfork(wait_in_fork, NULL, NULL))
		return 1;
	trace2_initialize();
	if (pthread_create(&slow, NULL, fork_slowly, &failed) || pthread_create(&quick, NULL, fork_meanwhile, data))
		return 1;
	pthread_join(slow, NULL);
	pthread_join(quick, NULL);
	trace2_data_intmax("test", NULL, "later", 0);
	return failed;
}

static void test_fork_in_two_threads_at_once_releases_the_drain(void **state)
{
	(void)state;
	for (long i = 0; i < 2; i++) {
		traced_run(&t, run_forks_at_once, (void *)i, NULL);
		assert_int_equal(t.status, 0);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_int_equal(file.streams, 2 * (i + 1));
		assert_int_equal(file.ends, i + 1);
		assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "child"), i + 1);
		assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "later"), i + 1);
		raw_free(&file);
	}
}

/* ---- threads of the child ------------------------------------------------------------------------------ */

enum { WORKERS = 8, VALUES = 3000 };

static pthread_barrier_t all_are_there;

/* data  the first value; threads with an even one say what they are called */
static void *work(void *data)
{
	const int from = *(const int *)data * VALUES;

	pthread_barrier_wait(&all_are_there);
	if (*(const int *)data % 2 == 0)
		trace2_thread_start("worker");
	for (int i = 0; i < VALUES; i++)
		trace2_data_intmax("test", NULL, "value", from + i);
	trace2_thread_exit();
	return NULL;
}

/* The threads record before the one that has forked, or at the same time. */
static int be_child(int is_last)
{
	static int numbers[WORKERS + 1];
	pthread_t threads[WORKERS];

	pthread_barrier_init(&all_are_there, NULL, WORKERS + !is_last);
	for (int i = 0; i < WORKERS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 1;
	}
	if (!is_last)
		pthread_barrier_wait(&all_are_there);
	for (int i = 0; is_last && i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	trace2_region_leave("test", "open", NULL);
	for (int i = 0; i < VALUES; i++)
		trace2_data_intmax("test", NULL, "value", WORKERS * VALUES + i);
	for (int i = 0; !is_last && i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	trace2_flush();
	return 0;
}

static int run_child_of_threads(void *data)
{
	pid_t pid;
	int failed;

	trace2_initialize();
	trace2_region_enter("test", "open", NULL);
	pid = fork();
	if (!pid)
		_exit(be_child(data != NULL));
	failed = wait_for(pid);
	trace2_region_leave("test", "open", NULL);
	return failed;
}

static void test_fork_child_whose_other_threads_record_first_keeps_them_apart(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(TRACE2_HAS_TSAN_)   /* which knows gcc's and clang's */
	skip();   /* the child inherits the locks of the sanitizer's allocator, which glibc's would have in order */
#endif
	for (long is_last = 0; is_last < 2; is_last++) {
		traced_run(&t, run_child_of_threads, (void *)is_last,
			   (const char *const[]){ "TRACE2_RAW_RING=4m", NULL });
		assert_int_equal(t.status, 0);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_int_equal(file.streams, 2);
		assert_int_equal(file.bad_blocks + file.gaps + file.lost, 0);
		assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "value", (WORKERS + 1) * VALUES), 0);
		/* the thread that forked is "main" in both: version, enter, leave, atexit; leave, values */
		assert_int_equal(raw_stored(&file, 0), 4 + 1 + VALUES);
		assert_int_equal(remove(t.raw), 0);
		raw_free(&file);
	}
}

/* A handler that runs in the child before ours. */
static void record_in_child(void)
{
	trace2_data_intmax("test", NULL, "value", 0);
}

static int run_recording_handler(void *data)
{
	pid_t pid;

	(void)data;
	if (pthread_atfork(NULL, NULL, record_in_child))
		return 1;
	trace2_initialize();
	pid = fork();
	if (!pid) {
		trace2_data_intmax("test", NULL, "value", 1);
		trace2_flush();
		_exit(0);
	}
	return wait_for(pid);
}

static void test_fork_child_that_records_in_a_handler_is_set_up_once(void **state)
{
	(void)state;
	traced_run(&t, run_recording_handler, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.streams, 2);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "value", 2), 0);
}

/* ---- before its first event -------------------------------------------------------------------------- */

static int run_silent_child(void *data)
{
	pid_t pid;

	(void)data;
	trace2_initialize();
	if (!tr2_wake_is_running())
		return 1;
	pid = fork();
	if (!pid)
		_exit(tr2_wake_is_running());
	return wait_for(pid);
}

/* Where the child's threads took it for running, one could wait for it, or start one before there are rings. */
static void test_fork_child_that_has_not_recorded_has_no_drain(void **state)
{
	(void)state;
	traced_run(&t, run_silent_child, NULL, (const char *const[]){ "TRACE2_RAW_THREAD=init", NULL });
	assert_int_equal(t.status, 0);
}

/* ---- open regions of a flight recorder --------------------------------------------------------------- */

/* One region in each of three processes, and a snapshot in the last. */
static void *fork_in_region(void *data)
{
	intptr_t left = (intptr_t)data;
	pid_t pid;

	if (!left) {
		trace2_data_intmax("test", NULL, "value", 0);
		trace2_snapshot("grandchild");
		return NULL;
	}
	trace2_region_enter("test", "outer", NULL);
	pid = fork();
	if (!pid)
		_exit(fork_in_region((void *)(left - 1)) != NULL);
	return (void *)(intptr_t)wait_for(pid);
}

static int run_forks_in_regions(void *data)
{
	const intptr_t forks = 2;
	pthread_t thread;
	void *failed = data;

	trace2_initialize();
	if (!data)
		return fork_in_region((void *)forks) != NULL;
	return pthread_create(&thread, NULL, fork_in_region, (void *)forks) || pthread_join(thread, &failed) || failed;
}

static size_t count_open(void)
{
	size_t n = 0;

	for (size_t i = 0; i < file.count; i++)
		n += tlg_event_type(&file.events[i]) == TLG_OPEN;
	return n;
}

static void assert_two_are_open(void *is_in_thread)
{
	const char *const settings[] = { "TRACE2_RAW_POLICY=overwrite", NULL };

	traced_run(&t, run_forks_in_regions, is_in_thread, settings);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "value"), 1);
	assert_int_equal(count_open(), 2);
}

static void test_fork_of_a_forked_child_keeps_the_regions_of_both(void **state)
{
	(void)state;
	assert_two_are_open(NULL);
}

static void test_fork_in_a_thread_keeps_its_regions(void **state)
{
	(void)state;
	assert_two_are_open(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_fork_child_whose_other_threads_record_first_keeps_them_apart),
		TRACED_TEST(test_fork_child_that_records_in_a_handler_is_set_up_once),
		TRACED_TEST(test_fork_in_two_threads_at_once_releases_the_drain),
		TRACED_TEST(test_fork_child_that_has_not_recorded_has_no_drain),
		TRACED_TEST(test_fork_of_a_forked_child_keeps_the_regions_of_both),
		TRACED_TEST(test_fork_in_a_thread_keeps_its_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

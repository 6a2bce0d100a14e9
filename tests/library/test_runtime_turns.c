/* SPDX-License-Identifier: MIT */
/*
 * Two threads that do one thing after the other, without anything of the program's that orders the two: what the
 * library itself has to order.  ThreadSanitizer judges that, in every run.
 */
#include "t2test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "drain/tr2_drain.h"

enum { FEW = 10, MANY = 20000, FILES = 20 };

/* ---- turns ------------------------------------------------------------------------------------------ */

static _Atomic int turn;                          /* relaxed, so that it orders nothing */

static void nap(void)
{
	const struct timespec pause = { 0, 1000000 };

	nanosleep(&pause, NULL);
}

static int is_turn(int which)
{
	return atomic_load_explicit(&turn, memory_order_relaxed) == which;
}

static void await_turn(int mine)
{
	while (!is_turn(mine))
		nap();
}

static void give_turn(int next)
{
	atomic_store_explicit(&turn, next, memory_order_relaxed);
}

static void record(int n)
{
	for (int i = 0; i < n; i++)
		trace2_data_intmax("n", NULL, "number", i);
}

/* ---- the end ---------------------------------------------------------------------------------------- */

static void *end_first(void *data)
{
	int timer, counter;

	trace2_thread_start("first");
	timer = trace2_timer_define("own", "timer", 0);
	counter = trace2_counter_define("own", "counter", 0);
	trace2_timer_start(timer);
	trace2_timer_stop(timer);
	trace2_counter_add(counter, 3);
	trace2_cmd_exit(4);
	trace2_thread_exit();
	give_turn(1);
	await_turn(2);
	return data;
}

static int run_thread_that_ends_first(void *data)
{
	pthread_t thread;

	(void)data;
	trace2_initialize();
	if (pthread_create(&thread, NULL, end_first, NULL))
		return 1;
	await_turn(1);
	trace2_finish();
	give_turn(2);
	return pthread_join(thread, NULL);
}

static void test_finish_has_the_totals_of_a_thread_that_nobody_joined(void **state)
{
	(void)state;
	traced_run(&t, run_thread_that_ends_first, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_timer, "timer"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_counter, "counter"), 1);
	assert_int_equal(file.ends, 1);
}

static void *record_on_and_finish(void *data)
{
	while (!is_turn(1))
		record(MANY);
	tr2_drain_finish(TLG_END_EXIT);
	give_turn(2);
	return data;
}

/* As where one thread exits, and a signal ends the process in another. */
static int run_two_that_finish(void *data)
{
	pthread_t thread;

	(void)data;
	trace2_initialize();
	record(FEW);
	if (pthread_create(&thread, NULL, record_on_and_finish, NULL))
		return 1;
	for (int i = 0; i < FEW; i++)
		nap();
	tr2_drain_finish(TLG_END_SIGNAL);
	give_turn(1);
	await_turn(2);
	return pthread_join(thread, NULL);
}

static void test_finish_of_one_thread_while_another_overwrites_and_finishes_ends_the_trace_once(void **state)
{
	(void)state;
	traced_run(&t, run_two_that_finish, NULL,
		   (const char *const[]){ "TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_RING=128k", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.ends, 1);
	assert_int_equal(file.end_reason, TLG_END_SIGNAL);
}

static void *exit_first(void *data)
{
	record(FEW);
	trace2_cmd_exit(0);
	give_turn(1);
	await_turn(2);
	return data;
}

static int be_child(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exit_first, NULL))
		return 1;
	await_turn(1);
	trace2_flush();
	give_turn(2);
	return pthread_join(thread, NULL);
}

/* The parent has no other thread: only then does ThreadSanitizer look at the child. */
static int run_child(void *data)
{
	int status;
	pid_t pid;

	(void)data;
	trace2_initialize();
	pid = fork();
	if (!pid)
		_exit(be_child());
	return waitpid(pid, &status, 0) != pid || status;
}

static void test_flush_behind_the_exit_in_another_thread_of_a_forked_child_ends_its_trace(void **state)
{
	(void)state;
	traced_run(&t, run_child, NULL, (const char *const[]){ "TRACE2_RAW_THREAD=off", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "number"), FEW);
	assert_int_equal(file.ends, 2);
}

/* ---- files and rings --------------------------------------------------------------------------------- */

static void *record_until(void *data)
{
	while (!is_turn(1))
		record(MANY);
	return data;
}

static int run_rotations(void *data)
{
	pthread_t thread;

	(void)data;
	trace2_initialize();
	if (pthread_create(&thread, NULL, record_until, NULL))
		return 1;
	for (int i = 0; i < FILES; i++) {
		trace2_rotate();
		nap();
	}
	give_turn(1);
	return pthread_join(thread, NULL);
}

/* Who finds the ring full asks whether the file takes anything. */
static void test_rotate_beside_a_thread_that_drains_its_ring_itself(void **state)
{
	(void)state;
	traced_run(&t, run_rotations, NULL,
		   (const char *const[]){ "TRACE2_RAW_THREAD=off", "TRACE2_RAW_MEMORY=256k", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.ends, 1);
	assert_int_equal(file.end_reason, TLG_END_ROTATE);
}

/* The ring goes back when the thread is dead, which only the kernel sees. */
static void *leave_ring(void *data)
{
	record(FEW);
	give_turn((int)syscall(SYS_gettid));
	return data;
}

static void *take_ring(void *data)
{
	while (is_turn(0) || !syscall(SYS_tgkill, getpid(), atomic_load_explicit(&turn, memory_order_relaxed), 0))
		nap();
	record(FEW);
	return data;
}

static int run_successor(void *data)
{
	pthread_t threads[2];

	trace2_initialize();
	if (pthread_create(&threads[0], NULL, take_ring, data) || pthread_create(&threads[1], NULL, leave_ring, data))
		return 1;
	return pthread_join(threads[0], NULL) || pthread_join(threads[1], NULL);
}

static void test_thread_that_follows_a_dead_one_has_its_ring(void **state)
{
	(void)state;
	for (int with_drain = 0; with_drain < 2; with_drain++) {
		traced_run(&t, run_successor, NULL,
			   (const char *const[]){ with_drain ? NULL : "TRACE2_RAW_THREAD=off", NULL });
		assert_int_equal(t.status, 0);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "number"), 2 * FEW * (with_drain + 1));
		raw_free(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_finish_has_the_totals_of_a_thread_that_nobody_joined),
		TRACED_TEST(test_finish_of_one_thread_while_another_overwrites_and_finishes_ends_the_trace_once),
		TRACED_TEST(test_flush_behind_the_exit_in_another_thread_of_a_forked_child_ends_its_trace),
		TRACED_TEST(test_rotate_beside_a_thread_that_drains_its_ring_itself),
		TRACED_TEST(test_thread_that_follows_a_dead_one_has_its_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

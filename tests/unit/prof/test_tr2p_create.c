/* SPDX-License-Identifier: MIT */
/* pthread_create() and thrd_create() with the profiler in front: what a thread inherits, how it ends, what fails. */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand there themselves */
}
#else
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_thread.h"

static const struct trace2_labels *labels_of(const char *value)
{
	const char *const pairs[] = { "key", value, NULL };
	const struct trace2_labels *labels;

	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &labels), 0);
	return labels;
}

static void *give_labels(void *data)
{
	(void)data;
	return (void *)(uintptr_t)trace2_prof_labels();
}

static int give_number(void *data)
{
	return trace2_prof_labels() == data ? 7 : 8;
}

static void *join(pthread_t thread)
{
	void *result = NULL;

	assert_int_equal(pthread_join(thread, &result), 0);
	return result;
}

static void test_thread_inherits_labels(void **state)
{
	const struct trace2_labels *labels = labels_of("inherited");
	pthread_t thread;
	thrd_t c11;
	int number = 0;

	(void)state;
	errno = ENOENT;
	assert_int_equal(pthread_create(&thread, NULL, give_labels, NULL), 0);
	assert_int_equal(errno, ENOENT);
	assert_null(join(thread));
	trace2_prof_set_labels(labels);
	assert_int_equal(pthread_create(&thread, NULL, give_labels, NULL), 0);
	assert_ptr_equal(join(thread), labels);
	assert_int_equal(thrd_create(&c11, give_number, (void *)(uintptr_t)labels), thrd_success);
	assert_int_equal(errno, ENOENT);
	trace2_prof_set_labels(NULL);
	assert_int_equal(thrd_join(c11, &number), thrd_success);
	assert_int_equal(number, 7);
}

static pthread_t last;
static int last_error;

static void create_last(void *data)
{
	(void)data;
	last_error = pthread_create(&last, NULL, give_labels, NULL);
}

static void *wait_with_labels(void *labels)
{
	trace2_prof_set_labels(labels);
	pthread_cleanup_push(create_last, NULL);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

/* There the C library's signal for it is blocked, as in the thread that makes libtrace2's. */
static void test_thread_of_one_being_cancelled_inherits_labels(void **state)
{
	const struct trace2_labels *labels = labels_of("cancelled");
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_with_labels, (void *)(uintptr_t)labels), 0);
	usleep(10000);   /* by now it waits, as a rule; else it is cancelled as it begins to, and no signal is needed */
	assert_int_equal(pthread_cancel(thread), 0);
	assert_ptr_equal(join(thread), PTHREAD_CANCELED);
	assert_int_equal(last_error, 0);
	assert_ptr_equal(join(last), labels);
}

static int64_t count_threads(void)
{
	int64_t n = 0;

	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_THREADCREATE); b; b = b->next)
		n += tr2p_bucket_totals(b).count;
	return n;
}

static __attribute__((noinline)) pthread_t create_here(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, give_labels, NULL), 0);
	return thread;
}

static void test_threadcreate_has_the_stack_of_the_creator(void **state)
{
	const struct tr2p_bucket *bucket;
	thrd_t c11;

	(void)state;
	join(create_here());
	assert_int_equal(count_threads(), 0);
	assert_int_equal(trace2_prof_set_threadcreate(1), 0);
	join(create_here());
	assert_int_equal(count_threads(), 1);
	bucket = tr2p_bucket_first(TR2P_THREADCREATE);
	assert_true(bucket->n > 1);
	assert_in_range(bucket->at[0], (uintptr_t)create_here, (uintptr_t)create_here + 128);
	assert_int_equal(thrd_create(&c11, give_number, NULL), thrd_success);
	thrd_join(c11, NULL);
	assert_int_equal(count_threads(), 2);
	tr2p_enter();
	join(create_here());
	tr2p_leave();
	assert_int_equal(trace2_prof_set_threadcreate(0), 1);
	join(create_here());
	assert_int_equal(count_threads(), 2);
}

static sem_t ended;

static void *end_by_exit(void *data)
{
	pthread_exit(data);
}

static void *wait_for_ever(void *data)
{
	for (;;)
		pause();
	return data;
}

static void *end_detached(void *data)
{
	sem_post(data);
	return NULL;
}

/* While a profile runs threads have more to give back. */
static void test_thread_ends_in_any_way(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	int here;

	(void)state;
	assert_int_equal(trace2_prof_start_wall(100), 0);
	assert_int_equal(pthread_create(&thread, NULL, end_by_exit, &here), 0);
	assert_ptr_equal(join(thread), &here);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_ptr_equal(join(thread), PTHREAD_CANCELED);
	sem_init(&ended, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	assert_int_equal(pthread_create(&thread, &attr, end_detached, &ended), 0);
	pthread_attr_destroy(&attr);
	while (sem_wait(&ended))
		assert_int_equal(errno, EINTR);   /* ticks interrupt it */
	trace2_prof_stop_wall();
}

static void *give_stack(void *data)
{
	char here;

	(void)data;
	if ((uintptr_t)&here < tr2p_g_thread.stack_low || (uintptr_t)&here >= tr2p_g_thread.stack_high)
		return NULL;
	return (void *)(tr2p_g_thread.stack_high - tr2p_g_thread.stack_low);
}

static void test_thread_has_the_stack_that_was_asked_for(void **state)
{
	enum { BYTES = 256 * 1024 };
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, give_stack, NULL), 0);
	assert_int_equal((uintptr_t)join(thread), BYTES);
	/* more than there is address space */
	assert_int_equal(pthread_attr_setstacksize(&attr, SIZE_MAX / 4 * 3 & ~(size_t)0xffff), 0);
	trace2_prof_set_threadcreate(1);
	tr2p_bucket_reset(TR2P_THREADCREATE);
	errno = ENOENT;
	assert_int_equal(pthread_create(&thread, &attr, give_stack, NULL), EAGAIN);
	assert_int_equal(count_threads(), 0);
	trace2_prof_set_threadcreate(0);
	pthread_attr_destroy(&attr);
}

/* ---- what a thread calls that does nothing itself --------------------------------------------------- */

static pthread_t watcher;         /* which is not watched */
static int is_watching;
static unsigned calls, calls_with_signals;

/* A call of the allocator: a handler that interrupts it could not call it, too. */
static void note_call(void)
{
	sigset_t blocked;

	if (!tr2_load_rlx(&is_watching) || pthread_equal(pthread_self(), watcher))
		return;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	calls++;
	calls_with_signals += !sigismember(&blocked, SIGUSR1);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	note_call();
	return __real_calloc(n, size);
}

void __real_free(void *address);
void __wrap_free(void *address);
void __wrap_free(void *address)
{
	note_call();
	__real_free(address);
}

static void *give_mask(void *data)
{
	pthread_sigmask(SIG_SETMASK, NULL, data);
	return NULL;
}

static void test_thread_that_begins_or_ends_calls_the_allocator_with_signals_blocked(void **state)
{
	sigset_t blocked;
	pthread_t thread;

	(void)state;
	assert_int_equal(trace2_prof_start_wall(100), 0);
	watcher = pthread_self();
	tr2_store_rlx(&is_watching, 1);
	assert_int_equal(pthread_create(&thread, NULL, give_mask, &blocked), 0);
	join(thread);
	tr2_store_rlx(&is_watching, 0);
	trace2_prof_stop_wall();
	assert_true(calls >= 3);   /* what it is born with, its timers, at the begin and at the end */
	assert_int_equal(calls_with_signals, 0);
	assert_false(sigismember(&blocked, SIGUSR1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_inherits_labels),
		cmocka_unit_test(test_thread_of_one_being_cancelled_inherits_labels),
		cmocka_unit_test(test_threadcreate_has_the_stack_of_the_creator),
		cmocka_unit_test(test_thread_ends_in_any_way),
		cmocka_unit_test(test_thread_has_the_stack_that_was_asked_for),
		cmocka_unit_test(test_thread_that_begins_or_ends_calls_the_allocator_with_signals_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

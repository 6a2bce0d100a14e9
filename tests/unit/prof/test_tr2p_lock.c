/* SPDX-License-Identifier: MIT */
/*
 * Waits for locks and for others: what is charged to whom.  No time is assumed: a wait is longer than what its cause
 * measures within it, and shorter than what it measures itself.
 */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"
#include "prof/tr2p_wait.h"

enum { HELD_NS = 3000000 };

static int setup(void **state)
{
	(void)state;
	tr2p_unwind_init(0, 0);
	tr2p_thread_begin();
	return tr2p_bucket_init();
}

static void all_off(void)
{
	trace2_prof_set_block_rate(0);
	trace2_prof_set_mutex_fraction(0);
}

static int64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void test_rates_return_what_they_were(void **state)
{
	(void)state;
	assert_int_equal(trace2_prof_set_block_rate(7), 0);
	assert_int_equal(trace2_prof_set_block_rate(0), 7);
	assert_false(tr2p_waits_are_on());
	assert_int_equal(trace2_prof_set_mutex_fraction(3), 0);
	assert_true(tr2p_waits_are_on());
	assert_int_equal(trace2_prof_set_mutex_fraction(0), 3);
	assert_false(tr2p_waits_are_on());
}

/* A shorter wait stands for others, so that the totals come out: with chance, so within a factor of two only. */
static void test_wait_shorter_than_the_rate_is_scaled(void **state)
{
	enum { WAITS = 200000, NS = 1000 };
	int64_t begin = read_clock(), estimated = 0, counted = 0;

	(void)state;
	trace2_prof_set_block_rate(100 * NS);
	for (unsigned i = 0; i < WAITS; i++) {
		struct tr2p_wait wait;
		tr2p_wait_begin(&wait, TR2P_WAIT_COND, &wait, NULL);
		wait.start_ns -= NS;
		tr2p_wait_end(&wait);
	}
	all_off();
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_BLOCK); b; b = b->next) {
		estimated += tr2p_bucket_totals(b).all_value;
		counted += tr2p_bucket_totals(b).count;
	}
	assert_in_range(estimated, WAITS * NS / 2, 2 * (read_clock() - begin + (int64_t)WAITS * NS));
	assert_true(counted < WAITS / 2);
}

#ifndef TR2_IS_SANITIZED

static void all_on(void)
{
	trace2_prof_set_block_rate(1);
	trace2_prof_set_mutex_fraction(1);
	tr2p_bucket_reset(TR2P_BLOCK);
	tr2p_bucket_reset(TR2P_MUTEX);
}

/* ---- one waits, one makes it wait -------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t sleeper;
static sem_t sem, sleep_sem;
static mtx_t mtx;
static int is_signalled;

enum { FUNCTION_BYTES = 512 };

/* A function whose call is not its last instruction, so that it is in the stack, and that no other is near. */
#define ALONE __attribute__((noinline, aligned(FUNCTION_BYTES)))

static ALONE int signal_cond(void)
{
	pthread_mutex_lock(&mutex);
	is_signalled = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static ALONE int wait_for_cond(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_signalled)
		pthread_cond_wait(&cond, &mutex);
	is_signalled = 0;
	pthread_mutex_unlock(&mutex);
	return 0;
}

static void *sleep_by_semaphore(void *data)
{
	trace2_prof_set_labels(data);
	tr2p_enter();   /* it is not what is tested here */
	sem_wait(&sleep_sem);
	return NULL;
}

typedef int lock_by_clock(pthread_rwlock_t *restrict, clockid_t, const struct timespec *restrict);

static inline __attribute__((always_inline)) int wait_far(lock_by_clock *wait)
{
	struct timespec far;
	int error;

	clock_gettime(CLOCK_MONOTONIC, &far);
	far.tv_sec += 1000;
	error = wait(&rwlock, CLOCK_MONOTONIC, &far);
	return error ? error : pthread_rwlock_unlock(&rwlock);
}

#define CALLS(name, call) \
	static ALONE int name(void) \
	{ \
		int result = call; \
\
		__asm__ volatile(""); \
		return result; \
	}

CALLS(lock_mutex, pthread_mutex_lock(&mutex))
CALLS(unlock_mutex, pthread_mutex_unlock(&mutex))
CALLS(pass_mutex, pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex))
CALLS(lock_rwlock, pthread_rwlock_wrlock(&rwlock))
CALLS(read_rwlock, pthread_rwlock_rdlock(&rwlock))
CALLS(unlock_rwlock, pthread_rwlock_unlock(&rwlock))
CALLS(pass_reading, pthread_rwlock_rdlock(&rwlock) || pthread_rwlock_unlock(&rwlock))
CALLS(pass_writing, pthread_rwlock_wrlock(&rwlock) || pthread_rwlock_unlock(&rwlock))
CALLS(pass_writing_by_clock, wait_far(pthread_rwlock_clockwrlock))
CALLS(lock_spin, pthread_spin_lock(&spin))
CALLS(unlock_spin, pthread_spin_unlock(&spin))
CALLS(pass_spin, pthread_spin_lock(&spin) || pthread_spin_unlock(&spin))
CALLS(lock_mtx, mtx_lock(&mtx))
CALLS(unlock_mtx, mtx_unlock(&mtx))
CALLS(pass_mtx, mtx_lock(&mtx) || mtx_unlock(&mtx))
CALLS(nothing, 0)
CALLS(pass_barrier, pthread_barrier_wait(&barrier) > 0)
CALLS(come_last, pthread_barrier_wait(&barrier) > 0)
CALLS(post_sem, sem_post(&sem))
CALLS(wait_sem, sem_wait(&sem))
CALLS(start_sleeper, pthread_create(&sleeper, NULL, sleep_by_semaphore, NULL))
CALLS(post_sleeper, sem_post(&sleep_sem))
CALLS(join_sleeper, pthread_join(sleeper, NULL))

/* hold; then a thread waits, which release ends: some of them have to unlock what they hold. */
static const struct pair {
	int (*hold)(void);
	int (*wait)(void);
	int (*release)(void);
	int is_released;              /* who releases pays for it */
} pairs[] = {
	{ lock_mutex, pass_mutex, unlock_mutex, 1 },
	{ lock_rwlock, pass_reading, unlock_rwlock, 1 },
	{ read_rwlock, pass_writing, unlock_rwlock, 1 },
	/* where long has 32 bits functions with a timeout are not seen */
	{ lock_rwlock, __SIZEOF_LONG__ == 8 ? pass_writing_by_clock : pass_writing, unlock_rwlock, 1 },
	{ lock_spin, pass_spin, unlock_spin, 1 },
	{ lock_mtx, pass_mtx, unlock_mtx, 1 },
	{ nothing, wait_for_cond, signal_cond, 1 },
	{ nothing, wait_sem, post_sem, 1 },
	{ nothing, pass_barrier, come_last, 0 },
	{ start_sleeper, join_sleeper, post_sleeper, 0 },
};

struct waiter {
	const struct pair *pair;
	struct tr2p_thread *thread;   /* of the one that waits; set by it */
	int64_t ns;                   /* that it measures itself */
	int error, errno_there;
};

static void *wait_there(void *data)
{
	struct waiter *waiter = data;
	int64_t begin = read_clock();

	errno = 77;
	tr2_store_rel(&waiter->thread, &tr2p_g_thread);
	waiter->error = waiter->pair->wait();
	waiter->errno_there = errno;
	waiter->ns = read_clock() - begin;
	return NULL;
}

/* Return  that it is in its wait, and how long it stayed at least */
static int64_t hold_on(struct waiter *waiters, unsigned n)
{
	const struct timespec held = { .tv_nsec = HELD_NS };
	int64_t begin;

	for (unsigned i = 0; i < n; i++) {
		struct tr2p_thread *thread;
		while (!(thread = tr2_load_acq(&waiters[i].thread)) || !tr2_load_rlx(&thread->wait))
			sched_yield();
	}
	begin = read_clock();
	nanosleep(&held, NULL);
	return read_clock() - begin;
}

/* What a profile has of stacks with this function; what it has elsewhere is not 0. */
static int64_t value_in(unsigned profile, int (*function)(void))
{
	uintptr_t start = (uintptr_t)function;
	int64_t value = 0;

	for (struct tr2p_bucket *b = tr2p_bucket_first(profile); b; b = b->next)
		if (b->n && b->at[0] >= start && b->at[0] < start + FUNCTION_BYTES)
			value += tr2p_bucket_totals(b).value;
	return value;
}

static void check_pair(const struct pair *pair, unsigned n)
{
	struct waiter waiters[3] = { { pair, 0, 0, 0, 0 }, { pair, 0, 0, 0, 0 }, { pair, 0, 0, 0, 0 } };
	pthread_t threads[3];
	int64_t held, own = 0;

	assert_int_equal(pair->hold(), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_there, &waiters[i]), 0);
	held = hold_on(waiters, n);
	assert_int_equal(pair->release(), 0);
	tr2p_enter();
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(waiters[i].error, 0);
		assert_int_equal(waiters[i].errno_there, 77);
		own += waiters[i].ns;
	}
	tr2p_leave();
	assert_in_range(value_in(TR2P_BLOCK, pair->wait), held * n, own);
	if (pair->is_released)
		assert_in_range(value_in(TR2P_MUTEX, pair->release), held * n, own);
	else
		assert_int_equal(value_in(TR2P_MUTEX, pair->release), 0);
}

static void test_wait_is_charged_to_who_waits_and_who_unlocks(void **state)
{
	(void)state;
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	sem_init(&sleep_sem, 0, 0);
	mtx_init(&mtx, mtx_plain);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		all_on();
		check_pair(&pairs[i], 1);
		all_off();
	}
}

static void test_waits_of_several_are_all_charged_to_who_unlocks(void **state)
{
	(void)state;
	all_on();
	check_pair(&pairs[0], 3);
	all_on();
	check_pair(&pairs[1], 3);
	all_off();
}

static void test_lock_that_is_free_is_no_wait(void **state)
{
	(void)state;
	all_on();
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(pass_mutex() || pass_reading() || pass_writing() || pass_spin() || pass_mtx(), 0);
		assert_int_equal(post_sem() || wait_sem(), 0);
	}
	all_off();
	for (unsigned i = 0; i < 2; i++)
		for (struct tr2p_bucket *b = tr2p_bucket_first(i ? TR2P_MUTEX : TR2P_BLOCK); b; b = b->next)
			assert_int_equal(tr2p_bucket_totals(b).count, 0);
}

/* What all the program's waits add up to is less than n times the truth, by chance one in n of it. */
static void test_mutex_fraction_of_n_takes_some(void **state)
{
	const struct pair *pair = &pairs[0];
	int64_t taken = 0;

	(void)state;
	all_on();
	trace2_prof_set_mutex_fraction(1u << 31);
	for (unsigned i = 0; i < 20; i++) {
		struct waiter waiter = { pair, 0, 0, 0, 0 };
		pthread_t thread;
		pair->hold();
		assert_int_equal(pthread_create(&thread, NULL, wait_there, &waiter), 0);
		hold_on(&waiter, 1);
		pair->release();
		pthread_join(thread, NULL);
	}
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_MUTEX); b; b = b->next)
		taken += tr2p_bucket_totals(b).count;
	assert_true(taken < 20);
	all_off();
}

/* A child of a fork has none of the threads that wait. */
static void test_waiters_in_a_forked_child_are_none(void **state)
{
	struct waiter waiter = { &pairs[0], 0, 0, 0, 0 };
	pthread_t thread;
	pid_t child;
	int status;

	(void)state;
	all_on();
	lock_mutex();
	assert_int_equal(pthread_create(&thread, NULL, wait_there, &waiter), 0);
	hold_on(&waiter, 1);
	assert_true(tr2p_is_awaited(&mutex));
	child = fork();
	if (!child)
		_exit(tr2p_is_awaited(&mutex));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	unlock_mutex();
	pthread_join(thread, NULL);
	all_off();
}

/* A handler that interrupts a wait forks: in the child that wait ends, which nobody knows there. */
static void test_wait_that_began_before_a_fork_ends_in_the_child(void **state)
{
	struct tr2p_wait wait;
	pid_t child;
	int status;

	(void)state;
	all_on();
	tr2p_wait_begin(&wait, TR2P_WAIT_MUTEX, &mutex, __builtin_return_address(0));
	child = fork();
	tr2p_wait_end(&wait);
	if (!child)
		_exit(tr2p_waiters_of(&mutex)->state >> TR2P_WAITERS_TIME_BITS != 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	all_off();
}

/* ---- cancellation ------------------------------------------------------------------------------------ */

static void unlock_this(void *lock)
{
	pthread_mutex_unlock(lock);
}

static void *cancelled_in_a_wait(void *data)
{
	struct waiter *waiter = data;

	pthread_cleanup_push(unlock_this, &mutex);
	pthread_mutex_lock(&mutex);
	tr2_store_rel(&waiter->thread, &tr2p_g_thread);
	if (waiter->pair)
		sem_wait(&sem);
	else
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return NULL;
}

static void test_wait_that_is_cancelled_ends(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct waiter waiter = { i ? pairs : NULL, 0, 0, 0, 0 };
		int64_t sampled = 0, held;
		pthread_t thread;
		void *result;

		all_on();
		assert_int_equal(pthread_create(&thread, NULL, cancelled_in_a_wait, &waiter), 0);
		held = hold_on(&waiter, 1);
		tr2p_enter();
		assert_int_equal(pthread_cancel(thread), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		tr2p_leave();
		assert_ptr_equal(result, PTHREAD_CANCELED);
		assert_int_equal(pthread_mutex_trylock(&mutex), 0);
		pthread_mutex_unlock(&mutex);
		for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_BLOCK); b; b = b->next)
			sampled += tr2p_bucket_totals(b).value;
		assert_true(sampled >= held);
		all_off();
	}
}

/* A semaphore that is free is a cancellation point all the same. */
static void *cancelled_at_once(void *data)
{
	(void)data;
	pthread_cancel(pthread_self());
	sem_wait(&sem);
	return NULL;
}

static void test_sem_wait_at_a_free_one_is_a_cancellation_point(void **state)
{
	pthread_t thread;
	void *result;
	int value;

	(void)state;
	all_on();
	post_sem();
	assert_int_equal(pthread_create(&thread, NULL, cancelled_at_once, NULL), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	sem_getvalue(&sem, &value);
	assert_int_equal(value, 1);
	wait_sem();
	all_off();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_return_what_they_were),
		cmocka_unit_test(test_wait_shorter_than_the_rate_is_scaled),
#ifndef TR2_IS_SANITIZED
		cmocka_unit_test(test_wait_is_charged_to_who_waits_and_who_unlocks),
		cmocka_unit_test(test_waits_of_several_are_all_charged_to_who_unlocks),
		cmocka_unit_test(test_lock_that_is_free_is_no_wait),
		cmocka_unit_test(test_mutex_fraction_of_n_takes_some),
		cmocka_unit_test(test_waiters_in_a_forked_child_are_none),
		cmocka_unit_test(test_wait_that_began_before_a_fork_ends_in_the_child),
		cmocka_unit_test(test_wait_that_is_cancelled_ends),
		cmocka_unit_test(test_sem_wait_at_a_free_one_is_a_cancellation_point),
#endif
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

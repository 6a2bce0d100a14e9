/* SPDX-License-Identifier: MIT */
/* Functions that lock and wait return the same with the profiler in front of them on and off, whatever is asked. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "trace2.h"
#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

/* ThreadSanitizer reports what is asked here and is not right, and there is nothing in front of its own functions. */
#ifdef TRACE2_HAS_TSAN_
enum { MAY_BE_WRONG = 0 };
#else
enum { MAY_BE_WRONG = 1 };
#endif

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static int setup(void **state)
{
	(void)state;
	tr2p_unwind_init(0, 0);
	tr2p_thread_begin();
	return tr2p_bucket_init();
}

static void set_rates(unsigned rate)
{
	trace2_prof_set_block_rate(rate);
	trace2_prof_set_mutex_fraction(rate);
}

static char *transcript;

static void note(const char *what, int error)
{
	transcript += sprintf(transcript, "%s=%d ", what, error);
}

static const struct timespec past = { 1, 0 }, wrong = { 1, 1000000000 }, negative = { 1, -1 };

static void try_times(pthread_mutex_t *m)
{
	static const struct timespec *const times[] = { &past, &wrong, &negative };

	for (unsigned i = 0; i < 3; i++) {
		int error = pthread_mutex_timedlock(m, times[i]);
		note("timed", error);
		if (!error)
			note("unlock", pthread_mutex_unlock(m));
		error = pthread_mutex_clocklock(m, CLOCK_MONOTONIC, times[i]);
		note("clocked", error);
		if (!error)
			note("unlock", pthread_mutex_unlock(m));
		error = pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, times[i]);
		note("wrong clock", error);
		if (!error)
			note("unlock", pthread_mutex_unlock(m));
	}
	note("try", pthread_mutex_trylock(m));
}

static void *from_outside(void *data)
{
	pthread_mutex_t *m = data;

	note("other unlock", pthread_mutex_unlock(m) == EPERM ? EPERM : -1);
	try_times(m);
	return NULL;
}

static void *die_with(void *data)
{
	note("dying lock", pthread_mutex_lock(data));
	return NULL;
}

static void in_thread(void *(*run)(void *), void *data)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, data), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* What can be asked of a mutex of this kind without waiting forever. */
static void ask_mutex(int type, int protocol, int robust)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	note("\ntype", type);
	note("protocol", protocol);
	note("robust", robust);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	note("init", pthread_mutex_init(&m, &attr));
	note("lock", pthread_mutex_lock(&m));
	if (type != PTHREAD_MUTEX_NORMAL)
		note("again", pthread_mutex_lock(&m));
	if (type == PTHREAD_MUTEX_RECURSIVE)
		note("unlock", pthread_mutex_unlock(&m));
	if (type != PTHREAD_MUTEX_NORMAL || protocol == PTHREAD_PRIO_NONE)
		try_times(&m);
	if (type == PTHREAD_MUTEX_RECURSIVE)
		note("unlock", pthread_mutex_unlock(&m));
	if (type != PTHREAD_MUTEX_NORMAL)
		in_thread(from_outside, &m);
	note("unlock", pthread_mutex_unlock(&m));
	if (type == PTHREAD_MUTEX_ERRORCHECK)
		note("unlock free", pthread_mutex_unlock(&m));
	if (robust == PTHREAD_MUTEX_ROBUST) {
		in_thread(die_with, &m);
		note("of the dead", pthread_mutex_lock(&m));
		note("consistent", pthread_mutex_consistent(&m));
		note("unlock", pthread_mutex_unlock(&m));
		in_thread(die_with, &m);
		note("of the dead, timed", pthread_mutex_timedlock(&m, &past));
		note("unlock", pthread_mutex_unlock(&m));
		note("not recoverable", pthread_mutex_lock(&m));
		try_times(&m);
	}
	note("destroy", pthread_mutex_destroy(&m));
}

static void *ask_held_rwlock(void *data)
{
	pthread_rwlock_t *lock = data;

	note("timedrd", pthread_rwlock_timedrdlock(lock, &past));
	note("timedwr", pthread_rwlock_timedwrlock(lock, &past));
	note("clockrd", pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &past));
	note("clockwr", pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &past));
	return NULL;
}

static void ask_rwlock(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

	note("\nrwlock timed wrong", pthread_rwlock_timedrdlock(&lock, &wrong));
	note("timed negative", pthread_rwlock_timedwrlock(&lock, &negative));
	note("clock wrong", pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past));
	note("wr", pthread_rwlock_wrlock(&lock));
	note("wr again", pthread_rwlock_wrlock(&lock));
	note("rd again", pthread_rwlock_rdlock(&lock));
	in_thread(ask_held_rwlock, &lock);
	note("unlock", pthread_rwlock_unlock(&lock));
	note("past", pthread_rwlock_timedwrlock(&lock, &past));
	note("unlock", pthread_rwlock_unlock(&lock));
}

static void ask_sem(void)
{
	sem_t s;

	sem_init(&s, 0, 1);
	errno = 0;
	note("\nsem timed wrong", sem_timedwait(&s, &wrong));
	note("errno", errno);
	note("clock wrong", sem_clockwait(&s, CLOCK_PROCESS_CPUTIME_ID, &past));
	note("errno", errno);
	errno = 78;
	note("past", sem_timedwait(&s, &past));
	note("errno", errno);
	note("past again", sem_clockwait(&s, CLOCK_MONOTONIC, &past));
	note("errno", errno);
}

static void ask_c11(void)
{
	mtx_t plain, recursive;

	mtx_init(&plain, mtx_timed);
	mtx_init(&recursive, mtx_plain | mtx_recursive);
	note("\nmtx", mtx_lock(&plain));
	note("timed", mtx_timedlock(&plain, &past));
	note("unlock", mtx_unlock(&plain));
	note("timed wrong", mtx_timedlock(&plain, &wrong));
	note("unlock", mtx_unlock(&plain));
	note("recursive", mtx_lock(&recursive));
	note("recursive", mtx_lock(&recursive));
	note("unlock", mtx_unlock(&recursive));
	note("unlock", mtx_unlock(&recursive));
}

static void ask_others(void)
{
	pthread_mutex_t held;
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&held, &attr);
	note("\njoin self", pthread_join(pthread_self(), NULL));
	note("cond, not held", pthread_cond_wait(&cond, &held));
	pthread_mutex_lock(&held);
	note("cond, past", pthread_cond_timedwait(&cond, &held, &past));
	note("cond, wrong", pthread_cond_timedwait(&cond, &held, &wrong));
	note("cond, clock", pthread_cond_clockwait(&cond, &held, CLOCK_MONOTONIC, &past));
	note("cond, clock wrong", pthread_cond_clockwait(&cond, &held, CLOCK_PROCESS_CPUTIME_ID, &past));
	pthread_mutex_unlock(&held);
}

static void *ask_all(void *to)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE };
	static const int protocols[] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT };

	transcript = to;
	ask_sem();
	if (!MAY_BE_WRONG)
		return NULL;
	for (unsigned type = 0; type < 3; type++)
		for (unsigned protocol = 0; protocol < 2; protocol++)
			for (int robust = 0; robust < 2; robust++)
				ask_mutex(types[type], protocols[protocol], robust);
	ask_rwlock();
	ask_c11();
	ask_others();
	return NULL;
}

static void test_locks_answer_the_same_on_and_off(void **state)
{
	static char off[40000], on[40000];

	(void)state;
	set_rates(0);
	in_thread(ask_all, off);   /* of their own, for the C library notes a thread's priority */
	in_thread(ask_all, off);
	set_rates(1);
	in_thread(ask_all, on);
	set_rates(0);
	assert_string_equal(on, off);
	assert_true(!MAY_BE_WRONG || strlen(off) > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks_answer_the_same_on_and_off),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

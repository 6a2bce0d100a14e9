/* SPDX-License-Identifier: MIT */
/*
 * tr2p_lock.c - in front of the functions that lock and unlock: mutexes of all kinds, rwlocks, spin locks.
 *
 * A mutex that looks free is locked as ever, for that costs half of trylock.  Any other lock is tried first, which
 * changes nothing that a program could see: one that can be had is taken by either function, and both return the same
 * then; or both refuse it alike, with EINVAL or EAGAIN, say.  What is busy, also by the thread itself, is left to the
 * real one: it returns EDEADLK, or waits forever.  But
 * - functions with a timeout may say that the time or the clock is wrong before they look at the lock: with a wrong one
 *   it is not tried;
 * - robust mutexes are not tried, for glibc's trylock leaves one that is not recoverable locked.
 */
#ifndef TR2_IS_SANITIZED

#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "tr2p_next.h"
#include "tr2p_thread.h"
#include "tr2p_unwind.h"
#include "tr2p_wait.h"

#define MUTEX(X) \
	X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_unlock) X(pthread_mutex_timedlock) \
	X(pthread_mutex_clocklock) X(mtx_lock) X(mtx_trylock) X(mtx_timedlock) X(mtx_unlock)
#define RWLOCK(X) \
	X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) X(pthread_rwlock_timedrdlock) \
	X(pthread_rwlock_clockrdlock) X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock) \
	X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) X(pthread_rwlock_unlock)
#define SPIN(X) X(pthread_spin_lock) X(pthread_spin_trylock) X(pthread_spin_unlock)
#define FUNCTIONS(X) MUTEX(X) RWLOCK(X) SPIN(X)

TR2P_NEXT_TABLE(FUNCTIONS);

enum { KIND_ROBUST = 16 };     /* glibc's, in __kind */

static int is_robust(pthread_mutex_t *lock)
{
	return (lock->__data.__kind & KIND_ROBUST) != 0;
}

/* It looks so; whether it still is when it is locked is not known anyway. */
static int is_free(pthread_mutex_t *lock)
{
	return !tr2_load_rlx(&lock->__data.__lock); /* relaxed: see above */
}

/* Arguments in parentheses without these. */
#define BARE(...) __VA_ARGS__
/* Out of line, so that the way without a wait needs no stack frame */
#define APART __attribute__((noinline))

/*
 * A function that locks.
 * parameters, arguments  its own, of which the first is called lock
 * looks_free             it looks free
 * can_try, try, busy     whether it may be tried first, how, and what that returns if one has to wait
 */
#define LOCK(name, kind, parameters, arguments, looks_free, can_try, try, busy) \
	static APART int wait_##name(const void *caller, BARE parameters) \
	{ \
		if (tr2p_is_unwinding()) \
			tr2p_unwind_give_up(caller); \
		if (!tr2p_waits_are_on()) \
			return NEXT(name) arguments; \
		if (can_try) { \
			int error = NEXT(try)(lock); \
			if (error != (busy)) \
				return error; \
		} \
		if (tr2p_is_inside()) \
			return NEXT(name) arguments; \
		TR2P_WAIT(kind, (const void *)lock, caller); \
		return wait.error = NEXT(name) arguments; \
	} \
	TR2P_IN_FRONT int name parameters \
	{ \
		if ((looks_free) || !(tr2p_waits_are_on() || tr2p_is_unwinding())) \
			return NEXT(name) arguments; \
		return wait_##name(TR2P_CALLER, BARE arguments); \
	}

/* A function that unlocks. */
#define UNLOCK(name, type) \
	static APART int charge_##name(const void *caller, type *lock) \
	{ \
		uint64_t charge = tr2p_take_charge((const void *)lock); \
		int error = NEXT(name)(lock); \
\
		if (!error) \
			tr2p_charge(charge, caller); \
		return error; \
	} \
	TR2P_IN_FRONT int name(type *lock) \
	{ \
		if (!tr2p_waits_are_on() || !tr2p_is_awaited((const void *)lock)) \
			return NEXT(name)(lock); \
		return charge_##name(TR2P_CALLER, lock); \
	}

LOCK(pthread_mutex_lock, TR2P_WAIT_MUTEX, (pthread_mutex_t *lock), (lock), is_free(lock),
     !is_robust(lock), pthread_mutex_trylock, EBUSY)
LOCK(pthread_rwlock_rdlock, TR2P_WAIT_RWLOCK, (pthread_rwlock_t *lock), (lock), 0, 1, pthread_rwlock_tryrdlock, EBUSY)
LOCK(pthread_rwlock_wrlock, TR2P_WAIT_RWLOCK, (pthread_rwlock_t *lock), (lock), 0, 1, pthread_rwlock_trywrlock, EBUSY)
LOCK(pthread_spin_lock, TR2P_WAIT_SPIN, (pthread_spinlock_t *lock), (lock), 0, 1, pthread_spin_trylock, EBUSY)
LOCK(mtx_lock, TR2P_WAIT_MUTEX, (mtx_t *lock), (lock), 0, 1, mtx_trylock, thrd_busy)

UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)
UNLOCK(pthread_spin_unlock, pthread_spinlock_t)
UNLOCK(mtx_unlock, mtx_t)

/* Where these have two versions, with times of 32 and of 64 bits, each program would need its own. */
#if __SIZEOF_LONG__ == 8
#define TIMED (pthread_mutex_t *restrict lock, const struct timespec *restrict time), (lock, time), \
	      is_free(lock), !is_robust(lock) && tr2p_wait_is_time(time)
#define CLOCKED (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict time), \
		(lock, clock, time), is_free(lock), !is_robust(lock) && tr2p_wait_is_clock(clock, time)
#define RW_TIMED (pthread_rwlock_t *restrict lock, const struct timespec *restrict time), (lock, time), 0, \
		 tr2p_wait_is_time(time)
#define RW_CLOCKED (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict time), \
		   (lock, clock, time), 0, tr2p_wait_is_clock(clock, time)
#define C11_TIMED (mtx_t *restrict lock, const struct timespec *restrict time), (lock, time), 0, tr2p_wait_is_time(time)
/* Its arguments are expanded before it is */
#define LOCK_BY(...) LOCK(__VA_ARGS__)

LOCK_BY(pthread_mutex_timedlock, TR2P_WAIT_MUTEX, TIMED, pthread_mutex_trylock, EBUSY)
LOCK_BY(pthread_mutex_clocklock, TR2P_WAIT_MUTEX, CLOCKED, pthread_mutex_trylock, EBUSY)
LOCK_BY(pthread_rwlock_timedrdlock, TR2P_WAIT_RWLOCK, RW_TIMED, pthread_rwlock_tryrdlock, EBUSY)
LOCK_BY(pthread_rwlock_clockrdlock, TR2P_WAIT_RWLOCK, RW_CLOCKED, pthread_rwlock_tryrdlock, EBUSY)
LOCK_BY(pthread_rwlock_timedwrlock, TR2P_WAIT_RWLOCK, RW_TIMED, pthread_rwlock_trywrlock, EBUSY)
LOCK_BY(pthread_rwlock_clockwrlock, TR2P_WAIT_RWLOCK, RW_CLOCKED, pthread_rwlock_trywrlock, EBUSY)
LOCK_BY(mtx_timedlock, TR2P_WAIT_MUTEX, C11_TIMED, mtx_trylock, thrd_busy)
#endif

#else
extern int tr2p_lock_is_left_to_sanitizers;
#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sync.c - in front of the functions that wait for what no thread holds: condition variables, the end of a thread,
 * barriers, semaphores; and of those that release who waits, by a signal or a post.
 *
 * Of these only semaphores can be tried.  What they are all good for is to wait, so the clock is read each time.  They
 * are cancellation points, and stay so: the real function is called, and a wait that is cancelled ends as any other.
 */
#ifndef TR2_IS_SANITIZED

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "tr2p_next.h"
#include "tr2p_thread.h"
#include "tr2p_wait.h"

#define FUNCTIONS(X) \
	X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait) X(cnd_wait) X(cnd_timedwait) \
	X(pthread_join) X(pthread_timedjoin_np) X(pthread_clockjoin_np) X(thrd_join) X(pthread_barrier_wait) \
	X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait) \
	X(pthread_cond_signal) X(pthread_cond_broadcast) X(cnd_signal) X(cnd_broadcast) X(sem_post)

TR2P_NEXT_TABLE(FUNCTIONS);

static int is_off(void)
{
	return !tr2p_waits_are_on() || tr2p_is_inside();
}

/* ---- condition variables --------------------------------------------------------------------------- */

/* Waiting for one unlocks the mutex. */
static void charge_mutex(const void *mutex, const void *caller)
{
	if (tr2p_is_awaited(mutex))
		tr2p_charge(tr2p_take_charge(mutex), caller);
}

#define COND(name, parameters, arguments) \
	TR2P_IN_FRONT int name parameters \
	{ \
		if (is_off()) \
			return NEXT(name) arguments; \
		charge_mutex((const void *)mutex, TR2P_CALLER); \
		TR2P_WAIT(TR2P_WAIT_COND, (const void *)cond, TR2P_CALLER); \
		return wait.error = NEXT(name) arguments; \
	}

COND(pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex), (cond, mutex))
COND(cnd_wait, (cnd_t *cond, mtx_t *mutex), (cond, mutex))

/* ---- ends of threads, barriers --------------------------------------------------------------------- */

#define WAIT(name, kind, object, parameters, arguments) \
	TR2P_IN_FRONT int name parameters \
	{ \
		if (is_off()) \
			return NEXT(name) arguments; \
		TR2P_WAIT(kind, object, TR2P_CALLER); \
		return wait.error = NEXT(name) arguments; \
	}

WAIT(pthread_join, TR2P_WAIT_JOIN, (const void *)thread, (pthread_t thread, void **result), (thread, result))
WAIT(thrd_join, TR2P_WAIT_JOIN, (const void *)thread, (thrd_t thread, int *result), (thread, result))
WAIT(pthread_barrier_wait, TR2P_WAIT_BARRIER, (const void *)barrier, (pthread_barrier_t *barrier), (barrier))

/* ---- semaphores ------------------------------------------------------------------------------------ */

/* 1: acquired without a wait.  Also then sem_wait() is a point where the thread may be cancelled. */
static int try_semaphore(sem_t *sem)
{
	int saved = errno, failed;

	pthread_testcancel();
	failed = NEXT(sem_trywait)(sem);
	errno = saved;
	return !failed;
}

#define SEM(name, parameters, arguments, can_try) \
	TR2P_IN_FRONT int name parameters \
	{ \
		int result; \
\
		if (is_off()) \
			return NEXT(name) arguments; \
		if ((can_try) && try_semaphore(sem)) \
			return 0; \
		TR2P_WAIT(TR2P_WAIT_SEM, (const void *)sem, TR2P_CALLER); \
		result = NEXT(name) arguments; \
		wait.error = result ? errno : 0; \
		return result; \
	}

SEM(sem_wait, (sem_t *sem), (sem), 1)

/* ---- who releases -------------------------------------------------------------------------------------- */

/*
 * Behind the real one the object may be gone.  sem_post() may be called in a handler; noinline: the way on which nobody
 * waits needs no stack frame.
 */
#define RELEASE(name, type) \
	static __attribute__((noinline)) int charge_##name(const void *caller, type *object) \
	{ \
		uint64_t charge = tr2p_take_charge((const void *)object); \
		int error = NEXT(name)(object); \
\
		if (!error) \
			tr2p_charge(charge, caller); \
		return error; \
	} \
	TR2P_IN_FRONT int name(type *object) \
	{ \
		if (!tr2p_waits_are_on() || !tr2p_is_awaited((const void *)object)) \
			return NEXT(name)(object); \
		return charge_##name(TR2P_CALLER, object); \
	}

RELEASE(pthread_cond_signal, pthread_cond_t)
RELEASE(pthread_cond_broadcast, pthread_cond_t)
RELEASE(cnd_signal, cnd_t)
RELEASE(cnd_broadcast, cnd_t)
RELEASE(sem_post, sem_t)

/* ---- with a timeout; see tr2p_lock.c ---------------------------------------------------------------- */

#if __SIZEOF_LONG__ == 8
COND(pthread_cond_timedwait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
			      const struct timespec *restrict time), (cond, mutex, time))
COND(pthread_cond_clockwait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
			      const struct timespec *restrict time), (cond, mutex, clock, time))
COND(cnd_timedwait, (cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict time),
     (cond, mutex, time))
WAIT(pthread_timedjoin_np, TR2P_WAIT_JOIN, (const void *)thread,
     (pthread_t thread, void **result, const struct timespec *time), (thread, result, time))
WAIT(pthread_clockjoin_np, TR2P_WAIT_JOIN, (const void *)thread,
     (pthread_t thread, void **result, clockid_t clock, const struct timespec *time), (thread, result, clock, time))
SEM(sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict time), (sem, time), tr2p_wait_is_time(time))
SEM(sem_clockwait, (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict time), (sem, clock, time),
    tr2p_wait_is_clock(clock, time))
#endif

#else
extern int tr2p_sync_is_left_to_sanitizers;
#endif

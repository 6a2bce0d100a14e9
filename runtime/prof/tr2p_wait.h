/* SPDX-License-Identifier: MIT */
/*
 * tr2p_wait.h - threads wait for each other: the profiles "block" and "mutex".
 *
 * tr2p_lock.c and tr2p_sync.c intercept the functions that wait.  They first try to get the lock or the event without a
 * wait.  Only if that fails they count a wait, and read the clock.
 *
 * block   A wait is charged to the thread that waits: each wait of at least the rate; of shorter ones a few, each of
 *         which stands for as much time as the rate.
 * mutex   The time that threads wait is charged to the thread that releases what they wait for: it unlocks a lock,
 *         posts a semaphore, signals a condition variable, wakes a futex.  It pays what has passed since the last
 *         release.  A table by addresses has how many threads wait, and since when.
 *
 * The stack of a wait is that of its call, which lasts as long as the wait: a sample shows where the wait began.
 */
#ifndef TR2P_WAIT_H
#define TR2P_WAIT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/tr2_atomic.h"

enum tr2p_wait_kind {
	TR2P_WAIT_MUTEX, TR2P_WAIT_RWLOCK, TR2P_WAIT_SPIN,
	TR2P_WAIT_COND, TR2P_WAIT_JOIN, TR2P_WAIT_BARRIER, TR2P_WAIT_SEM,
	TR2P_WAIT_FUTEX           /* tr2p_thread.wait never is one: threads without TLS of their own wait so, too */
};

struct tr2p_wait {
	enum tr2p_wait_kind kind;
	int error;                /* of the function; of some there was no wait */
	const void *object, *caller;
	uint64_t start_ns;
	struct tr2p_wait *outer;  /* that a signal's handler has interrupted, in which this one is */
};

/* Not 0: one of the two profiles is on.  Written by the functions that set rates. */
extern unsigned tr2p_g_waits;

static inline int tr2p_waits_are_on(void)
{
	/* relaxed: a flag; a wait that began before counts or does not */
	return __builtin_expect(tr2_load_rlx(&tr2p_g_waits) != 0, 0) != 0;
}

/*
 * A wait for an object begins in a function that was called from caller, and ends; error is what the function returns.
 * Thread any, no lock    Errno kept    Cost  a clock read each, and a sample now and then
 */
void tr2p_wait_begin(struct tr2p_wait *wait, enum tr2p_wait_kind kind, const void *object, const void *caller);
void tr2p_wait_end(struct tr2p_wait *wait);

/* Where the function returns to in which this stands. */
#define TR2P_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* The same around what follows in this scope; also if the thread is cancelled, for which -fexceptions is needed. */
#define TR2P_WAIT(kind, object, caller) \
	struct tr2p_wait wait __attribute__((cleanup(tr2p_wait_end))); \
	tr2p_wait_begin(&wait, (kind), (object), (caller))

/* Of what a wait with a timeout is given: would it wait, and not fail at once? */
static inline int tr2p_wait_is_time(const struct timespec *time)
{
	return time && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static inline int tr2p_wait_is_clock(clockid_t clock, const struct timespec *time)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && tr2p_wait_is_time(time);
}

/* ---- waiters of a lock ---------------------------------------------------------------------------- */

enum { TR2P_WAITERS_SLOTS = 1024, TR2P_WAITERS_TIME_BITS = 48, TR2P_WAITERS_WAYS = 2 };

/*
 * Who waits for one lock, or for another thing that is released.  It has one of two slots.  If others have both, who
 * waits is not counted: a slot of two would charge the one for waits of the other, which may last for hours.
 * state    above TIME_BITS how many wait now; below them nanoseconds: when each began, added up, less when each ended.
 *          So (how many * now - that) is the time that all have waited up to now
 * charged  what of that time has been charged
 */
struct tr2p_waiters {
	const void *lock;
	uint64_t state, charged;
};

extern struct tr2p_waiters tr2p_g_waiters[TR2P_WAITERS_SLOTS];

/* The first of its two. */
static inline struct tr2p_waiters *tr2p_waiters_of(const void *lock)
{
	uint64_t hash = (uint64_t)(uintptr_t)lock * UINT64_C(0x9e3779b97f4a7c15);

	return &tr2p_g_waiters[hash >> 55 << 1];
}
_Static_assert(TR2P_WAITERS_SLOTS == TR2P_WAITERS_WAYS << (64 - 55), "the hash has a value for each pair");

/* Does anybody wait for this lock, in this slot? */
static inline int tr2p_are_of(const struct tr2p_waiters *waiters, const void *lock)
{
	/* relaxed: a wait that begins at this moment is charged to the next release */
	return __builtin_expect(tr2_load_rlx(&waiters->state) >> TR2P_WAITERS_TIME_BITS != 0, 0) &&
	       tr2_load_rlx(&waiters->lock) == lock; /* relaxed: as above */
}

static inline int tr2p_is_awaited(const void *lock)
{
	const struct tr2p_waiters *waiters = tr2p_waiters_of(lock);

	return tr2p_are_of(waiters, lock) || tr2p_are_of(waiters + 1, lock);
}

/* The time to charge to the thread that releases it now.  Before it is released */
uint64_t tr2p_take_charge(const void *lock);

/* It has released nobody: the next one pays that time. */
void tr2p_put_back_charge(const void *lock, uint64_t ns);

/*
 * Charge it, once it is released, one in so many times as the program wants.  A handler may do that, on a small stack:
 * without room there is no sample.
 * Signal safe    Errno kept
 */
void tr2p_charge(uint64_t ns, const void *caller);

/* 1: that profile is on. */
int tr2p_wait_block_is_on(void);
int tr2p_wait_mutex_is_on(void);

/* ---- futexes -------------------------------------------------------------------------------------- */

typedef long tr2p_call_function(long, long, long, long, long, long, long);

/*
 * syscall(2) has been called for a futex, with these arguments: one that waits and one that wakes are counted.
 * Return  what next, the system call, returns, with its errno    Thread  any, no lock    Signal safe
 */
long tr2p_futex_call(tr2p_call_function *next, const void *caller, const long arguments[7]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2p_futex.c - waits for futexes by syscall(2), as C++'s atomics and Rust make them: see tr2p_wait.h.
 *
 * A call that does something else, and one of the profiler or of libtrace2, is passed on as it came.
 */
#include <errno.h>
#include <linux/futex.h>

#include "tr2p_thread.h"
#include "tr2p_wait.h"
#include "record/tr2_sample.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

enum what { WAITS, WAKES, ELSE };

static enum what what_of(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return WAITS;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_UNLOCK_PI:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		return WAKES;
	default:
		return ELSE;
	}
}

static inline __attribute__((always_inline)) long call(tr2p_call_function *next, const long a[7])
{
	return next(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* If the word has another value by now, or the call is wrong, nothing was waited for. */
static long wait_for(tr2p_call_function *next, const void *caller, const long a[7])
{
	long result;

	TR2P_WAIT(TR2P_WAIT_FUTEX, (const void *)a[1], caller);
	result = call(next, a);
	if (result < 0 && errno != ETIMEDOUT && errno != EINTR)
		wait.error = EINVAL;
	return result;
}

/* That somebody was woken says the result, but of the lock: its waiter has it then. */
static long wake(tr2p_call_function *next, const void *caller, const long a[7])
{
	const uint64_t charge = tr2p_take_charge((const void *)a[1]);
	const long result = call(next, a);

	if (result > 0 || (!result && (a[2] & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI))
		tr2p_charge(charge, caller);
	else
		tr2p_put_back_charge((const void *)a[1], charge);
	return result;
}

long tr2p_futex_call(tr2p_call_function *next, const void *caller, const long a[7])
{
	const enum what what = tr2p_is_inside() || tr2_sample_is_inside_v1() ? ELSE : what_of(a[2]);

	if (what == WAITS)
		return wait_for(next, caller, a);
	if (what == WAKES && tr2p_is_awaited((const void *)a[1]))
		return wake(next, caller, a);
	return call(next, a);
}

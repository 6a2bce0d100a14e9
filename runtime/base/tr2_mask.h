/* SPDX-License-Identifier: MIT */
/*
 * tr2_mask.h - the signal mask of the calling thread: blocking all signals, and what a mask tells of handlers.
 *
 * Between tr2_mask_all() and tr2_mask_restore() no signal handler of this thread runs, not even the C library's own
 * for cancellation and identities: the kernel's call is made, for the library's would leave out these two.  Nor is the
 * thread cancelled at what it calls there: the drain's lock would never be released.  These are the library's slow
 * paths, so what is done in between is not for ThreadSanitizer, either: see tr2_tsan.h.  But SIGSYS is not blocked: by
 * it a sandbox (seccomp(2)) does, or refuses, what a system call asks for, and where it is blocked the kernel ends the
 * process.
 *
 * May the calling code be a signal handler?  Nothing tells for certain.  While a handler runs, its signal is blocked;
 * so code that blocks no signal that has a handler is none.  A handler that does not block its own signal (SA_NODEFER)
 * is known not to run by other signs: it would have left its own stack (SA_ONSTACK), would be installed no more
 * (SA_RESETHAND, of a fault), or would block other signals (sa_mask).  Inside of one that is installed no more nothing
 * tells but that it was, when we last looked.  Threads that always block such signals, as workers do, look like
 * handlers for ever.  Where a mistake only costs time, what they block where it is known that no handler runs may be
 * left out: tr2_thread.ordinary_mask.
 *
 * Signal  safe    Errno kept, but by tr2_mask_may_be_handler()
 */
#ifndef TR2_MASK_H
#define TR2_MASK_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2_tsan.h"

/* Of the calling thread: how many are in each other, and whether it could be cancelled before the first. */
extern __thread struct tr2_masked { int depth, cancel; } tr2_masked __attribute__((tls_model("initial-exec")));

/* saved: what was blocked before.  Cost  80 ns each */
static inline void tr2_mask_all(uint64_t *saved)
{
	const uint64_t all = ~(UINT64_C(1) << (SIGSYS - 1));

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, saved, sizeof(all));
	tr2_tsan_hide();
	if (!tr2_masked.depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &tr2_masked.cancel);
}

static inline void tr2_mask_restore(const uint64_t *saved)
{
	if (!--tr2_masked.depth)
		pthread_setcancelstate(tr2_masked.cancel, NULL);
	tr2_tsan_show();
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, saved, NULL, sizeof(*saved));
}

/* What the calling thread blocks now.  Cost  80 ns */
static inline uint64_t tr2_mask_now(void)
{
	uint64_t mask = UINT64_MAX;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, sizeof(mask));
	return mask;
}

/*
 * A write that fails with this error has raised SIGPIPE or SIGXFSZ in its thread, where all signals are blocked: take
 * it back, for it would end the program.
 * pending  before the write: not ours
 */
void tr2_mask_take_back(int error, const sigset_t *pending);

/*
 * mask    what a thread blocks, but for what tr2_mask_all() blocked
 * Return  0: the thread runs none of the handlers that there are    Cost  5 us
 */
int tr2_mask_may_be_handler(uint64_t mask);

/* 1: the calling code is a handler on a stack of its own, which may be small.  Cost  100 ns */
int tr2_mask_is_on_own_stack(void);

/*
 * Look at the handlers that there are, for the answer inside of one that is gone when it has begun: before anything
 * else may call us in one.  Cost  5 us
 */
void tr2_mask_note_handlers(void);

#endif

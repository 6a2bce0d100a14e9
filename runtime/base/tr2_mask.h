/* SPDX-License-Identifier: MIT */
/*
 * tr2_mask.h - the signal mask of the calling thread: blocking all signals, and what a mask tells of handlers.
 *
 * Between tr2_mask_all() and tr2_mask_restore(), the library's slow paths, no signal handler of the program runs in
 * this thread, and nobody cancels the thread: it would never release the drain's lock.  ThreadSanitizer does not look
 * at what is done in between, see tr2_tsan.h.  A few signals stay open:
 *
 *   SIGSYS    A sandbox (seccomp(2)) answers system calls by it.  Where it is blocked the kernel ends the process.
 *   32, 33    glibc (musl: 32 to 34) talks to its threads by them.  setuid() and its like send one to each thread,
 *             hold a lock that pthread_create() takes, and wait until all have answered: for ever, if one blocks it.
 *
 * The drain's thread inherits this mask.  A call that finds its thread inside such a section has met itself: the
 * library has called a function of libc, and somebody stands in front of that who records.
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

#include "tr2_sys.h"
#include "tr2_tsan.h"

#ifdef __GLIBC__
#define TR2_SIGNALS_OF_LIBC (UINT64_C(3) << (32 - 1))
#else
#define TR2_SIGNALS_OF_LIBC (UINT64_C(7) << (32 - 1))
#endif

/* As the kernel says it: nobody blocks SIGKILL and SIGSTOP. */
#define TR2_MASK_ALL (~(TR2_SIGNALS_OF_LIBC | UINT64_C(1) << (SIGSYS - 1) | UINT64_C(1) << (SIGKILL - 1) | \
			UINT64_C(1) << (SIGSTOP - 1)))

/* Of the calling thread: how many are in each other, and whether it could be cancelled before the first. */
extern __thread struct tr2_masked { int depth, cancel; } tr2_masked __attribute__((tls_model("initial-exec")));

/* 1: the calling thread is in a slow path, or is the library's own.  Signal safe */
static inline int tr2_mask_is_inside(void)
{
	return tr2_masked.depth != 0;
}

/* The calling thread is the library's own, with this mask from its start to its end: it is always inside. */
static inline void tr2_mask_begin_library_thread(void)
{
	tr2_masked.depth = 1;
}

/*
 * saved: by tr2_mask_all().  1: the calling thread was born with the mask of the library's own thread and has not got
 * as far as tr2_mask_begin_library_thread(): who stands in front of pthread_create() records what begins there.
 */
static inline int tr2_mask_is_of_library(uint64_t saved)
{
	return saved == TR2_MASK_ALL && tr2_masked.depth == 1;
}

/*
 * The same where nothing is masked here: so begin libtrace2-prof's threads, too, in which a sanitizer allocates before
 * they get as far as to say that they are ours.  Cost  80 ns
 */
static inline int tr2_mask_is_newborn(void)
{
	uint64_t mask = 0;

	if (!tr2_masked.depth)
		tr2_sys_sigmask(NULL, &mask);
	return mask == TR2_MASK_ALL;
}

/* saved: what was blocked before.  Cost  80 ns each */
static inline void tr2_mask_all(uint64_t *saved)
{
	const uint64_t all = TR2_MASK_ALL;

	tr2_sys_sigmask(&all, saved);
	tr2_tsan_hide();
	if (!tr2_masked.depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &tr2_masked.cancel);
}

static inline void tr2_mask_restore(const uint64_t *saved)
{
	if (!--tr2_masked.depth)
		pthread_setcancelstate(tr2_masked.cancel, NULL);
	tr2_tsan_show();
	tr2_sys_sigmask(saved, NULL);
}

/* What the calling thread blocks now.  Cost  80 ns */
static inline uint64_t tr2_mask_now(void)
{
	uint64_t mask = UINT64_MAX;

	tr2_sys_sigmask(NULL, &mask);
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
 * else may call us in one.  Not at those of signals of real time: who catches these knows sigaction(2), while it is the
 * signal() of System V that has handlers go, and a question costs a short process as much as an event.  Cost  2 us
 */
void tr2_mask_note_handlers(void);

#endif

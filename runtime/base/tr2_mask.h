/* SPDX-License-Identifier: MIT */
/*
 * tr2_mask.h - blocks all signals in the calling thread, and judges by a signal mask whether a handler may be running.
 *
 * The library's slow paths run between tr2_mask_all() and tr2_mask_restore().  There no signal handler of the program
 * runs in this thread, and the thread cannot be cancelled: else it might never release the drain's lock.
 * ThreadSanitizer ignores what the thread does in between, see tr2_tsan.h.  A few signals stay open:
 *
 *   SIGSYS    A sandbox (seccomp(2)) answers system calls by it.  Where it is blocked the kernel ends the process.
 *   32, 33    glibc (musl: 32 to 34) sends them to its threads.  setuid() and its like send one to each thread,
 *             hold a lock that pthread_create() needs, and wait until all have answered: for ever, if one blocks it.
 *
 * The consumer thread inherits this mask.  A recording call may find its thread inside such a section: then the library
 * has called a function of libc, and another library intercepts that function and records.
 *
 * May the calling code be a signal handler?  No sign is certain.  A handler's signal is blocked while the handler runs.
 * So code is no handler if none of the signals that it blocks has a handler.  A handler with SA_NODEFER does not block
 * its signal, but it leaves other signs: it runs on its own stack (SA_ONSTACK), is no longer installed (SA_RESETHAND,
 * of a fault), or blocks other signals (sa_mask).  For a handler that is no longer installed the only sign is that it
 * was when the library last looked.
 *
 * A thread that always blocks signals with handlers, as workers do, looks like a handler for ever.  Where a mistake
 * only costs time, the caller may leave out what the thread blocked when it was known to run no handler:
 * tr2_thread.ordinary_mask.
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
 * saved: by tr2_mask_all().  1: the calling thread has the mask of the library's own thread and has not called
 * tr2_mask_begin_library_thread() yet: a library that intercepts pthread_create() records the beginning of that thread.
 */
static inline int tr2_mask_is_of_library(uint64_t saved)
{
	return saved == TR2_MASK_ALL && tr2_masked.depth == 1;
}

/*
 * The same where the caller has masked nothing.  libtrace2-prof's threads also begin so, and a sanitizer may allocate
 * in them before they report that they are the library's.  Cost  80 ns
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
	if (!tr2_masked.depth)
		tr2_tsan_deliver_signals();
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
 * A write that fails with this error has raised SIGPIPE or SIGXFSZ in its thread, where all signals are blocked.
 * Remove that signal, which would end the program.
 * pending  signals that were pending before the write: these stay
 */
void tr2_mask_take_back(int error, const sigset_t *pending);

/*
 * mask    what the thread blocks, without what tr2_mask_all() has blocked
 * Return  0: the thread runs no signal handler    Cost  5 us
 */
int tr2_mask_may_be_handler(uint64_t mask);

/* 1: the calling code is a handler on a stack of its own, which may be small.  Cost  100 ns */
int tr2_mask_is_on_own_stack(void);

/*
 * Note handlers that the kernel removes when they begin, for later calls of tr2_mask_may_be_handler().  Call it before
 * such a handler may record.  It leaves real-time signals out: programs catch these by sigaction(2), while such
 * handlers come from the signal() of System V; and each signal costs a short process as much as an event.  Cost  2 us
 */
void tr2_mask_note_handlers(void);

#endif

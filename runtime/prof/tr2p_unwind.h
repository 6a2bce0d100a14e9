/* SPDX-License-Identifier: MIT */
/*
 * tr2p_unwind.h - the stack of the calling thread.
 *
 * By libgcc's unwinder, which takes no lock with glibc from 2.35 on, or by frame pointers (TRACE2_PROF=...,unwind=fp),
 * where a frame begins with that of its caller and where it returns to: x86 and aarch64.  What it does not know - code
 * without unwind tables, a stack pointer that is not in the thread's stack - ends the stack.
 */
#ifndef TR2P_UNWIND_H
#define TR2P_UNWIND_H

#include <stdint.h>

#include "tr2p_thread.h"

enum { TR2P_FRAMES = 64, TR2P_FRAMES_MAX = 128 };   /* by default; at most */

struct tr2p_stack {
	unsigned n;
	/* the innermost first; of a call an address in it, one less than where it returns to */
	uintptr_t at[TR2P_FRAMES_MAX];
};

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define TR2P_HAS_FRAME_POINTERS
#endif

/* An address in the call that returns to this, as in a stack. */
static inline uintptr_t tr2p_call_of(const void *returns_to)
{
	uintptr_t at = (uintptr_t)returns_to;

#ifdef __arm__
	at &= ~(uintptr_t)1;   /* which says that it is Thumb code */
#endif
	return at - 1;
}

/* Have libgcc load what it needs, which takes a lock and memory.  Once, before the first.  frames  0: the default */
void tr2p_unwind_init(int by_frame_pointers, unsigned frames);

/*
 * The stack of the caller of the function that calls this, without skip more of the innermost: in an interposed
 * malloc(), 0 begins with who called malloc().
 * Signal safe
 */
void tr2p_unwind(struct tr2p_stack *stack, unsigned skip);

/* The same from where caller returns to on, however many of our own frames are in front.  Signal safe */
void tr2p_unwind_from(struct tr2p_stack *stack, const void *caller);

/*
 * Does this thread unwind a stack?  Then it is not to wait for a lock of libgcc: before version 13 that has one of the
 * code that a program has made and registered, and whoever has it may be this very thread, interrupted by a signal or
 * in a malloc() of libgcc itself.  It gives up instead, and the stack ends there.
 */
static inline int tr2p_is_unwinding(void)
{
	return __builtin_expect(tr2p_g_thread.unwinding != NULL, 0) != 0;
}

/* Of a lock that is not free: does not return if libgcc has called. */
void tr2p_unwind_give_up(const void *caller);

/*
 * The stack that a signal has interrupted; context is the handler's third argument.  Or, without a context, of one that
 * was waited for: from where caller returns to on.  Signal safe
 */
void tr2p_unwind_either(struct tr2p_stack *stack, const void *context, const void *caller);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2p_unwind.h - the stack of the calling thread.
 *
 * The walk goes by unwind tables, frame by frame (tr2p_step.h).  No table knows what a compiler makes at run time, and
 * some entries need a register whose value is lost: there the walk follows the frame pointer, if a call stands in front
 * of where the frame returns to.  Code of a module without a table was written in assembler, mostly without frame
 * pointers: on x86 the walk searches its return address.  TRACE2_PROF=unwind= selects only one of the two ways.
 *
 * Each read of a stack goes through tr2p_guard.h.  So stacks of coroutines and signals are walked, too, and a damaged
 * one harms nobody.  What cannot be had ends the stack.
 *
 * The profiler's own functions are left out, where it is a library of its own.  A stack of more functions than it may
 * have ends with the address TR2P_CUT.
 *
 * 32-bit ARM has other tables, which libgcc reads, without a guard.
 */
#ifndef TR2P_UNWIND_H
#define TR2P_UNWIND_H

#include <stdint.h>

#include "tr2p_thread.h"

enum { TR2P_FRAMES = 64, TR2P_FRAMES_MAX = 128 };   /* by default; at most */
enum { TR2P_CUT = 0, TR2P_STACK_MAX = TR2P_FRAMES_MAX + 1 };

/* By tables, and by frame pointers where these end; only one of them. */
enum tr2p_way { TR2P_BY_BOTH, TR2P_BY_FRAME_POINTERS, TR2P_BY_TABLES };

struct tr2p_stack {
	unsigned n;
	/* the innermost first; of a call an address in it, one less than where it returns to */
	uintptr_t at[TR2P_STACK_MAX];
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

/* The innermost frame of a stack is this one from here on.  If the stack is full, it loses its outermost function. */
void tr2p_unwind_put_in_front(struct tr2p_stack *stack, uintptr_t at);

/* Find libgcc, and have it load what it needs.  Once, before the first walk.  frames  0: the default */
void tr2p_unwind_init(enum tr2p_way way, unsigned frames);

/*
 * The stack of the caller of the function that calls this, without skip more of the innermost: in an interposed
 * malloc(), 0 begins with who called malloc().
 * Signal safe
 */
void tr2p_unwind(struct tr2p_stack *stack, unsigned skip);

/* The same from where caller returns to on, however many of our own frames are in front.  Signal safe */
void tr2p_unwind_from(struct tr2p_stack *stack, const void *caller);

/*
 * Is this thread in libgcc, for the profiler?  Then it is not to wait for libgcc's lock, which there is before version
 * 13: of the code that a program has made and registered.  Another thread may have it, which a forked child has not; or
 * on ARM, where libgcc walks all of the stack, this very one.  So it gives up: libgcc does not know the code, then.
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

/*
 * The stack of another thread, which is blocked at this place.  Tables have to stay meanwhile, see tr2p_unload.h.  If
 * the thread goes on during the walk, the stack may be wrong, but nothing faults.
 */
void tr2p_unwind_other(struct tr2p_stack *stack, uintptr_t pc, uintptr_t sp);

#endif

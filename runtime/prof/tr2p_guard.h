/* SPDX-License-Identifier: MIT */
/*
 * tr2p_guard.h - read memory that may not be there.
 *
 * A stack that the profiler walks may be damaged, and a register may hold anything.  So the profiler reads each word of
 * a stack through this guard.  It reads the calling thread's own stack directly, from the interrupted stack pointer up
 * to the stack's end.  It reads all else - a signal stack, a coroutine's, garbage - by process_vm_readv() of this
 * process, which copies or refuses, and never faults.
 *
 * A sandbox may refuse that call, as some containers do.  Then the guard asks about a page first, by a call that
 * changes nothing (tr2p_guard_is_there()).  It reads the page directly only if no correct program unmaps it meanwhile:
 * the stack that the thread runs on, which is the mapped pages from its stack pointer up, and code of loaded modules.
 * Of anything else it knows only whether it is there.
 *
 * tr2p_guard.c makes that system call in one place, and only for addresses outside of the own stack.  So under a
 * sandbox that kills at unknown calls, only threads on other stacks run that risk.
 */
#ifndef TR2P_GUARD_H
#define TR2P_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* How much one system call copies: the words of several frames. */
enum { TR2P_GUARD_PIECE = 512 };

struct tr2p_guard {
	uintptr_t low, high;          /* read directly from low up to high */
	uintptr_t chain, chain_end;   /* of frame pointers that a walk has followed ahead: the next one, and the last */
	uintptr_t sp;                 /* where a walk on a stack of unknown size begins; 0: that is not this walk */
	uintptr_t at;                 /* where the copy comes from */
	size_t n;                     /* and how much it has */
	unsigned char piece[TR2P_GUARD_PIECE];
};

/* Prepare a walk from this stack pointer, which the calling thread has or had when a signal interrupted it. */
void tr2p_guard_begin(struct tr2p_guard *guard, uintptr_t sp);

/* For a walk through the stack of another thread, which may go on, and end. */
void tr2p_guard_begin_other(struct tr2p_guard *guard);

/* 1: the page of this address can be read, at this moment.  One system call.  Signal safe    Errno kept */
int tr2p_guard_is_there(uintptr_t at);

/* 1: a sandbox has refused to copy memory, so of code outside of modules is known only whether it is there. */
int tr2p_guard_is_refused(void);

/* 1: the own stack, that needs no copy */
static inline int tr2p_guard_is_own(const struct tr2p_guard *guard, uintptr_t at)
{
	return at >= guard->low && at < guard->high && guard->high - at >= sizeof(uintptr_t);
}

/*
 * A word of a stack, at a multiple of its size.
 * Return  0: it cannot be read    Thread  any    Signal safe    Errno kept    Cost  own stack 1 ns, else 1 us a piece
 */
int tr2p_guard_word(struct tr2p_guard *guard, uintptr_t at, uintptr_t *word);

/*
 * Count how many of these n addresses, at most TR2P_GUARD_REACH, can be read, up to the first that cannot.  -1: the
 * kernel cannot be asked.  One system call, or one for each if a sandbox refuses that.  Signal safe    Errno kept
 */
enum { TR2P_GUARD_REACH = 4 };
int tr2p_guard_reach(const uintptr_t *at, unsigned n);

/* Read n bytes of any memory, such as code.  Return  0: not all of them can be read    Signal safe    Errno kept */
int tr2p_guard_copy(void *to, uintptr_t from, size_t n);

#endif

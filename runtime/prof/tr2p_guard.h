/* SPDX-License-Identifier: MIT */
/*
 * tr2p_guard.h - read memory that may not be there.
 *
 * A stack that the profiler walks may be damaged, and a register may hold anything.  So each word of it is read through
 * this: directly where the calling thread's own stack is known to be, from the stack pointer that was interrupted up to
 * the stack's end; anything else - a signal stack, a coroutine's, garbage - by process_vm_readv() on this very process.
 * That copies or refuses, and never faults.  Where the kernel has no such call, or a sandbox refuses it, nothing but
 * the own stack can be read.
 *
 * tr2p_guard.c makes that system call in one place, and only for addresses outside of the own stack: a sandbox that
 * kills at unknown calls meets it in threads only that run on other stacks.
 */
#ifndef TR2P_GUARD_H
#define TR2P_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* One system call copies so much: the words of several frames. */
enum { TR2P_GUARD_PIECE = 512 };

struct tr2p_guard {
	uintptr_t low, high;          /* read directly from low up to high */
	uintptr_t at;                 /* where the copy comes from */
	size_t n;                     /* and how much it has */
	unsigned char piece[TR2P_GUARD_PIECE];
};

/* For a walk that begins at this stack pointer, which the calling thread has or had when a signal came. */
void tr2p_guard_begin(struct tr2p_guard *guard, uintptr_t sp);

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
 * Of these n addresses, at most TR2P_GUARD_REACH, how many have a byte that can be read, up to the first that has none;
 * -1: the kernel cannot be asked.  One system call.  Signal safe    Errno kept
 */
enum { TR2P_GUARD_REACH = 4 };
int tr2p_guard_reach(const uintptr_t *at, unsigned n);

/* n bytes of anything, such as code.  Return  0: they cannot be read, all of them    Signal safe    Errno kept */
int tr2p_guard_copy(void *to, uintptr_t from, size_t n);

#endif

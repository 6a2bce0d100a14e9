/* SPDX-License-Identifier: MIT */
/* tr2p_room.c - how far it is to the end of the stack. */
#include "tr2p_room.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "tr2p_guard.h"
#include "tr2p_thread.h"

static enum tr2p_room judge(size_t left)
{
	if (left < TR2P_DEEPEST)
		return TR2P_ROOM_NONE;
	return left < 2 * TR2P_DEEPEST ? TR2P_ROOM_LITTLE : TR2P_ROOM_ENOUGH;
}

/* A stack that nobody knows: perhaps there is a page at its end that cannot be read.  Pages are larger than a step. */
static enum tr2p_room probe(uintptr_t top)
{
	/* In steps of half of it, which are smaller than any page */
	const uintptr_t down[] = { top - TR2P_DEEPEST / 2, top - TR2P_DEEPEST, top - TR2P_DEEPEST / 2 * 3,
				   top - 2 * TR2P_DEEPEST };

	switch (tr2p_guard_reach(down, 4)) {
	case 0:
	case 1:
		return TR2P_ROOM_NONE;
	case 2:
	case 3:
		return TR2P_ROOM_LITTLE;
	}
	return TR2P_ROOM_ENOUGH;              /* or memory cannot be asked about here */
}

/* Where the handler began: the context is the last that the kernel has put there, if it is not a copy of it. */
static uintptr_t top_of(const void *context)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return (uintptr_t)context - here < TR2P_DEEPEST / 2 ? (uintptr_t)context : here;
}

int tr2p_room_is_enough(void)
{
	const size_t needed = (size_t)8 << 10;    /* buffers of its own, too */
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const struct tr2p_thread *thread = &tr2p_g_thread;
	stack_t other;
	int saved = errno;

	if (here >= thread->stack_low && here < thread->stack_high)
		return here - thread->stack_low >= needed;
	if (sigaltstack(NULL, &other)) {
		errno = saved;
		return 1;
	}
	return here - (uintptr_t)other.ss_sp >= other.ss_size || here - (uintptr_t)other.ss_sp >= needed;
}

enum tr2p_room tr2p_room(const void *context)
{
	const stack_t *other = &((const ucontext_t *)context)->uc_stack;
	const struct tr2p_thread *thread = &tr2p_g_thread;
	const uintptr_t top = top_of(context);

	if (top - (uintptr_t)other->ss_sp < other->ss_size)
		return judge(top - (uintptr_t)other->ss_sp);
	if (top >= thread->stack_low && top < thread->stack_high)
		return judge(top - thread->stack_low);
	return probe(top);
}

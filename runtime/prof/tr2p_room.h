/* SPDX-License-Identifier: MIT */
/*
 * tr2p_room.h - does a handler's stack have room for a sample?
 *
 * A program may give handlers a stack of a few KiB (sigaltstack()), of which the kernel takes its part: 3.4 KiB on x86
 * with AVX-512.  On such a stack, or on what is left of any other, a sample has to fit.  tests/library/check_depth.sh
 * measures how deep samples go, and fails when they go deeper than TR2P_DEEPEST.
 */
#ifndef TR2P_ROOM_H
#define TR2P_ROOM_H

#include <stddef.h>

/* Bytes below what the kernel puts there, on the way that needs most, and a tenth.  Frames of s390x have 160 more. */
#ifdef __s390x__
enum { TR2P_DEEPEST = 5376 };
#else
enum { TR2P_DEEPEST = 3072 };
#endif

enum tr2p_room {
	TR2P_ROOM_NONE,               /* less than TR2P_DEEPEST: nothing is sampled */
	TR2P_ROOM_LITTLE,             /* less than twice that: where the program is, but not the stack */
	TR2P_ROOM_ENOUGH
};

/*
 * Of the stack that the calling handler runs on; context is its third argument.
 * Thread  any    Signal safe    Errno kept    Cost  5 ns; on a stack of unknown size, a coroutine's, a system call
 */
enum tr2p_room tr2p_room(const void *context);

/*
 * 1: the stack of the caller, which may be in a handler, has room for a sample with buffers of its own.  Stacks that
 * are neither the thread's nor a signal's, coroutines' say, are not judged.
 * Thread  any    Signal safe    Errno kept    Cost  a system call, not on the thread's own stack
 */
int tr2p_room_is_enough(void);

#endif

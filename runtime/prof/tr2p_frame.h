/* SPDX-License-Identifier: MIT */
/*
 * tr2p_frame.h - a frame pointer that nobody knows, found on the stack.
 *
 * Of a thread that is blocked the kernel tells the stack pointer and the program counter alone.  Where a function keeps
 * its frame by the frame pointer, unwind tables need that, too.  The frame lies above the stack pointer: a pair of the
 * caller's frame pointer and an address behind a call of that very function.  What earlier calls have left there may
 * look alike, but seldom as a call of this function.  Where none is found the stack ends: its innermost functions are
 * right, and who called them is not known.
 */
#ifndef TR2P_FRAME_H
#define TR2P_FRAME_H

#include "tr2p_unwind.h"

#ifdef TR2P_HAS_FRAME_POINTERS
#include "tr2p_guard.h"
#include "tr2p_regs.h"

/* Set the frame pointer of a stack of another thread.  Return  0: it is known, or there is none to be found */
int tr2p_frame_find(struct tr2p_regs *regs, struct tr2p_guard *guard);
#endif

#endif

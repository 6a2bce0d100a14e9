/* SPDX-License-Identifier: MIT */
/*
 * tr2p_frame.h - searches the stack of a blocked thread for its frame pointer.
 *
 * The kernel shows only the stack pointer and the program counter of a blocked thread.  The unwind tables of some
 * functions need the frame pointer, too.  Such a frame lies above the stack pointer: a pair of the caller's frame
 * pointer and an address behind a call of that very function.  Old data on the stack may look like a frame, but rarely
 * like one with a call of this function.  If no frame is found, the stack ends there: its innermost functions are
 * right, and their callers are unknown.
 */
#ifndef TR2P_FRAME_H
#define TR2P_FRAME_H

#include "tr2p_unwind.h"

#ifdef TR2P_HAS_FRAME_POINTERS
#include "tr2p_guard.h"
#include "tr2p_regs.h"

/* 1: a module has this address.  Signal safe, no lock */
int tr2p_frame_is_of_module(uintptr_t address);

/*
 * 1: code that no table knows may return to this address.  It lies in a function that a table knows, behind a call, and
 * that call does not go to a function that a table knows.
 * Signal safe
 */
int tr2p_frame_may_return_to(uintptr_t address);

/* Set the frame pointer of another thread's stack.  Return  0: it is known already, or cannot be found */
int tr2p_frame_find(struct tr2p_regs *regs, struct tr2p_guard *guard);
#endif

#endif

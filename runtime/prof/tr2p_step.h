/* SPDX-License-Identifier: MIT */
/*
 * tr2p_step.h - from a frame to that of its caller.
 *
 * A step uses unwind tables (tr2p_fde.h, tr2p_cfi.h), or frame pointers on x86 and aarch64, where a frame begins with
 * the caller's frame pointer and the return address.  It reads each word of a stack through tr2p_guard.h, whatever
 * registers hold.  So a damaged stack ends early, or has wrong frames, but nothing faults.
 */
#ifndef TR2P_STEP_H
#define TR2P_STEP_H

#ifndef __arm__
#include "tr2p_guard.h"
#include "tr2p_regs.h"

/* How a step by tables went. */
enum tr2p_step {
	TR2P_STEP_DONE,               /* the registers are the caller's now; else they are as before */
	TR2P_STEP_END,                /* there is no caller */
	TR2P_STEP_LOST,               /* the table needs what is not known, or cannot be read */
	TR2P_STEP_NO_TABLE            /* no table knows this code */
};

/* may_ask: as for tr2p_fde_find().  Signal safe */
enum tr2p_step tr2p_step_by_table(struct tr2p_regs *regs, struct tr2p_guard *guard, int may_ask);

/*
 * One step along frame pointers: the registers become the caller's, as far as they are known.
 * has_to_prove  1: accept the frame only if a call stands in front of its return address, for code that may use the
 *               register for something else.  Outside of the own stack that is checked anyway.
 * Return        0: there is none, or this machine's functions have none    Signal safe
 */
int tr2p_step_by_frame(struct tr2p_regs *regs, struct tr2p_guard *guard, int has_to_prove);

/*
 * One step out of code that no table knows, if a module has it: what was written in assembler for codecs and the like,
 * without directives for tables and mostly without frame pointers.  Such a function has saved at most a few registers,
 * so its return address is one of the next words: one behind a call, whose own frame leads to another such address.  A
 * frame pointer counts if its frame is nearer.
 * Return  0: there is none, or not on this machine
 */
int tr2p_step_without_table(struct tr2p_regs *regs, struct tr2p_guard *guard);

#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2p_step.h - from a frame to that of its caller.
 *
 * By unwind tables (tr2p_fde.h, tr2p_cfi.h), or along frame pointers, where a frame begins with that of its caller and
 * where it returns to: x86 and aarch64.  Each word of a stack is read through tr2p_guard.h, whatever registers say: a
 * damaged stack ends early, or has wrong frames, but nothing faults.
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
 * One step along frame pointers: the registers are the caller's then, as far as they are known.
 * has_to_prove  what the frame says is believed only if a call is in front of where it returns to: for code that may
 *               use the register for something else.  Outside of the own stack it is looked at anyway.
 * Return        0: there is none, or this machine's functions have none    Signal safe
 */
int tr2p_step_by_frame(struct tr2p_regs *regs, struct tr2p_guard *guard, int has_to_prove);

#endif
#endif

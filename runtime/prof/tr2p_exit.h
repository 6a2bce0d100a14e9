/* SPDX-License-Identifier: MIT */
/*
 * tr2p_exit.h - ends the trace of a process that does not call exit().
 *
 * _exit() and exec run no exit handlers.  The trace would stay in shared memory, a file for each process, and a program
 * that knows nothing of traces cannot end it.  So tr2p_exit.c intercepts these functions, quick_exit() and daemon().
 *
 * It does not end the trace
 * - of a vfork() child, which shares its parent's memory and trace;
 * - of a forked child that has recorded no sample: it has no trace, and should not begin one to end it;
 * - in a signal handler, or if exec may fail: it writes what was recorded, and more can follow.
 */
#ifndef TR2P_EXIT_H
#define TR2P_EXIT_H

#include <sys/types.h>
#include <unistd.h>

#include "base/tr2_atomic.h"

/* The process whose trace has to be ended.  A vfork() child finds its parent's id here.  0: none yet */
extern pid_t tr2p_g_recorder;

/* With the first profile; in a forked child; in the parent, behind fork(). */
void tr2p_exit_init(void);
void tr2p_exit_begin_child(void);
void tr2p_exit_after_fork(void);

/* A sample is recorded.  Signal safe */
static inline void tr2p_exit_note(void)
{
	/* relaxed: a number by itself, of this process */
	if (__builtin_expect(!tr2_load_rlx(&tr2p_g_recorder), 0))
		tr2_store_rlx(&tr2p_g_recorder, getpid()); /* relaxed: as above */
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2p_exit.h - the end of a process that does not call exit(): the trace is ended before it.
 *
 * The program knows nothing of a trace, and of what ends it nothing happens in _exit() and in exec: it would stay in
 * shared memory, a file for each process.  So tr2p_exit.c stands in front of these, quick_exit() and daemon().
 *
 * Not ended is the trace
 * - of a child of vfork(), which has its parent's memory, and its trace;
 * - of a forked child that has recorded no sample: there is none, and it shall not begin for its end;
 * - in a signal's handler, and if exec may fail: what was recorded is written, and more can follow.
 */
#ifndef TR2P_EXIT_H
#define TR2P_EXIT_H

#include <sys/types.h>
#include <unistd.h>

#include "base/tr2_atomic.h"

/* Whose trace is to be ended: not a child's of vfork(), which sees its parent's id here.  0: nobody's yet */
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

/* SPDX-License-Identifier: MIT */
/*
 * t2x_collect.h - what the processes of `t2 record' have left in their ring files, because they ended by exec, _exit()
 * or a signal: it goes into their trace.
 *
 * Theirs are those who have the command among their ancestors, as the session id says, or who wrote to the file that
 * the command has made.  Who still runs is left alone, and goes on writing: so a trace is only appended to, and a ring
 * file goes when what it had is in the trace.  Where the trace has more than the ring file knows of, for the process
 * died between the two, both stay as they are.
 */
#ifndef T2X_COLLECT_H
#define T2X_COLLECT_H

#include <stdint.h>
#include <sys/types.h>

struct t2x_window;

struct t2x_collecting {
	const char *output;               /* the trace, or the directory of traces */
	int is_directory;
	int has_kernel;                   /* samples may have functions of the kernel */
	pid_t pid;                        /* of the command, not waited for yet if it is our child */
	uint64_t begun;                   /* before it: CLOCK_BOOTTIME in ns */
	struct t2x_window *window;        /* when it is recorded; NULL: always */
};

/* The clock of begun. */
uint64_t t2x_collect_clock(void);

/* 1: a process with this session id is the process, or below it. */
int t2x_collect_is_below(const char *sid, pid_t pid);

/* The command has ended.  What could not be collected is reported on stderr, and stays. */
void t2x_collect(const struct t2x_collecting *collecting);

#endif

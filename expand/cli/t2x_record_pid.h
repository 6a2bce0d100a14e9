/* SPDX-License-Identifier: MIT */
/*
 * t2x_record_pid.h - `t2 record --pid': records a process that runs already, and those below it.
 *
 * It has a control page, see t2x_switch.h: `t2 record --dormant' or TRACE2_CTL=1 has prepared it.  A dormant process
 * begins a trace; one that has a trace goes on in it.  The recording ends after a time, with the process, or when the
 * user ends us; the process is then as it was.
 */
#ifndef T2X_RECORD_PID_H
#define T2X_RECORD_PID_H

#include <stdint.h>

struct t2x_record_pid {
	const char *pid;                  /* as the user has it */
	const char *output;               /* NULL: by the name of the process */
	const char *profiles;             /* words of TRACE2_PROF that can be started now */
	int is_implied;                   /* the user has asked for none: a process without the profiler will do */
	uint64_t delay_ms, seconds_ms;    /* 0: at once; until the user ends it */
};

/* Return  the exit status */
int t2x_record_pid(const struct t2x_record_pid *wanted);

#endif

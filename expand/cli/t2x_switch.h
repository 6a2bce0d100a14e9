/* SPDX-License-Identifier: MIT */
/*
 * t2x_switch.h - the processes of a recording, switched on and off by their control pages.
 *
 * They are one process and those below it, as their session ids say.  Processes come and go, so the caller switches
 * again and again: each call looks for control pages, and asks only processes that are new or in the wrong state.
 * Switching on turns on a process that is dormant or off; in one that records already it only starts profiles.
 * Switching off restores the former state: it stops the profiles that were started here, and turns off the processes
 * that were turned on here, which then write all that they have recorded.
 */
#ifndef T2X_SWITCH_H
#define T2X_SWITCH_H

#include <stdint.h>
#include <sys/types.h>

struct t2x_switched;

struct t2x_switch {
	pid_t root;                       /* the process */
	const char *path;                 /* the trace of a dormant process; an absolute path */
	const char *profiles;             /* words of TRACE2_PROF that can be started now; "": none */
	int may_lack_profiler;            /* a process without libtrace2-prof is recorded without a warning */
	int is_of_all;                    /* _off() is for processes that were not switched on here, too */
	struct t2x_switched *items;       /* control pages that were seen */
	unsigned n, space;
	int has_reported;                 /* one process that refuses is enough */
};

/*
 * t2x_switch_look()  what the root does now
 *                    is_new  1: it is dormant, and a new trace would begin    file  else the one that it has
 * t2x_switch_root()  switch it on, in front of all others
 * Return  NULL; or why it cannot be done, in words: then it is as it was
 */
const char *t2x_switch_look(struct t2x_switch *these, int *is_new, char *file, unsigned long size);
const char *t2x_switch_root(struct t2x_switch *these);

/* Switch all on, or off, that are not.  Refusals are reported on stderr.  Return  0 or -ENOMEM */
int t2x_switch_on(struct t2x_switch *these);
int t2x_switch_off(struct t2x_switch *these);

void t2x_switch_free(struct t2x_switch *these);

#endif

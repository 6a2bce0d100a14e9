/* SPDX-License-Identifier: MIT */
/*
 * t2x_profile.h - how often, and how long, each distinct stack of regions was: what folded and pprof are made of.
 *
 * A stack is a node: a frame within another stack.  Nodes count the regions that were left, and the time in them but
 * outside of regions in them, of those whose duration is certain.  Memory: distinct stacks, however long the trace is.
 */
#ifndef T2X_PROFILE_H
#define T2X_PROFILE_H

#include "t2x_stacks.h"
#include "t2x_tracks.h"

/* A thread of a process: those of one name and process id are one. */
struct t2x_profile_thread {
	uint32_t pid;
	char name[25];
};

struct t2x_profile {
	struct t2x_tracks tracks;
	int by_thread;            /* the outermost stacks are threads */
	uint64_t first_ns, last_ns;   /* of events; first 0: there was none */
	uint64_t lost;            /* events */
	struct t2x_stacks stacks;
	uint32_t threads, max_threads;
	struct t2x_profile_thread *thread;   /* by number - 1 */
	struct t2x_index thread_index;
};

/* Of printer->own.  Return  0 or -ENOMEM */
int t2x_profile_begin(struct t2x_printer *printer, int by_thread);

/* Takes any event, unresolved ones too. */
void t2x_profile_event(struct t2x_printer *printer, const struct t2x_event *ev);

void t2x_profile_free(struct t2x_printer *printer);

#endif

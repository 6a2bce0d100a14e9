/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_gathered.h - what the files of the firefox format share: what is gathered of a trace until it is printed.
 *
 * The format has a table for each thread, and each table has its columns one behind the other: nothing of it can be
 * printed before the last event is known.  Until then all markers and changes of stacks are rows of a few bytes
 * (t2x_firefox_rows.h; about 15 for a region, 12 for a number, and the texts of messages), in a temporary file if they
 * are many; in memory are names and distinct stacks, once.  What is printed is not in memory.
 */
#ifndef T2X_FIREFOX_GATHERED_H
#define T2X_FIREFOX_GATHERED_H

#include "t2x_firefox_rows.h"
#include "profile/t2x_prof_kinds.h"
#include "profile/t2x_stacks.h"
#include "profile/t2x_processes.h"

struct t2x_firefox_counter {
	struct t2x_firefox_counter *next;
	uint32_t name;                  /* number of a frame */
	struct t2x_firefox_rows points;
};

struct t2x_firefox_process {
	struct t2x_firefox_process *next;
	uint32_t pid, order;
	uint64_t start_ns, end_ns;      /* end: 0: it did not end */
	const struct t2x_traced *known;   /* has its name */
	struct t2x_map threads, counters;
	struct t2x_firefox_counter *first, **last;   /* of its counters, in the order of their first value */
};

struct t2x_firefox_thread {
	struct t2x_firefox_process *process;
	uint32_t tid;
	char name[25];
	uint64_t start_ns, end_ns;      /* end: 0: it did not end */
	uint64_t last_ns;               /* of its events */
	struct t2x_firefox_rows markers, stacks;
	const struct t2x_prof_kind *kind;     /* of the profile whose samples it has; NULL: it is of regions */
	char profile[64];               /* its name */
	unsigned rank;                  /* among the threads of the same number */
	struct t2x_firefox_rows weights;      /* of the samples */
	struct t2x_firefox_thread *sampled;   /* the next one with samples of that thread; NULL: there is none */
};

struct t2x_firefox {
	struct t2x_processes known;
	struct t2x_stacks stacks;
	struct t2x_spill spill;         /* of all rows */
	const struct t2x_frame *lost_frame;
	uint64_t zero_ns;               /* of all times: the millisecond when the first process began; 0: none did */
	uint64_t lost;                  /* events */
	struct t2x_firefox_process *processes;
	struct t2x_firefox_thread **threads;
	uint32_t thread_count, thread_max;
	struct t2x_out text_out;        /* for texts that are put together: to text */
	struct t2x_bytes text;
	int error;                      /* -ENOMEM, once there was no memory */
};

#endif

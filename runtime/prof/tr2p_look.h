/* SPDX-License-Identifier: MIT */
/*
 * tr2p_look.h - finds the stack of a blocked thread, from another thread.
 *
 * No signal and no debugger disturbs the thread.  /proc/self/task/TID/syscall shows its stack pointer and its program
 * counter, and tr2p_unwind_other() walks on from there.  In front of that stack the file puts the system call, of which
 * it shows the number (tr2p_calls.h).  Its CPU time is read before and after: if the thread has used
 * none in between, it has not run, and the stack is right.
 *
 * A file that a thread opens gets the lowest free number, and another thread that has just closed that number may count
 * on it.  So a separate thread opens these files, with descriptors of its own (close_range(2), unshare(2)).  It does
 * not have the descriptors by which libtrace2 writes, so it records nothing, and only answers.
 *
 * One thread asks, that of the wall clock.  While it waits, it knows what the files have to show of itself.  If they
 * show something else, as under emulators, the profiler does not use them.
 */
#ifndef TR2P_LOOK_H
#define TR2P_LOOK_H

#include <stdint.h>
#include <sys/types.h>

struct tr2p_bucket;
struct trace2_labels;

enum { TR2P_LOOK_NAME = 16 };

/* A thread, and what there is to be seen. */
struct tr2p_look {
	pid_t tid;
	uint64_t cpu_ns;                      /* its CPU time; of a blocked thread, when it was seen blocked */
	const struct trace2_labels *labels;
	enum {
		TR2P_LOOK_UNKNOWN,            /* nothing says where it is */
		TR2P_LOOK_RUNS,               /* or waits for a processor */
		TR2P_LOOK_BLOCKED
	} state;
	int call;                             /* the number of the system call that it is in; below 0: it is in none */
	struct tr2p_bucket *bucket;           /* of a blocked thread: its stack, in the profile "wall" */
	char name[TR2P_LOOK_NAME];            /* as the system knows it; "" */
};

/* Look at n threads.  The thread that does is created, if there is none and there may be one */
void tr2p_look_at(struct tr2p_look *looks, unsigned n);

/* That thread ends, and is joined. */
void tr2p_look_end(void);

/* In a forked child, which has no such thread. */
void tr2p_look_begin_child(void);

/* The CPU time of a thread.  Return  0: it has ended    Thread  any */
int tr2p_look_cpu(pid_t tid, uint64_t *ns);

/* Its name. */
#define TR2P_LOOK_COMM "trace2-look"

#endif

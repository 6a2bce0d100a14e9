/* SPDX-License-Identifier: MIT */
/*
 * tr2p_look.h - where a thread is that is blocked, seen from outside.
 *
 * The thread is not disturbed: no signal, no debugger.  /proc/self/task/TID/syscall shows its stack pointer and its
 * program counter, and tr2p_unwind_other() leads on from there.  Its CPU time before and behind all of that tells
 * whether what was read belongs together: a thread that has used none has not run.
 *
 * Files that a thread opens have the lowest free number, and another thread that has just closed it may count on that.
 * So a thread of its own opens them, with descriptors of its own (close_range(2), unshare(2)).  It has none of those
 * by which libtrace2 writes, so it records nothing: it looks for who asks.
 *
 * All of it is for one thread that asks, that of the wall clock.  While it waits, what the files say of that very
 * thread is known: where they say something else, as under emulators, they are not used.
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
	uint64_t cpu_ns;                      /* its CPU time; of who is blocked, when that was seen */
	const struct trace2_labels *labels;
	enum {
		TR2P_LOOK_UNKNOWN,            /* nothing says where it is */
		TR2P_LOOK_RUNS,               /* or waits for a processor */
		TR2P_LOOK_BLOCKED
	} state;
	struct tr2p_bucket *bucket;           /* of who is blocked: its stack, in the profile "wall" */
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

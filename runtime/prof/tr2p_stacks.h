/* SPDX-License-Identifier: MIT */
/*
 * tr2p_stacks.h - where all threads are now: the profile "threads".
 *
 * The caller sends each thread a signal, see tr2p_ask.h.  The thread takes a sample of its interrupted stack, in its
 * ring, with its labels.  The caller waits for the samples, but not for long: a thread that blocks the signal, is in a
 * system call that nothing interrupts, or was stopped by a debugger, is in the profile without its stack.
 */
#ifndef TR2P_STACKS_H
#define TR2P_STACKS_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "tr2p_unwind.h"
#include "tr2p_wait.h"

struct trace2_labels;

struct tr2p_stacks_thread {
	pid_t tid;                    /* 0: nothing is here */
	uint32_t state;               /* tr2p_stacks.c's */
	uint32_t question;            /* the number of what it was asked */
	char name[32];
	int has_stack;
	struct tr2p_stack stack;      /* the innermost function first */
	const struct trace2_labels *labels;
	int is_waiting;               /* in a function that tr2p_wait.h sees, if it is on */
	enum tr2p_wait_kind wait_kind;
	const void *wait_object;
	uint64_t wait_ns;             /* for so long */
};

/*
 * Take a sample of each thread; those of the last time are no longer in the profile.
 * threads  all n of them, the caller first; valid until tr2p_stacks_unlock()
 * Return   0 or an error number
 */
int tr2p_stacks_take(const struct tr2p_stacks_thread **threads, unsigned *n);

/* In the thread that is asked, see tr2p_ask.h.  An old question, or one already answered, changes nothing. */
void tr2p_stacks_answer(uint32_t what, const void *context, const void *caller);

/* One caller at a time: around all uses of the places.  fork() acquires the lock, too. */
void tr2p_stacks_lock(void);
void tr2p_stacks_unlock(void);

#endif

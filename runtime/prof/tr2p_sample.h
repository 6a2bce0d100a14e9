/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sample.h - take a sample: unwind, add it up in the process, record it in the trace.
 *
 *   tr2p_unwind (stack) -> tr2p_bucket (profile, stack, labels: totals) -> tr2_sample_v1() (the trace, if it is on)
 *
 * All of it works in a signal handler that interrupted any code, this one too: tables only grow, by compare and swap,
 * and nothing allocates.  Memory ordering:
 *
 *         release                         acquire                   what it orders
 *   [P1]  tr2p_module_of() publishes      tr2p_module_of()          a module before it is found
 *   [P2]  publish() in tr2p_bucket.c      tr2p_bucket_first()       a bucket before it is in its profile's list
 *   [P3]  tr2p_bucket_of() publishes      tr2p_bucket_of()          a bucket before it is found
 *   [P4]  put_profile()                   tr2p_profile_total()      a profile of the program's own before it is counted
 *   [P5]  init() in tr2p_init.c           tr2p_is_ready()           the profiler before threads ask for it
 *   [P6]  make_places()                   find_place()              the places for stacks of all threads
 *   [P7]  tr2p_live_put()                 tr2p_live_take()          what a slot has, before it is found
 *         tr2p_live_take()                claim()                   that it was read, before it is filled again
 *   [P8]  ask()                           find_place(),             a place for a stack before it is filled
 *                                         tr2p_stacks_answer()
 *   [P9]  tr2p_stacks_answer()            is_over()                 the stack in it
 *   [P10] set_programs()                  get_programs()            a copy before it is current, or filled in again
 *   [P11] tr2p_scratch_release()          tr2p_scratch_acquire()    what was done with an entry
 *   [P12] tr2p_unload_release()           begin_unload()            what a walk has read, before it is unloaded
 *         end_unload()                    tr2p_unload_hold()        that it is gone, before the next walk
 *   [P13] step_on() in tr2p_look.c        wait_while()              what the wall clock's thread asks, or is answered
 *   [P14] add_chunk() in tr2p_seen.c      at()                      memory of zeros for threads that are seen
 *   [P15] tr2p_rename_other()             tr2p_rename_count()       a thread's new name, before it is read
 *   [P16] tr2p_calls_module() publishes   tr2p_calls_module()       the module of a system call before it is found
 *   [P17] the kernel's write              tr2p_chains_head()        a stack of the kernel in the ring of a thread
 *   [P18] tr2p_kernel_add()               take() in tr2p_kernel.c   such a ring
 *         make_module()                   tr2p_kernel_module()      the kernel's module
 */
#ifndef TR2P_SAMPLE_H
#define TR2P_SAMPLE_H

#include <stdint.h>

#include "tr2p_bucket.h"
#include "tr2p_unwind.h"

/* What one sample adds. */
struct tr2p_amount {
	int64_t count, value;     /* as FORMAT.md section 8 says of each profile; below 0: freed */
	int64_t period;
	double scale;             /* how many such things it stands for; totals are of these */
};

/*
 * Take a sample of a stack, with the labels of the calling thread.
 * Return  its bucket; NULL: there is no memory for another one, and the trace has the sample without its stack
 * Thread  any, no lock    Signal safe    Errno kept    Cost  0.5 us, and for a new stack 5 us
 */
struct tr2p_bucket *tr2p_sample(unsigned profile, const struct tr2p_stack *stack, const struct tr2p_amount *amount);

/* The same, but it is not added up: for the trace only. */
void tr2p_sample_traced(unsigned profile, const struct tr2p_stack *stack, const struct tr2p_amount *amount);

/* tr2p_sample() for a stack that was sampled before, with the labels of that time: what was allocated is freed. */
void tr2p_sample_again(struct tr2p_bucket *bucket, const struct tr2p_amount *amount);

/* The bucket of a stack, with these labels, to which samples are added later.  Return  NULL: there is no memory */
struct tr2p_bucket *tr2p_sample_bucket(unsigned profile, const struct tr2p_stack *stack,
				       const struct trace2_labels *labels);

/* tr2p_sample_again() of another thread than the one that calls: as the trace calls it. */
struct tr2p_other {
	uint32_t tid;
	char name[32];
};

void tr2p_sample_of_other(struct tr2p_bucket *bucket, const struct tr2p_amount *amount,
			  const struct tr2p_other *other);

#endif

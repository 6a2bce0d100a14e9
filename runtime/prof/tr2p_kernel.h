/* SPDX-License-Identifier: MIT */
/*
 * tr2p_kernel.h - what the kernel does for a thread: its functions on top of the program's, in samples of CPU time.
 *
 * A tick comes when a thread leaves the kernel, so that it interrupts no call: then nobody can say any more where in
 * the kernel the thread has been.  So perf_event_open(2) has the kernel note its own stack four times in each period of
 * the ticks, in a ring for each thread, for as long as that thread is in the kernel.  No signal comes of it.  The tick
 * looks into the ring for stacks with which the thread came from the very place to which it returns now.  A tick behind
 * a system call of which the ring has none shows "[kernel]".  At other places, as behind a page that was missing, it is
 * the kernel's by chance, as often as the ring has stacks of the place among the times that it could have.
 *
 * The descriptor of a ring never is among the program's: a child that shares the memory opens and closes it.
 * Without leave (perf_event_paranoid, a sandbox) there are no functions of the kernel, and all else is as without this.
 */
#ifndef TR2P_KERNEL_H
#define TR2P_KERNEL_H

#include <stdint.h>
#include <sys/types.h>

struct tr2p_amount;
struct tr2p_module;
struct tr2p_stack;

/* It is wanted, before threads get timers.  Return  0; an error number: the system does not allow it */
int tr2p_kernel_start(void);

/*
 * A thread has ticks, in this period; it has none from here on.  The lock of tr2p_timers
 * Alloc   none
 */
void tr2p_kernel_add(pid_t tid, uint64_t period_ns);
void tr2p_kernel_remove(pid_t tid);

/* In a forked child, to which the kernel gives no rings. */
void tr2p_kernel_begin_child(void);

/*
 * Take samples of CPU time, in a tick with this context, whose stack has been unwound.
 * Thread  any, no lock    Signal safe    Errno kept
 */
void tr2p_kernel_sample(struct tr2p_stack *stack, const struct tr2p_amount *amount, const void *context);

/* The module of an address of the kernel.  Return  NULL: it is none    Signal safe */
const struct tr2p_module *tr2p_kernel_module(uintptr_t address);

#endif

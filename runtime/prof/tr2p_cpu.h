/* SPDX-License-Identifier: MIT */
/*
 * tr2p_cpu.h - the profiles "cpu" and "wall": ticks of timers, which are SIGPROF in the thread that they are about.
 */
#ifndef TR2P_CPU_H
#define TR2P_CPU_H

#include <signal.h>

#include "tr2p_timers.h"

/*
 * A thread has waited for this signal by sigwait() or a function like it, called from caller.  Sample it if it is a
 * tick.
 * Return  0: it is the program's
 */
int tr2p_cpu_take_waited(const siginfo_t *info, const void *caller);

/* 1: the clock runs. */
int tr2p_cpu_is_on(enum tr2p_clock clock);

/* The process ends: ticks are ignored from here on.  No lock    Signal safe */
void tr2p_cpu_end(void);

/* Around a fork: no thread starts or stops a clock meanwhile. */
void tr2p_cpu_lock(void);
void tr2p_cpu_unlock(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_vdso.h - the function by which the kernel lets a process read clocks without a system call (vdso(7)).
 *
 * clock_gettime() of libc calls the same function, but programs and libraries may define a clock_gettime() of their
 * own.
 */
#ifndef TR2_VDSO_H
#define TR2_VDSO_H

#include <time.h>

typedef int tr2_vdso_clock(clockid_t clock, struct timespec *now);

/* Return  NULL: this kernel has none, or an emulator hides it    Cost  1 us */
tr2_vdso_clock *tr2_vdso_find_clock(void);

/*
 * Does the kernel compute CLOCK_MONOTONIC from the time stamp counter?  Behind the function lie the numbers from which
 * it computes.  Where they lie is not part of the kernel's interface, so they are only believed if they say that the
 * counter is their clock, and the counter and they give the time that the function gives.  Do not ask where the process
 * may not read the counter (prctl(PR_GET_TSC)).
 *
 * is_readable  1 if the word is in memory: of the kernel's pages there some have nothing behind them
 * Return  1: yes; 0: no, or nobody knows: ask /sys, which takes ten times as long
 * Signal safe    Cost  1 us
 */
int tr2_vdso_trusts_counter(tr2_vdso_clock *clock, int (*is_readable)(const void *word));

/* For tests.  The same of numbers at this address, in the order of the kernel's struct that has `mult` there. */
int tr2_vdso_agrees(const void *numbers, unsigned mult_at, tr2_vdso_clock *clock);

#endif

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

#endif

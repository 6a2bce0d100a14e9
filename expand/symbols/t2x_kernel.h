/* SPDX-License-Identifier: MIT */
/*
 * t2x_kernel.h - the names of the kernel's functions, as /proc/kallsyms has them.
 *
 * Its addresses are others after each start of the system.  So the module of a sample carries the id of the start, and
 * only the kernel of that very start is asked: see TLG_KERNEL.  What `t2 record' has written at the end of the trace
 * comes first (t2x_jit_files.h).  Names end with "_[k]", by which programs that draw stacks know the kernel.
 *
 * The kernel shows zeros instead of addresses to those whom it does not trust (kptr_restrict): then there are no names.
 */
#ifndef T2X_KERNEL_H
#define T2X_KERNEL_H

#include "t2x_jit.h"

/* Of the id of a start: digits, and the NUL. */
enum { T2X_KERNEL_BOOT = 33 };

/* The id of the present start.  Return  0: it is not to be had */
int t2x_kernel_boot(char boot[T2X_KERNEL_BOOT]);

/* Add the functions of a text as /proc/kallsyms has it.  Return  0: there are none, or all are at address 0 */
int t2x_kernel_parse(struct t2x_jit *jit, const char *text, size_t n);

/*
 * Add the functions of the running kernel.
 * boot     the id of the start that is meant, in hex
 * Return   0: the running kernel was started another time, or does not show its addresses
 */
int t2x_kernel_read(struct t2x_jit *jit, const char *boot);

#endif

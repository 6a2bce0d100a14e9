/* SPDX-License-Identifier: MIT */
/*
 * tr2_memory.h - the library's own memory: tables that are large in case and small as a rule.
 *
 * One mapping of which everybody takes a part, for a mapping costs a short process 3 us, and the program's allocator
 * is the program's.  What is taken is kept.  Memory comes with use, and reads as zeros.
 */
#ifndef TR2_MEMORY_H
#define TR2_MEMORY_H

#include <stddef.h>

/*
 * Of a large static variable, all zero at first: it lies behind the small ones, so that these share pages (where the
 * linker sorts, as for the shared library; six pages less).
 */
#define TR2_LARGE __attribute__((section(".bss.tr2_large")))

/*
 * Of what a process has to do with that is linked with the library and not traced, variables and functions, and of
 * what is read before anything around it is written: they lie where any program writes, and runs, at its start.  Four
 * page faults less; a page that is read before it is written is faulted in twice.
 */
#define TR2_NEAR __attribute__((section(".data")))
#define TR2_STARTUP __attribute__((section(".text.startup")))

/*
 * Addresses for so many bytes, a multiple of 64.  Return  NULL with errno: there is no room
 * Thread  any, once the first call has returned    Signal safe
 */
void *tr2_memory_take(size_t bytes);

#endif

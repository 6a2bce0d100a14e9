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
 * Addresses for so many bytes, a multiple of 64.  Return  NULL with errno: there is no room
 * Thread  any, once the first call has returned    Signal safe
 */
void *tr2_memory_take(size_t bytes);

#endif

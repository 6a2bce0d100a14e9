/* SPDX-License-Identifier: MIT */
/*
 * tr2_memory.h - the library's own memory: tables that may grow large, and are small as a rule.
 *
 * All take their parts of one mapping: a mapping costs a short process 3 us, and the program's allocator is the
 * program's.  Nothing is given back.  Pages are used when they are touched, and read as zeros.
 */
#ifndef TR2_MEMORY_H
#define TR2_MEMORY_H

#include <stddef.h>

/*
 * For large static variables that begin as zeros: they lie behind the small ones, so that these share pages.  Six pages
 * less, where the linker sorts sections, as for the shared library.
 */
#define TR2_LARGE __attribute__((section(".bss.tr2_large")))

/*
 * For variables and functions that every process touches which is linked with the library, traced or not, and for what
 * is read before anything near it is written: they lie in pages that a starting program touches anyway.  Four page
 * faults less; a page that is read before it is written is faulted in twice.
 */
#define TR2_NEAR __attribute__((section(".data")))
#define TR2_STARTUP __attribute__((section(".text.startup")))

/*
 * Addresses for so many bytes, a multiple of 64; a page and more begin at a page's beginning.
 * Return  NULL with errno: there is no room
 * Thread  any, once the first call has returned    Signal safe
 */
void *tr2_memory_acquire(size_t bytes);

/* A mapping of its own, beside nothing else that is taken.  Return, thread, signal  as above */
void *tr2_memory_map(size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_memory.h - the library's own memory: tables that may grow large, and are small as a rule.
 *
 * All tables share one mapping, for each mapping costs a short process 3 us.  The library does not call the program's
 * allocator.  Nothing is released.  A page takes memory when it is first touched, and reads as zeros.
 */
#ifndef TR2_MEMORY_H
#define TR2_MEMORY_H

#include <stddef.h>

/*
 * For large static variables that begin as zeros.  They lie behind the small ones, so that the small ones share pages.
 * That saves six pages where the linker sorts sections, as it does for the shared library.
 */
#define TR2_LARGE __attribute__((section(".bss.tr2_large")))

/*
 * For variables and functions that every process with the library touches, traced or not, and for variables that are
 * read before anything near them is written.  They lie in pages that a starting program touches anyway.  That saves
 * four page faults: a page that is read before it is written costs two faults.
 */
#define TR2_NEAR __attribute__((section(".data")))
#define TR2_STARTUP __attribute__((section(".text.startup")))

/*
 * Addresses for so many bytes, a multiple of 64; a page and more begin at a page's beginning.
 * Return  NULL with errno: there is no room
 * Thread  any, once the first call has returned    Signal safe
 */
void *tr2_memory_acquire(size_t bytes);

/*
 * The same for other uses.  The pages that a short process touches lie close together, and the page tables that the
 * kernel makes for them are few.
 *
 * tr2_memory_acquire_beside()  a table begins where the last one has ended, in the same page.  That pays behind a small
 *                              one, of which all is used
 * tr2_memory_acquire_far()     a short process does not touch it, or only its first page
 * tr2_memory_acquire_last()    whole pages that the caller treats in another way (madvise(2)): the kernel divides the
 *                              mapping in two for them, not in three.  Once, while there is one thread
 */
void *tr2_memory_acquire_beside(size_t bytes);
void *tr2_memory_acquire_far(size_t bytes);
void *tr2_memory_acquire_last(size_t bytes);

/* Where the mapping begins that all tables share.  NULL: there is no room for it */
void *tr2_memory_begin(void);

/* A mapping of its own, beside nothing else that is taken.  Return, thread, signal  as above */
void *tr2_memory_map(size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_heap.h - the library's own heap, for live text outputs.
 *
 * The program's allocator is not ours to call: a handler may have interrupted it, a bare clone(2) have left it
 * locked, and it opens files.  Sizes are rounded up to powers of two, a freed piece is reused for its size;
 * what is larger than 128 KiB is mapped, and unmapped.  Nothing is opened or locked.
 *
 * Thread  one at a time: the holder of the drain's lock, or who sets up    Signal safe    Errno kept
 */
#ifndef TR2_HEAP_H
#define TR2_HEAP_H

#include <stddef.h>

/* As realloc(); to 0 bytes as free().  Return  aligned to 16 bytes; NULL: there is no memory, the old stays */
void *tr2_heap_resize(void *memory, size_t bytes);

/* As calloc(). */
void *tr2_heap_zeroed(size_t bytes);

/* All zero; at a page if that is the alignment, else at 16 bytes: several processors share nothing of this heap. */
void *tr2_heap_aligned(size_t alignment, size_t bytes);

/* In a forked child: what there is stays in place, in whatever state, and is never taken again. */
void tr2_heap_reset(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_heap.h - the library's own heap, for live text outputs.
 *
 * The library cannot call the program's allocator: a handler may have interrupted that, a bare clone(2) may have
 * left it locked, and it opens files.  This heap rounds sizes up to powers of two and reuses a freed piece for the
 * same size.  It maps and unmaps pieces larger than 128 KiB.  It opens no file and takes no lock.
 *
 * Thread  one at a time: the holder of the drain's lock, or the thread of the set-up    Signal safe    Errno kept
 */
#ifndef TR2_HEAP_H
#define TR2_HEAP_H

#include <stddef.h>

/* As realloc(); to 0 bytes as free().  Return  aligned to 16 bytes; NULL: there is no memory, the old piece stays */
void *tr2_heap_resize(void *memory, size_t bytes);

/* As calloc(). */
void *tr2_heap_zeroed(size_t bytes);

/* Zeroed memory: at a page if that is the alignment, else at 16 bytes, for no two processors use this heap at once. */
void *tr2_heap_aligned(size_t alignment, size_t bytes);

/* In a forked child: begin with an empty heap.  The parent's pieces stay as they are and are not reused. */
void tr2_heap_reset(void);

#endif

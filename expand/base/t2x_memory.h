/* SPDX-License-Identifier: MIT */
/*
 * t2x_memory.h - allocates memory: in t2expand from the C library, in a traced program from the tracer's own heap.
 *
 * Code that prints live text output runs in the traced program and must not call malloc().  A signal handler of the
 * tracer may have interrupted the program's allocator.  And an allocator may open files, as glibc's does
 * (/proc/sys/vm/overcommit_memory), and so get a descriptor that the program expects to be free.
 *
 * The functions do what malloc(), calloc(), realloc(), free(), strndup() and aligned_alloc() do; t2x_aligned() also
 * clears the memory.
 */
#ifndef T2X_MEMORY_H
#define T2X_MEMORY_H

#include <stddef.h>

/*
 * resize   as realloc(), to 0 bytes as free()    zeroed  as calloc()
 * aligned  as aligned_alloc(), to a page or less, all zero; bytes is a multiple of the alignment
 */
struct t2x_memory {
	void *(*resize)(void *memory, size_t bytes);
	void *(*zeroed)(size_t bytes);
	void *(*aligned)(size_t alignment, size_t bytes);
};

/* Allocate from this heap.  Call it before any other function of this header. */
void t2x_memory_use(const struct t2x_memory *memory);

void *t2x_malloc(size_t bytes);
void *t2x_calloc(size_t n, size_t size);
void *t2x_realloc(void *memory, size_t bytes);
void t2x_free(void *memory);
char *t2x_strndup(const char *text, size_t n);
void *t2x_aligned(size_t alignment, size_t bytes);

/*
 * Memory in cache lines of its own avoids false sharing: one processor often reads an object while another one writes
 * to its neighbour.  With --jobs, front end and back end run on different processors.  A cache line that one writes and
 * the other reads costs both of them more than the rest of the work on a checkpoint.
 */
enum { T2X_CACHE_LINE = 64 };

/* n, rounded up to whole cache lines. */
static inline size_t t2x_cache_line_bytes(size_t n)
{
	return (n + T2X_CACHE_LINE - 1) & ~((size_t)T2X_CACHE_LINE - 1);
}

/*
 * Allocate n bytes, all zero, in cache lines of their own; only t2x_cache_line_free() frees them.  The allocation costs
 * one line more than n.  aligned_alloc() would cost two or three, and leave holes that nothing else fits into.
 * Return  NULL: no memory
 */
void *t2x_cache_line_new(size_t n);
void t2x_cache_line_free(void *memory);

#endif

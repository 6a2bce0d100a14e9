/* SPDX-License-Identifier: MIT */
/*
 * t2x_memory.h - where memory comes from: in t2expand the C library, in a traced program the tracer's own heap.
 *
 * What serves the live texts must not call malloc(): the program's allocator is the program's, a signal handler may
 * have interrupted it, and it opens files (glibc's: /proc/sys/vm/overcommit_memory), on descriptors that the program
 * counts on.  As malloc(), calloc(), realloc(), free(), strndup() and aligned_alloc(), whose bytes read as zeros here.
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

/* From here on memory comes from there.  Before the first is taken. */
void t2x_memory_use(const struct t2x_memory *memory);

void *t2x_malloc(size_t bytes);
void *t2x_calloc(size_t n, size_t size);
void *t2x_realloc(void *memory, size_t bytes);
void t2x_free(void *memory);
char *t2x_strndup(const char *text, size_t n);
void *t2x_aligned(size_t alignment, size_t bytes);

/*
 * Memory in cache lines of its own, against false sharing: for what one processor reads all the time while another
 * writes to whatever lies beside it.  With --jobs the front end and the back end of the expander run on different
 * processors, and a cache line that one writes and the other reads costs both of them more than all the rest of the
 * work on a checkpoint.
 */
enum { T2X_CACHE_LINE = 64 };

/* n, rounded up to whole cache lines. */
static inline size_t t2x_cache_line_bytes(size_t n)
{
	return (n + T2X_CACHE_LINE - 1) & ~((size_t)T2X_CACHE_LINE - 1);
}

/*
 * n bytes, all zero, in cache lines of their own, for t2x_cache_line_free() only.  They cost one line more: memory that
 * the C library aligns costs two or three, and leaves holes that nothing else fits into.  Return  NULL: no memory
 */
void *t2x_cache_line_new(size_t n);
void t2x_cache_line_free(void *memory);

#endif

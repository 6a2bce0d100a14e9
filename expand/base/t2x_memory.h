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

#endif

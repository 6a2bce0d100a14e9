/* SPDX-License-Identifier: MIT */
/*
 * t2x_cache_line.h - memory in cache lines of its own, against false sharing: for what one processor reads all the time
 * while another writes to whatever lies beside it.
 *
 * With --jobs the reading half and the meaning half of the expander run on different processors.  A cache line
 * that one writes and the other reads costs both of them more than all the rest of the work on a checkpoint.
 */
#ifndef T2X_CACHE_LINE_H
#define T2X_CACHE_LINE_H

#include <stddef.h>

#include "t2x_memory.h"

enum { T2X_CACHE_LINE = 64 };

/* n, rounded up to whole cache lines. */
static inline size_t t2x_cache_line_bytes(size_t n)
{
	return (n + T2X_CACHE_LINE - 1) & ~((size_t)T2X_CACHE_LINE - 1);
}

/* n bytes, all zero, in cache lines of their own, for t2x_free().  Return  NULL: no memory */
static inline void *t2x_cache_line_new(size_t n)
{
	return t2x_aligned(T2X_CACHE_LINE, t2x_cache_line_bytes(n));
}

#endif

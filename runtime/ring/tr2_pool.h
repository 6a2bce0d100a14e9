/* SPDX-License-Identifier: MIT */
/*
 * tr2_pool.h - the chunks of the process, and who may have how much of them.
 *
 * The bound is on memory, in pages, not on chunks, which are mere addresses until they are taken: all threads together
 * have no more than TRACE2_RAW_MEMORY, and each has two of the shortest chunks besides, so that it can record while the
 * others have the rest.  A chunk has 2, 4, 8 or 16 pages: the more threads there are, the shorter, for each may stop at
 * any time and keep one.
 *
 * The chunk that was released last is acquired first: it is still in the caches.
 *
 * Thread  any, signals masked    Errno kept    Orders [M2]
 */
#ifndef TR2_POOL_H
#define TR2_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "tr2_shm.h"

enum {
	TR2_SHORT_PAGES = 2,              /* of the shortest chunk, the head's included */
	TR2_WHOLE_PAGES = 16,
};

/* An empty pool over the chunks of tr2_g_shm.  bytes  0: the default    Return  0 or -errno    Thread  alone */
int tr2_pool_init(size_t bytes);

/*
 * A chunk, committed, of about so many pages; fewer if there are no more, or more if there is no other.
 * held    pages that its thread has: one that has many leaves the last of the pool to the others
 * Return  index + 1; 0: none, all memory is taken, or the file system is full
 * Cost    40 ns if one is free, else 1 us for each page that is new
 */
uint32_t tr2_pool_acquire(unsigned pages, uint32_t held);

/* Give a chunk back. */
void tr2_pool_release(uint32_t chunk);

/* Pages that the chunk has, while it is taken. */
unsigned tr2_pool_pages(uint32_t chunk);

/* Links taken chunks into a list: index + 1 of the next, 0: there is none. */
uint32_t tr2_pool_next(uint32_t chunk);
void tr2_pool_link(uint32_t chunk, uint32_t next);

/* A thread begins to record, ends: 1, -1.  How many there are. */
void tr2_pool_count_thread(int change);
uint32_t tr2_pool_threads(void);

/* Pages of a chunk that is opened now; those that a thread may keep for good, as a flight recorder does. */
unsigned tr2_pool_share(void);
uint32_t tr2_pool_lasting_share(void);

/* Pages in all; 1: more than half of them are taken; 1: nearly all are. */
uint32_t tr2_pool_bound(void);
int tr2_pool_is_short(void);
int tr2_pool_is_used_up(void);

#endif

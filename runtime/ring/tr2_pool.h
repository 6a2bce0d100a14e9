/* SPDX-License-Identifier: MIT */
/*
 * tr2_pool.h - the chunks of the process, and how many of them a thread may have.
 *
 * The bound counts pages of memory, not chunks: a chunk is only a range of addresses until a thread acquires it.  All
 * threads together have at most TRACE2_RAW_MEMORY.  Each thread may have two of the shortest chunks besides, so that it
 * can record when the others have all the rest.  A chunk has 2, 4, 8 or 16 pages.  The more threads there are, the
 * shorter new chunks are, for each thread may stop at any time and keep its chunk.
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
 * Acquire a committed chunk of about so many pages: fewer if memory is short, more if only a longer one is free.
 * held    pages that its thread has, its current chunk taken for a shortest one: it must have another to leave that.
 *         A thread that has many gets nothing of the pool's last eighth
 * Return  index + 1; 0: all memory is in use, or the file system is full
 * Cost    40 ns if one is free, else 1 us for each page that is new
 */
uint32_t tr2_pool_acquire(unsigned pages, uint32_t held);

/* Release a chunk. */
void tr2_pool_release(uint32_t chunk);

/* Pages that an acquired chunk has. */
unsigned tr2_pool_pages(uint32_t chunk);

/* Link acquired chunks into a list: index + 1 of the next, 0: there is none. */
uint32_t tr2_pool_next(uint32_t chunk);
void tr2_pool_link(uint32_t chunk, uint32_t next);

/* A thread begins to record, ends: 1, -1.  How many there are. */
void tr2_pool_count_thread(int change);
uint32_t tr2_pool_threads(void);

/* How many pages a new chunk should have; how many a thread may keep for good, as those of a flight recorder do. */
unsigned tr2_pool_share(void);
uint32_t tr2_pool_lasting_share(void);

/* Pages that are acquired now; bound them anew, to as many as there are chunks for. */
uint32_t tr2_pool_taken(void);
void tr2_pool_set_bound(size_t bytes);

/* Pages in all; 1: more than half of them are in use; 1: nearly all are. */
uint32_t tr2_pool_bound(void);
int tr2_pool_is_short(void);
int tr2_pool_is_used_up(void);

#endif

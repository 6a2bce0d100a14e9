/* SPDX-License-Identifier: MIT */
/*
 * tr2p_live.h - sampled memory that is not freed yet, by its address.
 *
 * free() asks for every address whether it was sampled.  A filter answers first.  One of its bytes stands for 16 bytes
 * of memory, of all addresses with the same hash, and counts the samples there: nearly always it is 0.  Neighbouring
 * blocks have neighbouring bytes, so that the filter is in the cache for the blocks that the program has there.
 *
 * Behind the filter is a hash table of a fixed size, without a lock.  An address has one owner at a time, who adds it
 * before any other thread can know the address, and removes it before any other thread can get it.  So a handler may
 * interrupt anything here, and a forked child can use the table as it is.
 */
#ifndef TR2P_LIVE_H
#define TR2P_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/tr2_atomic.h"

struct tr2p_bucket;

struct tr2p_live {
	struct tr2p_bucket *bucket;
	size_t size, rate;            /* of the sample */
};

enum { TR2P_LIVE_MAX = 1 << 17, TR2P_FILTER = 1 << 18 };

extern unsigned char tr2p_g_filter[TR2P_FILTER];

/* 4 MiB of address space; memory as samples come.  Return  0 or an error number */
int tr2p_live_init(void);

static inline size_t tr2p_filter_of(const void *address)
{
	uintptr_t block = (uintptr_t)address >> 4;

	return (block ^ block >> 18) % TR2P_FILTER;
}

/* 0: this address was not sampled. */
static inline int tr2p_live_may_have(const void *address)
{
	/* relaxed: whoever handed the address on has ordered this, too */
	return tr2_load_rlx(&tr2p_g_filter[tr2p_filter_of(address)]) != 0;
}

/*
 * Put an address in, before anybody else knows it.
 * Return  1; 0: there is no slot left near by, which is counted
 * Thread  any, no lock    Signal safe
 */
int tr2p_live_put(const void *address, const struct tr2p_live *live);

/*
 * Take it out, before it is freed.
 * Return  1; 0: it was not sampled
 * Thread  any, no lock    Signal safe    Cost  50 ns
 */
int tr2p_live_take(const void *address, struct tr2p_live *live);

/* Samples that found no slot: they count as freed at once. */
uint64_t tr2p_live_lost(void);

#endif

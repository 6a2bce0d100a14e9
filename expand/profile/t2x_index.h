/* SPDX-License-Identifier: MIT */
/*
 * t2x_index.h - a hash table of numbers, for tables whose entries are numbered: names, stacks.
 *
 * The table compares hashes only: the owner compares the entry of each number that a search yields.  An attacker can
 * choose the names in a file, so hashes begin with t2x_index_seed(), which differs from run to run.
 */
#ifndef T2X_INDEX_H
#define T2X_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct t2x_index {
	struct t2x_index_slot { uint32_t hash, number; } *slots;   /* number 0: free */
	uint32_t mask;                    /* slots - 1, if there are slots */
	uint32_t count;
};

/* A search: at is where it goes on. */
struct t2x_index_search {
	uint32_t hash, at;
};

static inline struct t2x_index_search t2x_index_begin(uint32_t hash)
{
	return (struct t2x_index_search){ hash, hash };
}

/* The next number that was added with this hash.  Return  0: there are no more */
static inline uint32_t t2x_index_next(const struct t2x_index *index, struct t2x_index_search *search)
{
	if (!index->slots)
		return 0;
	for (;;) {
		const struct t2x_index_slot *slot = &index->slots[search->at++ & index->mask];
		if (!slot->number || slot->hash == search->hash)
			return slot->number;
	}
}

/* Add a number, not 0.  Return  0 or -ENOMEM: nothing has changed */
int t2x_index_add(struct t2x_index *index, uint32_t hash, uint32_t number);

void t2x_index_free(struct t2x_index *index);

/*
 * Room for one row more in the table itself, whose array doubles.
 * first  rows that it has at first    Return  0 or -ENOMEM: nothing has changed
 */
int t2x_index_room(void **rows, uint32_t count, uint32_t *max, uint32_t first, size_t size);

/* Hashes begin with this. */
uint64_t t2x_index_seed(void);

/* A hash of what had the hash seed, and of n bytes, or a number, more. */
uint64_t t2x_index_hash(uint64_t seed, const void *bytes, size_t n);
static inline uint64_t t2x_index_mix(uint64_t seed, uint64_t number)
{
	uint64_t x = (seed ^ number) * UINT64_C(0x9e3779b97f4a7c15);

	return x ^ x >> 29;
}

#endif

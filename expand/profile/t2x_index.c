/* SPDX-License-Identifier: MIT */
/* t2x_index.c - see t2x_index.h. */
#include "t2x_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { FIRST_SLOTS = 256 };

uint64_t t2x_index_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t seed = 1;

	if (random)
		memcpy(&seed, random, sizeof(seed));
	return seed;
}

uint64_t t2x_index_hash(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		seed = t2x_index_mix(seed, word);
	}
	for (; n; n--, p++)
		seed = t2x_index_mix(seed, *p);
	return t2x_index_mix(seed, 0x100);
}

static void put(struct t2x_index *index, struct t2x_index_slot slot)
{
	uint32_t at = slot.hash;

	while (index->slots[at & index->mask].number)
		at++;
	index->slots[at & index->mask] = slot;
}

/* Twice the slots. */
static int grow(struct t2x_index *index)
{
	uint32_t old = index->slots ? index->mask + 1 : 0, slots = old ? 2 * old : FIRST_SLOTS;
	struct t2x_index wider = { .mask = slots - 1, .count = index->count };

	if (slots < old)
		return -ENOMEM;
	wider.slots = calloc(slots, sizeof(wider.slots[0]));
	if (!wider.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < old; i++)
		if (index->slots[i].number)
			put(&wider, index->slots[i]);
	free(index->slots);
	*index = wider;
	return 0;
}

int t2x_index_add(struct t2x_index *index, uint32_t hash, uint32_t number)
{
	if ((!index->slots || index->count > index->mask / 2) && grow(index))
		return -ENOMEM;
	put(index, (struct t2x_index_slot){ hash, number });
	index->count++;
	return 0;
}

void t2x_index_free(struct t2x_index *index)
{
	free(index->slots);
	*index = (struct t2x_index){ 0 };
}

int t2x_index_room(void **rows, uint32_t count, uint32_t *max, uint32_t first, size_t size)
{
	uint32_t more = *max ? 2 * *max : first;
	void *grown;

	if (count < *max)
		return 0;
	grown = more > *max ? realloc(*rows, more * size) : NULL;
	if (!grown)
		return -ENOMEM;
	*rows = grown;
	*max = more;
	return 0;
}

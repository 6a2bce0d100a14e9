/* SPDX-License-Identifier: MIT */
/* t2x_map.c - open addressing; at most half of the slots are used, and no search is longer than T2X_MAP_REACH. */
#include "t2x_map.h"

#include <errno.h>
#include <string.h>

#include "t2x_memory.h"

enum { FIRST_BITS = 2, MAX_BITS = 24, TRIES = 8 };

/* The binary logarithm of the number of slots. */
static unsigned bits_of(const struct t2x_map *map)
{
	return 32 - map->shift;
}

/* Factors are odd.  The first one is the golden ratio, which spreads consecutive numbers. */
static uint32_t next_factor(uint32_t factor)
{
	return factor ? factor * UINT32_C(0x2c9277b5) + 0x6a09e668 : UINT32_C(0x9e3779b1);
}

/* Return  0: all slots within reach are used */
static int place(struct t2x_map *map, uint32_t key, void *value)
{
	uint32_t mask = map->nslots - 1, i = t2x_map_hash(map, key);

	for (unsigned steps = 0; map->slots[i].value && map->slots[i].key != key; i = (i + 1) & mask)
		if (++steps > T2X_MAP_REACH)
			return 0;
	map->count += !map->slots[i].value;
	map->slots[i].key = key;
	map->slots[i].value = value;
	return 1;
}

static int place_all(struct t2x_map *to, const struct t2x_map *from)
{
	for (uint32_t i = 0; i < from->nslots; i++)
		if (from->slots[i].value && !place(to, from->slots[i].key, from->slots[i].value))
			return 0;
	return 1;
}

/*
 * Move all entries into a table of 1 << bits slots.  If entries do not fit within reach, try another factor.
 * Return  0 or -ENOMEM
 */
static int rebuild(struct t2x_map *map, unsigned bits)
{
	struct t2x_map made = { .factor = bits == bits_of(map) ? next_factor(map->factor) : map->factor };

	if (!made.factor)
		made.factor = next_factor(0);
	for (unsigned tries = 0; bits + tries / TRIES <= MAX_BITS; tries++) {
		made.shift = 32 - (bits + tries / TRIES);
		made.count = 0;
		made.nslots = UINT32_C(1) << (bits + tries / TRIES);
		made.slots = t2x_calloc(made.nslots, sizeof(*made.slots));
		if (!made.slots)
			return -ENOMEM;
		if (place_all(&made, map)) {
			t2x_free(map->slots);
			*map = made;
			return 0;
		}
		t2x_free(made.slots);
		made.factor = next_factor(made.factor);
	}
	return -ENOMEM;
}

int t2x_map_put(struct t2x_map *map, uint32_t key, void *value)
{
	if (2 * (map->count + 1) > map->nslots && rebuild(map, map->slots ? bits_of(map) + 1 : FIRST_BITS))
		return -ENOMEM;
	for (unsigned tries = 0; !place(map, key, value); tries++)
		if (rebuild(map, bits_of(map) + tries / TRIES))
			return -ENOMEM;
	return 0;
}

void *t2x_map_search(const struct t2x_map *map, uint32_t key, const struct t2x_slot *first)
{
	uint32_t mask = map->nslots - 1, i = (uint32_t)(first - map->slots);

	for (unsigned steps = 0; map->slots[i].value; i = (i + 1) & mask) {
		if (map->slots[i].key == key)
			return map->slots[i].value;
		if (++steps > T2X_MAP_REACH)
			break;
	}
	return NULL;
}

/* An empty slot ends a search.  So an entry behind the removed one moves into its slot if a search would miss it. */
void t2x_map_remove(struct t2x_map *map, uint32_t key)
{
	uint32_t mask = map->nslots - 1, hole, i;

	if (!t2x_map_get(map, key))
		return;
	for (hole = t2x_map_hash(map, key); map->slots[hole].key != key || !map->slots[hole].value;)
		hole = (hole + 1) & mask;
	for (i = (hole + 1) & mask; map->slots[i].value && ((i - hole) & mask) <= T2X_MAP_REACH; i = (i + 1) & mask) {
		uint32_t home = t2x_map_hash(map, map->slots[i].key);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole].value = NULL;
	map->count--;
}

void t2x_map_free(struct t2x_map *map)
{
	t2x_free(map->slots);
	memset(map, 0, sizeof(*map));
}

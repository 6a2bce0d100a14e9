/* SPDX-License-Identifier: MIT */
/* t2x_map.c - open addressing, at most half full. */
#include "t2x_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 4, MAX_BITS = 24 };

static void place(struct t2x_map *map, uint32_t key, void *value)
{
	uint32_t mask = (UINT32_C(1) << map->bits) - 1, i = t2x_map_hash(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & mask;
	map->count += !map->slots[i].value;
	map->slots[i].key = key;
	map->slots[i].value = value;
}

static int grow(struct t2x_map *map)
{
	struct t2x_map larger = { .bits = map->slots ? map->bits + 1 : FIRST_BITS };

	if (larger.bits > MAX_BITS)
		return -ENOMEM;
	larger.slots = calloc((size_t)1 << larger.bits, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < t2x_map_slots(map); i++)
		if (map->slots[i].value)
			place(&larger, map->slots[i].key, map->slots[i].value);
	free(map->slots);
	*map = larger;
	return 0;
}

int t2x_map_put(struct t2x_map *map, uint32_t key, void *value)
{
	if (2 * (map->count + 1) > t2x_map_slots(map) && grow(map))
		return -ENOMEM;
	place(map, key, value);
	return 0;
}

void t2x_map_remove(struct t2x_map *map, uint32_t key)
{
	uint32_t mask = t2x_map_slots(map) - 1, hole, i;

	if (!t2x_map_get(map, key))
		return;
	for (hole = t2x_map_hash(map, key); map->slots[hole].key != key || !map->slots[hole].value;)
		hole = (hole + 1) & mask;
	map->slots[hole].value = NULL;
	map->count--;
	/* what was pushed behind by the one that has gone is placed again */
	for (i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
		struct t2x_slot moved = map->slots[i];
		map->slots[i].value = NULL;
		map->count--;
		place(map, moved.key, moved.value);
	}
}

void t2x_map_free(struct t2x_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

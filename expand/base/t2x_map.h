/* SPDX-License-Identifier: MIT */
/*
 * t2x_map.h - a hash table from 32-bit numbers to pointers: scopes, files, threads, streams.
 *
 * The numbers come from files, and whoever makes a file can choose numbers that collide.  So no search takes more than
 * T2X_MAP_REACH steps: before one would, the map rebuilds its table with another hash.
 */
#ifndef T2X_MAP_H
#define T2X_MAP_H

#include <stddef.h>
#include <stdint.h>

enum {
	T2X_MAP_ENTRY_BYTES = 48,     /* of memory for an entry at most, while a large map grows */
	T2X_MAP_REACH = 128,
};

/* All zero: an empty map. */
struct t2x_map {
	struct t2x_slot { void *value; uint32_t key; } *slots;
	unsigned shift;           /* of the hash */
	uint32_t factor;          /* of the hash; odd */
	uint32_t count;
	uint32_t nslots;          /* 1 << (32 - shift), or none */
};

/* The value, or NULL. */
static inline void *t2x_map_get(const struct t2x_map *map, uint32_t key);

/* Set the value of a key; value is not NULL.  Return  0; -ENOMEM: nothing has changed */
int t2x_map_put(struct t2x_map *map, uint32_t key, void *value);

/* Remove a key, if it is there. */
void t2x_map_remove(struct t2x_map *map, uint32_t key);

/* The i-th slot's value, NULL for an empty one; i counts up to t2x_map_slots(). */
static inline void *t2x_map_at(const struct t2x_map *map, uint32_t i)
{
	return map->slots[i].value;
}

static inline uint32_t t2x_map_slots(const struct t2x_map *map)
{
	return map->nslots;
}

/* Empty the map.  The caller frees the values. */
void t2x_map_free(struct t2x_map *map);

/* Where the search for a key begins. */
static inline uint32_t t2x_map_hash(const struct t2x_map *map, uint32_t key)
{
	return key * map->factor >> map->shift;
}

/* t2x_map_get() for a key that does not lie in the slot where its search begins. */
void *t2x_map_search(const struct t2x_map *map, uint32_t key, const struct t2x_slot *first);

/*
 * Most keys lie where their search begins.  A slot with the key and no value means that the key is not in the map: it
 * was removed, or the slot was never used and the key is 0.
 */
static inline void *t2x_map_get(const struct t2x_map *map, uint32_t key)
{
	const struct t2x_slot *first;

	if (!map->slots)
		return NULL;
	first = &map->slots[t2x_map_hash(map, key)];
	return first->key == key ? first->value : t2x_map_search(map, key, first);
}

#endif

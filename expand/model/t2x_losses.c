/* SPDX-License-Identifier: MIT */
/* t2x_losses.c - a hash table with open addressing, at most half full. */
#include "t2x_losses.h"


#include "base/t2x_memory.h"

enum { FIRST_SLOTS = 16 };

struct loss {
	uint64_t key;                /* tid << 32 | reason; 0: free, for reasons begin at 1 */
	uint64_t total;
};

struct t2x_losses {
	unsigned used, slots;        /* slots: a power of two */
	struct loss slot[];
};

/* The slot of key, or the free one where it belongs. */
static struct loss *find_slot(struct t2x_losses *losses, uint64_t key)
{
	uint64_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; i++) {
		struct loss *loss = &losses->slot[i & (losses->slots - 1)];

		if (!loss->key || loss->key == key)
			return loss;
	}
}

static size_t table_bytes(unsigned slots)
{
	return sizeof(struct t2x_losses) + slots * sizeof(struct loss);
}

static struct t2x_losses *new_table(unsigned slots, size_t *budget)
{
	struct t2x_losses *losses = table_bytes(slots) <= *budget ? t2x_calloc(1, table_bytes(slots)) : NULL;

	if (losses) {
		losses->slots = slots;
		*budget -= table_bytes(slots);
	}
	return losses;
}

/* A table with room for one more.  Return  0: there is none */
static int make_room(struct t2x_losses **losses, size_t *budget)
{
	struct t2x_losses *old = *losses, *more;

	if (old && 2 * (old->used + 1) <= old->slots)
		return 1;
	if (old && old->used >= T2X_LOSSES_KEPT)
		return 0;
	more = new_table(old ? 2 * old->slots : FIRST_SLOTS, budget);
	if (!more)
		return 0;
	for (unsigned i = 0; old && i < old->slots; i++) {
		if (old->slot[i].key)
			*find_slot(more, old->slot[i].key) = old->slot[i];
	}
	more->used = old ? old->used : 0;
	t2x_losses_free(old, budget);
	*losses = more;
	return 1;
}

uint64_t t2x_losses_update(struct t2x_losses **losses, size_t *budget, uint32_t tid, unsigned reason,
			   uint64_t total)
{
	uint64_t key = (uint64_t)tid << 32 | reason, added;
	struct loss *loss = *losses ? find_slot(*losses, key) : NULL;

	if (!loss || !loss->key) {
		if (!make_room(losses, budget))
			return 0;
		loss = find_slot(*losses, key);
		loss->key = key;
		(*losses)->used++;
	}
	if (total <= loss->total)
		return 0;
	added = total - loss->total;
	loss->total = total;
	return added;
}

uint64_t t2x_losses_total(const struct t2x_losses *losses, unsigned reason)
{
	uint64_t total = 0;

	for (unsigned i = 0; losses && i < losses->slots; i++)
		if (losses->slot[i].key && (uint32_t)losses->slot[i].key == reason)
			total += losses->slot[i].total;
	return total;
}

void t2x_losses_free(struct t2x_losses *losses, size_t *budget)
{
	if (losses)
		*budget += table_bytes(losses->slots);
	t2x_free(losses);
}

/* SPDX-License-Identifier: MIT */
/* tr2p_values.c - open addressing; a value that goes has those behind it move up, so that no slot is wasted. */
#include "tr2p_values.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

static size_t home_of(const struct tr2p_values *values, const void *value)
{
	return (size_t)(((uint64_t)(uintptr_t)value * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (values->max - 1);
}

/* Where a value is, or the free slot where it would be; there is one. */
static size_t find(const struct tr2p_values *values, const void *value)
{
	size_t at = home_of(values, value);

	while (values->slots[at].is_used && values->slots[at].value != value)
		at = (at + 1) & (values->max - 1);
	return at;
}

/* Have a quarter free, so that searches are short. */
static int make_room(struct tr2p_values *values)
{
	struct tr2p_values larger = { .count = values->count, .max = values->max ? 2 * values->max : FIRST_SLOTS };

	if (values->max && values->count < values->max / 4 * 3)
		return 0;
	larger.slots = calloc(larger.max, sizeof(*larger.slots));
	if (!larger.slots)
		return ENOMEM;
	for (size_t i = 0; i < values->max; i++)
		if (values->slots[i].is_used)
			larger.slots[find(&larger, values->slots[i].value)] = values->slots[i];
	free(values->slots);
	*values = larger;
	return 0;
}

int tr2p_values_add(struct tr2p_values *values, const void *value, struct tr2p_value **added)
{
	int error = make_room(values);
	size_t at;

	if (error)
		return error;
	at = find(values, value);
	if (values->slots[at].is_used)
		return EEXIST;
	values->slots[at] = (struct tr2p_value){ .value = value, .is_used = 1 };
	values->count++;
	*added = &values->slots[at];
	return 0;
}

/* Fill a slot with the next value that searches would not find behind it, then the slot of that one. */
static void close_gap(struct tr2p_values *values, size_t gap)
{
	size_t mask = values->max - 1;

	for (size_t at = (gap + 1) & mask; values->slots[at].is_used; at = (at + 1) & mask) {
		size_t home = home_of(values, values->slots[at].value);
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		values->slots[gap] = values->slots[at];
		gap = at;
	}
	values->slots[gap].is_used = 0;
}

int tr2p_values_remove(struct tr2p_values *values, const void *value, struct tr2p_bucket **bucket)
{
	size_t at = values->max ? find(values, value) : 0;

	if (!values->max || !values->slots[at].is_used)
		return 0;
	*bucket = values->slots[at].bucket;
	close_gap(values, at);
	values->count--;
	return 1;
}

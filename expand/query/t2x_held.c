/* SPDX-License-Identifier: MIT */
/* t2x_held.c - see t2x_held.h. */
#include "t2x_held.h"

#include <errno.h>
#include <stdlib.h>

int t2x_held_push(struct t2x_held *held, struct t2x_event_copy *copy)
{
	if (!held->items)
		held->items = calloc(T2X_HELD_MAX, sizeof(*held->items));
	if (!held->items)
		return -ENOMEM;
	held->items[held->next++ % T2X_HELD_MAX] = copy;
	held->bytes += copy->bytes;
	return 0;
}

struct t2x_event_copy *t2x_held_pop(struct t2x_held *held)
{
	struct t2x_event_copy *copy = held->items[held->first++ % T2X_HELD_MAX];

	if (copy)
		held->bytes -= copy->bytes;
	return copy;
}

struct t2x_event_copy *t2x_held_take(struct t2x_held *held, uint64_t number)
{
	struct t2x_event_copy *copy = t2x_held_get(held, number);

	if (!copy)
		return NULL;
	held->items[number % T2X_HELD_MAX] = NULL;
	held->bytes -= copy->bytes;
	return copy;
}

void t2x_held_trim(struct t2x_held *held)
{
	while (held->next > held->first && !held->items[(held->next - 1) % T2X_HELD_MAX])
		held->next--;
}

void t2x_held_free(struct t2x_held *held)
{
	free(held->items);
}

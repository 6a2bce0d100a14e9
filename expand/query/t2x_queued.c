/* SPDX-License-Identifier: MIT */
/* t2x_queued.c - see t2x_queued.h. */
#include "t2x_queued.h"

#include <errno.h>
#include <stdlib.h>

int t2x_queued_push(struct t2x_queued *queued, struct t2x_event_copy *copy)
{
	if (!queued->items)
		queued->items = calloc(T2X_QUEUED_MAX, sizeof(*queued->items));
	if (!queued->items)
		return -ENOMEM;
	queued->items[queued->next++ % T2X_QUEUED_MAX] = copy;
	queued->bytes += copy->bytes;
	return 0;
}

struct t2x_event_copy *t2x_queued_pop(struct t2x_queued *queued)
{
	struct t2x_event_copy *copy = queued->items[queued->first++ % T2X_QUEUED_MAX];

	if (copy)
		queued->bytes -= copy->bytes;
	return copy;
}

struct t2x_event_copy *t2x_queued_take(struct t2x_queued *queued, uint64_t number)
{
	struct t2x_event_copy *copy = t2x_queued_get(queued, number);

	if (!copy)
		return NULL;
	queued->items[number % T2X_QUEUED_MAX] = NULL;
	queued->bytes -= copy->bytes;
	return copy;
}

void t2x_queued_trim(struct t2x_queued *queued)
{
	while (queued->next > queued->first && !queued->items[(queued->next - 1) % T2X_QUEUED_MAX])
		queued->next--;
}

void t2x_queued_free(struct t2x_queued *queued)
{
	free(queued->items);
}

/* SPDX-License-Identifier: MIT */
/* fill.c - see fill.h. */
#include "fill.h"

#include <time.h>

#include "ring/tr2_thread.h"

static int has_much(const struct tr2_ring *ring)
{
	return tr2_ring_pages(ring) > (ring->max_pages ? ring->max_pages : tr2_pool_bound()) / 2;
}

int fill_chunk(void)
{
	const struct timespec pause = { 0, 100000 };
	const struct tr2_ring *ring = &tr2_self->ring;
	uintptr_t position = ring->hot->cur;
	static int timeouts;
	int is_full;

	for (int tries = 0; tries < 2000 && timeouts < FILL_TIMEOUTS && has_much(ring); tries++)
		nanosleep(&pause, NULL);
	is_full = has_much(ring);
	timeouts += is_full;
	if (!tr2_in_chunk(position, sizeof(struct tlg_event)))
		return is_full;
	tr2_ring_pad(position);
	ring->hot->cur = (uintptr_t)tr2_chunk_of(position) + TLG_CHUNK_BYTES;
	return is_full;
}

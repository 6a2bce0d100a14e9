/* SPDX-License-Identifier: MIT */
/* fill.c - see fill.h. */
#include "fill.h"

#include <time.h>

#include "tr2_env.h"
#include "tr2_thread.h"

static unsigned chunks_in_use(const struct tr2_ring *ring)
{
	unsigned used = 0;

	for (uint32_t k = 0; k < ring->nchunks; k++)
		/* relaxed: a hint */
		used += tr2_load_rlx(&tr2_shm_chunk(ring->chunks[k])->state) != TLG_CHUNK_FREE;
	return used;
}

void fill_chunk(void)
{
	const struct timespec pause = { 0, 100000 };
	const struct tr2_ring *ring = &tr2_self->ring;
	uintptr_t position = ring->hot->cur;

	for (int tries = 0; tries < 2000 && chunks_in_use(ring) > tr2_g_settings.ring_chunks / 2; tries++)
		nanosleep(&pause, NULL);
	if (!tr2_in_chunk(position, sizeof(struct tlg_event)))
		return;
	tr2_ring_pad(position);
	ring->hot->cur = (uintptr_t)tr2_chunk_of(position) + TLG_CHUNK_BYTES;
}

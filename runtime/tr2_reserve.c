/* SPDX-License-Identifier: MIT */
/* tr2_reserve.c - reserving when it is not simple. */
#include "tr2_reserve.h"

#include <errno.h>

#include "tr2_collect.h"
#include "tr2_drain.h"
#include "tr2_losses.h"
#include "tr2_wake.h"

void (*tr2_g_after_fork)(void);

struct tr2_thread *tr2_self_or_new(void)
{
	uint64_t mask;
	int saved = errno;

	if (tr2_self && !tr2_is_forked_child())
		return tr2_self;
	tr2_signals_block(&mask);
	if (tr2_is_forked_child())
		tr2_g_after_fork();
	if (!tr2_self && tr2_g_shm.head && !tr2_thread_begin("unknown"))
		tr2_losses_note(TLG_LOSS_NORING);
	tr2_signals_restore(&mask);
	errno = saved;
	return tr2_self;
}

/* The ring is full and the drain has freed nothing since that was found: no need to look again. */
static int drop_quickly(struct tr2_thread *self, uintptr_t position, unsigned events)
{
	if (self->drop_mark != tr2_collect_progress() || tr2_in_chunk(position, sizeof(struct tlg_event)))
		return 0;
	tr2_local_cas(&self->ring.hot->cur, position + events * sizeof(struct tlg_event), 0);
	tr2_ring_drop(&self->ring, events);
	return 1;
}

/* Signals masked.  In a new chunk; in one that is drained on the spot, if nobody else drains; or not at all. */
static struct tlg_event *reserve_or_drop(struct tr2_thread *self, unsigned events, uint64_t mask)
{
	int opened = 0;
	struct tlg_event *event = tr2_thread_reserve(self, events, &opened);

	if (!event && !tr2_wake_is_running() && tr2_drain_instead())
		event = tr2_thread_reserve(self, events, &opened);
	if (tr2_ring_is_worn(&self->ring) && !tr2_wake_may_be_in_handler(mask))
		tr2_ring_renounce(&self->ring, opened);
	if (opened && (tr2_ring_is_busy(&self->ring) || tr2_wake_is_running()))
		tr2_wake_chunk_opened(mask);
	if (event)
		return event;
	tr2_ring_drop(&self->ring, events);
	self->drop_mark = tr2_collect_progress();
	return NULL;
}

struct tlg_event *tr2_reserve_slow(uintptr_t position, unsigned events)
{
	struct tr2_thread *self = tr2_self_or_new();
	struct tlg_event *event;
	uint64_t mask;
	int saved = errno;

	if (!self || drop_quickly(self, position, events))
		return NULL;
	tr2_signals_block(&mask);
	if (tr2_in_chunk(position, sizeof(struct tlg_event)))
		tr2_ring_pad(position);
	event = reserve_or_drop(self, events, mask);
	tr2_signals_restore(&mask);
	errno = saved;
	return event;
}

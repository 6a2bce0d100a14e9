/* SPDX-License-Identifier: MIT */
/*
 * tr2_reserve.h - a place for a chain in the calling thread's ring.
 *
 * The common case is one add and one test.  Everything else is here in one place: a thread's first event, a forked
 * child's, a full chunk, a full ring.
 */
#ifndef TR2_RESERVE_H
#define TR2_RESERVE_H

#include <stddef.h>

#include "ring/tr2_thread.h"

/*
 * Self, with a ring if there is one to be had; else NULL, and what cannot be recorded is for the caller to count.
 * Signal safe    Cost  nothing, or 10 us the first time
 */
struct tr2_thread *tr2_self_or_new(void);

/* The same for samples, which come from threads that know nothing of Trace2: a new one has its name in the system. */
struct tr2_thread *tr2_self_or_new_by_system(void);

/*
 * What a chain is for: a checkpoint of a scope, 0 for one that it brings along, or more arguments of one that is
 * recorded already.  If the latter is dropped, the checkpoint is not lost but cut short.
 */
#define TR2_CHAIN_MORE UINT32_MAX

/* The rare cases.  position: what the add gave, 0 if there was none */
struct tlg_event *tr2_reserve_slow(uintptr_t position, unsigned events, uint32_t what);

/*
 * Reserve a chain of events, 1..TR2_ADDED_EVENTS, in self's ring.
 * Return  the first event: fill in all but the first header, then tr2_ring_commit().  NULL: dropped and counted
 * Signal  safe    Errno kept    Cost  2 ns; about 2 us once in 2,700 events
 */
static inline struct tlg_event *tr2_reserve(unsigned events, uint32_t what)
{
	struct tr2_thread *self = tr2_self;
	uintptr_t position = 0;

	if (__builtin_expect(self != NULL, 1)) {
		position = tr2_local_add(&self->ring.hot->cur, events * sizeof(struct tlg_event));
		if (__builtin_expect(tr2_in_chunk(position, events * sizeof(struct tlg_event)), 1))
			return (struct tlg_event *)position;
	}
	return tr2_reserve_slow(position, events, what);
}

/* The same of 1..TR2_CHAIN_EVENTS.  The position stays in its chunk, or becomes the chunk's end.  Cost 3 ns */
struct tlg_event *tr2_reserve_long(unsigned events, uint32_t what);

#endif

/* SPDX-License-Identifier: MIT */
/* t2x_seen.c - see t2x_seen.h. */
#include "t2x_seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void t2x_seen_free(struct t2x_seen *seen)
{
	for (uint32_t i = 0; i < t2x_map_slots(&seen->threads); i++)
		free(t2x_map_at(&seen->threads, i));
	t2x_map_free(&seen->threads);
}

static struct t2x_seen_thread *find_thread(struct t2x_seen *seen, uint32_t tid)
{
	struct t2x_seen_thread *thread = t2x_map_get(&seen->threads, tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread && t2x_map_put(&seen->threads, tid, thread)) {
		free(thread);
		return NULL;
	}
	return thread;
}

uint32_t t2x_seen_next(const struct t2x_seen *seen, uint32_t tid)
{
	const struct t2x_seen_thread *thread = t2x_map_get(&seen->threads, tid);

	return thread && thread->has_next ? thread->next : 1;
}

/* ---- ranges that were skipped ------------------------------------------------------------------- */

/* Numbers grow, and may wrap. */
static int is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* Forget range i.  The latest ones are the likeliest to be filled, so the oldest makes room. */
static void forget_range(struct t2x_seen_thread *thread, unsigned i)
{
	thread->nskipped--;
	memmove(&thread->skipped[i], &thread->skipped[i + 1], (thread->nskipped - i) * sizeof(thread->skipped[0]));
}

static void add_range(struct t2x_seen_thread *thread, uint32_t from, uint32_t to)
{
	if (from == to)
		return;
	if (thread->nskipped == T2X_SEEN_SKIPPED)
		forget_range(thread, 0);
	thread->skipped[thread->nskipped].from = from;
	thread->skipped[thread->nskipped++].to = to;
}

/* Return  1: these events had been skipped, and are not any more */
static int fill_range(struct t2x_seen_thread *thread, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < thread->nskipped; i++) {
		uint32_t start = thread->skipped[i].from, end = thread->skipped[i].to;

		if (is_before(from, start) || is_before(end, to))
			continue;
		forget_range(thread, i);
		add_range(thread, start, from);
		add_range(thread, to, end);
		return 1;
	}
	return 0;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* Context has the sequence of the checkpoint behind it, and is not counted. */
static int is_context(unsigned type)
{
	return type == TLG_FLOC || type == TLG_SLOC || type == TLG_THREAD || type == TLG_OPEN || type == TLG_GAP;
}

/* A chain, or one event of context, with its texts. */
struct unit {
	const struct tlg_event *events;
	unsigned n, type;
};

static struct unit unit_at(const struct t2x_block *block, unsigned at)
{
	struct unit unit = { &block->events[at], 1, tlg_event_type(&block->events[at]) };

	while (at + unit.n < block->count) {
		unsigned type = tlg_event_type(&unit.events[unit.n]);

		if (type != TLG_INFO && (type != TLG_VALUE || is_context(unit.type)))
			break;
		unit.n++;
	}
	return unit;
}

/* Whether the unit, whose sequence is known, was delivered with its checkpoint. */
static int is_delivered(const struct t2x_seen_thread *thread, uint32_t sequence)
{
	if (!thread->has_next || !is_before(sequence, thread->next))
		return 0;
	for (unsigned i = 0; i < thread->nskipped; i++)
		if (!is_before(sequence, thread->skipped[i].from) && is_before(sequence, thread->skipped[i].to))
			return 0;
	return 1;
}

/* The chain is about to be delivered. */
static void note_chain(struct t2x_seen_thread *thread, const struct unit *unit)
{
	uint32_t from = unit->events->sequence, to = from + unit->n;

	if (thread->has_next && is_before(from, thread->next)) {
		fill_range(thread, from, to);
		return;
	}
	if (thread->has_next)
		add_range(thread, thread->next, from);
	thread->next = to;
	thread->has_next = 1;
}

int t2x_seen_filter(struct t2x_seen *seen, const struct t2x_block *block, struct tlg_event *to)
{
	struct t2x_seen_thread *thread = find_thread(seen, block->tid);
	unsigned kept = 0;

	if (!thread)
		return -ENOMEM;
	for (unsigned at = 0; at < block->count;) {
		const struct unit unit = unit_at(block, at);
		int stays = unit.type == TLG_FLOC || unit.type == TLG_SLOC ||
			    !is_delivered(thread, unit.events->sequence);

		if (stays && !is_context(unit.type))
			note_chain(thread, &unit);
		if (stays)
			memcpy(&to[kept], unit.events, unit.n * sizeof(*to));
		kept += stays ? unit.n : 0;
		at += unit.n;
	}
	return (int)kept;
}

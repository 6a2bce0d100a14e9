/* SPDX-License-Identifier: MIT */
/* tlg_chain.c - see tlg_chain.h. */
#include "tlg_chain.h"

#include <string.h>

static int is_committed(const struct tlg_chunk *chunk, uint32_t event)
{
	return tlg_is_committed(chunk, chunk->events[event].sequence);
}

uint32_t tlg_chunk_chain(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit)
{
	const struct tlg_event *first = &chunk->events[event];
	uint32_t end = event + 1;

	if (!is_committed(chunk, event) || !tlg_begins_chain(tlg_event_type(first)))
		return 0;
	if (!(first->flags & TLG_HAS_INFO))
		return 1;
	for (; end < limit && is_committed(chunk, end) && tlg_is_argument(tlg_event_type(&chunk->events[end])); end++)
		if (chunk->events[end].flags & TLG_INFO_END)
			return end + 1 - event;
	return 0;
}

uint32_t tlg_chunk_find(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit)
{
	while (event < limit && !tlg_chunk_chain(chunk, event, limit))
		event++;
	return event;
}

/* ---- THREAD in a ring --------------------------------------------------------------------------- */

/* The order of the chain.  UNUSED: older writers say how many checkpoints the ring had dropped. */
enum { THREAD, UNUSED, LOST_EVENTS, ENTERS };

static unsigned text_events(size_t bytes)
{
	return (unsigned)(bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE;
}

unsigned tlg_announce_events(const struct tlg_announce *announce)
{
	return ENTERS + announce->nopen + text_events(strlen(announce->name));
}

static unsigned fill_value(struct tlg_event *event, uint64_t value)
{
	event->u.value = (struct tlg_value){ (int64_t)value, TLG_ARG_UINT, 0 };
	return TLG_VALUE;
}

static unsigned fill_name(struct tlg_event *event, const char *name)
{
	size_t length = strlen(name), n = length < TLG_TEXT_SIZE ? length : TLG_TEXT_SIZE;

	memset(&event->u.info, 0, TLG_TEXT_SIZE);
	memcpy(&event->u.info, name, n);
	return TLG_INFO | (n == length ? TLG_INFO_END : 0);
}

unsigned tlg_announce_fill(const struct tlg_announce *announce, const uint64_t *enters, unsigned i,
			   struct tlg_event *event)
{
	const unsigned names = ENTERS + announce->nopen;

	switch (i) {
	case THREAD:
		event->u.thread = (struct tlg_thread){ announce->tid, announce->ostid, announce->start };
		return TLG_THREAD | TLG_HAS_INFO;
	case UNUSED:
		return fill_value(event, 0);
	case LOST_EVENTS:
		return fill_value(event, announce->lost_events);
	default:
		return i < names ? fill_value(event, enters[i - ENTERS])
				 : fill_name(event, announce->name + (i - names) * TLG_TEXT_SIZE);
	}
}

static uint64_t value_at(const struct tlg_event *chain, unsigned values, unsigned i)
{
	return i < values ? (uint64_t)chain[i].u.value.value : 0;
}

void tlg_announce_read(struct tlg_announce *announce, const struct tlg_event *chain, unsigned n)
{
	unsigned values = 1, at = 0;

	while (values < n && tlg_event_type(&chain[values]) == TLG_VALUE)
		values++;
	*announce = (struct tlg_announce){
		.tid = chain->u.thread.tid, .ostid = chain->u.thread.ostid, .start = chain->u.thread.start,
		.lost_events = value_at(chain, values, LOST_EVENTS),
		.nopen = values > ENTERS ? values - ENTERS : 0,
	};
	for (unsigned i = values; i < n && tlg_event_type(&chain[i]) == TLG_INFO && at < TLG_THREAD_NAME;
	     i++, at += TLG_TEXT_SIZE)
		memcpy(announce->name + at, chain[i].u.info.text.c, TLG_TEXT_SIZE);
	announce->name[TLG_THREAD_NAME - 1] = '\0';
}

uint64_t tlg_announce_enter(const struct tlg_event *chain, unsigned i)
{
	return (uint64_t)chain[ENTERS + i].u.value.value;
}

/* SPDX-License-Identifier: MIT */
/*
 * tr2_chain.h - one chain, written straight into the ring: what every checkpoint with arguments goes through.
 *
 * All inline, as each user needs only a part of it.  The order is the ring's: reserve all events together, read the
 * clock, fill in the values and strings, and last the first event's header word.
 */
#ifndef TR2_CHAIN_H
#define TR2_CHAIN_H

#include "tr2_args.h"
#include "tr2_reserve.h"
#include "base/tr2_clock.h"

/* Bytes of strings that fit one chain, however many values are in front of them. */
enum {
	TR2_CHAIN_BYTES = (TR2_CHAIN_EVENTS - 1 - TR2_ARGS_VALUES) * TLG_TEXT_SIZE,
	TR2_SHORT_CHAIN_BYTES = (TR2_ADDED_EVENTS - 1 - TR2_ARGS_VALUES) * TLG_TEXT_SIZE,
};

/* The raw clock; here and not by a call where the public inline path may read it too. */
static inline uint64_t tr2_chain_clock(void)
{
#ifdef TRACE2_HAS_INLINE_
	if (__builtin_expect(tr2_hot_v1 != NULL, 1))
		return trace2_ticks_v1_();
#endif
	return tr2_clock_raw();
}

/* At most 16 bytes, by two stores that overlap: a call of memcpy() would cost as much as the rest. */
static inline void tr2_chain_copy(char *to, const char *from, size_t n)
{
	uint64_t first, last;
	uint32_t first4, last4;

	if (n >= 8) {
		memcpy(&first, from, 8);
		memcpy(&last, from + n - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + n - 8, &last, 8);
	} else if (n >= 4) {
		memcpy(&first4, from, 4);
		memcpy(&last4, from + n - 4, 4);
		memcpy(to, &first4, 4);
		memcpy(to + n - 4, &last4, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
	}
}

/* The header word of an event that follows its chain's first one: not published by itself. */
static inline void tr2_chain_head(struct tlg_event *event, uint64_t head)
{
	/* relaxed: a reader that searches the end of an abandoned reservation may look here, and uses nothing of it */
	tr2_store_rlx((uint64_t *)(void *)event, head);
}

/* The values, each an event.  Return  the one behind the last */
static inline struct tlg_event *tr2_chain_values(struct tlg_event *event, uint64_t head, const struct tr2_body *body)
{
	for (const struct tr2_value *value = body->values; value < body->values_end; value++, event++) {
		tr2_chain_head(event, head | tlg_head(TLG_VALUE, 0, 0));
		event->u.value = (struct tlg_value){ value->value, value->type, 0 };
	}
	return event;
}

/*
 * The strings, one behind the other, 16 bytes an event; there is at least one byte.  What the last event does not need
 * is 0.  Return  the one behind the last
 */
static inline struct tlg_event *tr2_chain_texts(struct tlg_event *event, uint64_t head, const struct tr2_body *body)
{
	size_t room = TLG_TEXT_SIZE;

	head |= tlg_head(TLG_INFO, 0, 0);
	memset(&event->u.info, 0, TLG_TEXT_SIZE);
	for (const struct tr2_piece *piece = body->pieces; piece < body->pieces_end; piece++) {
		const char *from = piece->bytes;
		size_t left = piece->count;
		while (left > room) {
			tr2_chain_copy(event->u.info.text.c + TLG_TEXT_SIZE - room, from, room);
			tr2_chain_head(event++, head);
			memset(&event->u.info, 0, TLG_TEXT_SIZE);
			from += room;
			left -= room;
			room = TLG_TEXT_SIZE;
		}
		tr2_chain_copy(event->u.info.text.c + TLG_TEXT_SIZE - room, from, left);
		room -= left;
	}
	tr2_chain_head(event, head);
	return event + 1;
}

/* 1 if it fits one chain; a short one. */
static inline int tr2_chain_fits(const struct tr2_body *body)
{
	return body->bytes <= TR2_CHAIN_BYTES;
}

static inline int tr2_chain_is_short(const struct tr2_body *body)
{
	return body->bytes <= TR2_SHORT_CHAIN_BYTES;
}

static inline unsigned tr2_chain_infos(const struct tr2_body *body)
{
	return (unsigned)((body->bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

/* Fill in and commit the chain of a checkpoint at hit, which has been reserved; NULL: it was dropped. */
static inline __attribute__((always_inline)) void tr2_chain_fill(struct tlg_event *hit, uint32_t scope,
								  const struct tr2_body *body, unsigned flags,
								  uint64_t when)
{
	unsigned infos = tr2_chain_infos(body), n = (unsigned)(body->values_end - body->values) + infos;
	struct tlg_event *end;
	uint64_t head;

	if (__builtin_expect(!hit, 0))
		return;
	end = hit + 1;
	/* field by field: a struct that is copied as one word right after it was stored in parts costs 4 ns */
	hit->u.hit.when = when ? when : tr2_chain_clock();
	hit->u.hit.scopeIndex = scope;
	hit->u.hit.tid = tr2_chunk_of((uintptr_t)hit)->tid;
	if (n) {
		head = tr2_chunk_of((uintptr_t)hit)->head;
		end = tr2_chain_values(end, head, body);
		if (infos)
			end = tr2_chain_texts(end, head, body);
		tr2_chain_head(end - 1, head | tlg_head((infos ? TLG_INFO : TLG_VALUE) | TLG_INFO_END, 0, 0));
	}
	tr2_ring_commit(hit, TLG_HIT | flags | (n ? TLG_HAS_INFO : 0));
}

/*
 * Record a checkpoint whose arguments fit a short chain; if the ring is full it is dropped and counted.
 * flags   TLG_RENDERED or 0
 * when    raw clock; 0: read it now
 * Thread  any    Signal safe    Errno kept    Orders [M1]
 */
static inline __attribute__((always_inline)) void tr2_chain_record(uint32_t scope, const struct tr2_body *body,
								    unsigned flags, uint64_t when)
{
	unsigned n = (unsigned)(body->values_end - body->values) + tr2_chain_infos(body);

	tr2_chain_fill(tr2_reserve(1 + n, scope), scope, body, flags, when);
}

#endif

/* SPDX-License-Identifier: MIT */
/* tr2_ring_glance.c - see tr2_ring_glance.h. */
#include "tr2_ring_glance.h"

#include <string.h>

#include "tlg_chain.h"

static uint32_t number_of(const struct tlg_chunk *chunk)
{
	return tr2_load_rlx(&chunk->number); /* relaxed: ordered by the acquire loads in front of it */
}

/* The chunk has not been used for anything else since the glance came into it. */
static int is_same(const struct tr2_glance *glance)
{
	return number_of(tr2_shm_chunk(glance->chunk - 1)) == glance->number;
}

/*
 * What is read of a chunk that is used for something else by now never counts: is_same() comes behind it.  So what
 * has this mark may race with the owner, and ThreadSanitizer must not see it.
 */
#define RACES __attribute__((noinline, no_sanitize("thread")))

static RACES void enter(struct tr2_glance *glance, uint32_t chunk, uint32_t number, uint64_t *missed)
{
	const struct tlg_chunk *into = tr2_shm_chunk(chunk - 1);
	uint64_t lost = tr2_load_rlx(&into->lost_events); /* relaxed: as number_of() */

	if (lost > glance->lost_events)
		*missed += lost - glance->lost_events;
	*glance = (struct tr2_glance){ .chunk = chunk, .number = number, .lost_events = lost };
	glance->event = tr2_load_rlx(&into->first); /* relaxed: as above */
	if (glance->event > TLG_CHUNK_EVENTS)
		glance->event = TLG_CHUNK_EVENTS;
}

static int is_later(uint32_t number, uint32_t other)
{
	return (int32_t)(number - other) > 0;
}

/* The owner has overwritten what comes next: go on where it records now.  Return  0: there is no later chunk */
static int catch_up(struct tr2_glance *glance, const struct tr2_ring *ring, uint64_t *missed)
{
	uint32_t current = tr2_ring_current(ring), number = 0;

	++*missed;
	/* [M10] acquire: the chunk's head.  Pairs with fill_head() */
	if (current && tr2_load_acq(&tr2_shm_chunk(current - 1)->state) == TLG_CHUNK_OPEN)
		number = number_of(tr2_shm_chunk(current - 1));
	if (!number || (glance->chunk && !is_later(number, glance->number)))
		return 0;
	enter(glance, current, number, missed);
	return 1;
}

/* The first chunk, or the first one since the drain closed a ring that had no owner.  Return  0: there is none */
static int begin(struct tr2_glance *glance, const struct tr2_ring *ring, uint64_t *missed)
{
	uint32_t first = tr2_load_acq(&ring->head->first); /* [M3] acquire: its head.  Pairs with link_chunk() */
	uint32_t number = tr2_load_rlx(&ring->head->first_number); /* relaxed: stored before first */

	if (!first || (glance->chunk && !is_later(number, glance->number)))
		return 0;
	if (number_of(tr2_shm_chunk(first - 1)) != number)
		return catch_up(glance, ring, missed);
	enter(glance, first, number, missed);
	return 1;
}

/* A chunk that stays behind when later ones are overwritten has a link that leads anywhere. */
static int is_left_behind(const struct tlg_chunk *chunk)
{
	uint32_t state = tr2_load_rlx(&chunk->state); /* relaxed: looked at again with the next chunk */

	return state == TLG_CHUNK_PINNED || state == TLG_CHUNK_HELD;
}

static RACES uint32_t next_of(const struct tlg_chunk *chunk)
{
	return tr2_load_acq(&chunk->next); /* [M3] acquire: the next chunk's head.  Pairs with link_chunk() */
}

/* From the end of a chunk into the next one.  Return  0: there is none yet */
static int go_on(struct tr2_glance *glance, const struct tr2_ring *ring, uint64_t *missed)
{
	const struct tlg_chunk *chunk = tr2_shm_chunk(glance->chunk - 1);
	uint32_t next = next_of(chunk), number;

	if (!is_same(glance) || (next && is_left_behind(chunk)))
		return catch_up(glance, ring, missed);
	if (!next)
		return begin(glance, ring, missed);
	number = number_of(tr2_shm_chunk(next - 1));
	if (!is_same(glance))
		return catch_up(glance, ring, missed);
	enter(glance, next, number, missed);
	return 1;
}

/* Each word before the chunk's number, which tells whether the copy counts. */
static RACES void copy_event(struct tlg_event *to, const struct tlg_event *event, uint64_t head)
{
	const uint64_t *words = (const uint64_t *)(const void *)event;
	/* [M13] acquire: as above.  Pairs with fill_head() */
	const uint64_t copy[3] = { head, tr2_load_acq(&words[1]), tr2_load_acq(&words[2]) };

	static_assert(sizeof(copy) == sizeof(*to), "an event has three words");
	memcpy(to, copy, sizeof(copy));
}

/* The header word of a committed event, else 0. */
static uint64_t head_of(const struct tlg_chunk *chunk, uint32_t number, uint32_t event)
{
	/* [M1] acquire: the event's bytes.  Pairs with tr2_ring_commit() and the inline path */
	uint64_t head = tr2_load_acq((const uint64_t *)(const void *)&chunk->events[event]);

	return tlg_head_sequence(head) == number ? head : 0;
}

static unsigned type_of(uint64_t head)
{
	return tlg_head_flags(head) & TLG_TYPE_MASK;
}

/* Copy what is committed.  A chain that does not fit is left for the next glance.  Return  events */
static unsigned copy_run(struct tr2_glance *glance, struct tlg_event *to)
{
	const struct tlg_chunk *chunk = tr2_shm_chunk(glance->chunk - 1);
	unsigned n = 0, chain = 0;
	uint64_t head;

	for (uint32_t at = glance->event; at < TLG_CHUNK_EVENTS; at++) {
		head = head_of(chunk, glance->number, at);
		if (!head)
			break;
		if (type_of(head) == TLG_PAD) {
			glance->event = TLG_CHUNK_EVENTS - n;   /* n is added to it */
			break;
		}
		if (tlg_begins_chain(type_of(head)))
			chain = n;
		if (n == TR2_GLANCE_EVENTS) {
			n = chain;
			break;
		}
		copy_event(&to[n++], &chunk->events[at], head);
	}
	if (!is_same(glance))
		return 0;
	glance->event += n;
	return n;
}

/* 1 if the owner records its next event here, or has been found to rest. */
static int is_owners_place(const struct tr2_glance *glance, const struct tr2_ring *ring)
{
	/* [M19] acquire: where it is if it is aside.  Pairs with tr2_ring_set_aside() */
	uintptr_t position = tr2_load_acq(&ring->hot->cur);

	if (tr2_is_aside(position))
		position = tr2_load_rlx(ring->aside_at); /* relaxed: from a stale one the next glance follows */
	return tr2_is_parked(position) ||
	       position == (uintptr_t)&tr2_shm_chunk(glance->chunk - 1)->events[glance->event];
}

/* Code that was interrupted, or left by longjmp(), has not committed its event: wait a little, then go around it. */
static int go_around(struct tr2_glance *glance, const struct tr2_ring *ring, uint64_t now, uint64_t timeout)
{
	const struct tlg_chunk *chunk = tr2_shm_chunk(glance->chunk - 1);
	uint32_t at = glance->event;
	uint64_t head = 0;

	if (is_owners_place(glance, ring))
		return 0;
	if (!glance->since)
		glance->since = now;
	if (now - glance->since < timeout)
		return 0;
	while (++at < TLG_CHUNK_EVENTS && !(head && tlg_begins_chain(type_of(head))))
		head = head_of(chunk, glance->number, at);
	at -= head && tlg_begins_chain(type_of(head));
	glance->since = now;   /* there may be nothing behind it for long: do not look all the time */
	if (at >= TLG_CHUNK_EVENTS && !next_of(chunk))
		return 0;
	glance->event = at;
	return 1;
}

unsigned tr2_ring_glance(struct tr2_glance *glance, const struct tr2_ring *ring, uint64_t now, uint64_t timeout,
			 struct tlg_event to[TR2_GLANCE_EVENTS], uint64_t *missed)
{
	unsigned n;

	if (!glance->chunk && !begin(glance, ring, missed))
		return 0;
	for (;;) {
		n = glance->event < TLG_CHUNK_EVENTS ? copy_run(glance, to) : 0;
		if (n) {
			glance->since = 0;
			return n;
		}
		if (!is_same(glance)) {
			if (!catch_up(glance, ring, missed))
				return 0;
		} else if (glance->event < TLG_CHUNK_EVENTS) {
			if (!go_around(glance, ring, now, timeout) && !begin(glance, ring, missed))
				return 0;
		} else if (!go_on(glance, ring, missed)) {
			return 0;
		}
	}
}

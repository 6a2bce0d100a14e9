/* SPDX-License-Identifier: MIT */
/* t2x_scanner.c - headers, checksums, streams, and doubts about them. */
#include "t2x_scanner.h"

#include <errno.h>
#include <string.h>

#include "tlg_block.h"

enum { LOOK_AHEAD = 4 };          /* blocks that may confirm an unknown stream */

size_t t2x_place_seen(const struct t2x_layout *layout)
{
	return 2 * (TLG_BLOCK_LIMIT + 1) * (layout ? layout->entry_size : (size_t)TLG_EVENT_SIZE);
}

int t2x_place_init(struct t2x_places *places, struct t2x_in *in, const struct t2x_layout *layout)
{
	memset(places, 0, sizeof(*places));
	places->in = in;
	places->layouts[0] = layout ? layout : t2x_layout_native(1);
	places->layouts[1] = t2x_layout_native(0);
	places->nlayouts = layout ? 1 : 2;
	return places->layouts[0] && places->layouts[1] ? 0 : -ENOMEM;
}

void t2x_place_free(struct t2x_places *places)
{
	t2x_met_free(&places->met);
}

/* ---- headers ------------------------------------------------------------------------------------ */

static int has_magic(const struct t2x_layout *layout, const unsigned char *p)
{
	return p[layout->magic_at] == layout->magic[0] && p[layout->magic_at + 1] == layout->magic[1];
}

int t2x_place_find(const struct t2x_places *places, const unsigned char *p, size_t avail, struct t2x_place *place)
{
	for (unsigned i = 0; i < places->nlayouts; i++) {
		const struct t2x_layout *layout = places->layouts[i];
		const struct tlg_block *block = &place->head.u.block;
		if (!layout->block || avail < layout->entry_size || !has_magic(layout, p) ||
		    t2x_layout_type(layout, p) != layout->block)
			continue;
		t2x_layout_decode(layout, p, 1, &place->head);
		if (!block->size || block->size > TLG_BLOCK_LIMIT || !block->count || block->count > TLG_BLOCK_LIMIT ||
		    (block->encoding == TLG_PLAIN && block->count != block->size) ||
		    (block->encoding == TLG_PACKED && block->count <= block->size))
			continue;
		place->layout = layout;
		place->raw = p;
		place->bytes = (block->size + 1u) * (size_t)layout->entry_size;
		return 1;
	}
	return 0;
}

/* ---- streams ------------------------------------------------------------------------------------ */

static uint32_t crc_for(const struct t2x_place *place, uint32_t id)
{
	return tlg_block_crc(place->raw, place->bytes, place->layout->crc_at, id);
}

static uint32_t stream_of(struct t2x_places *places, const struct t2x_place *place)
{
	places->checked_bytes += place->bytes;
	return tlg_block_stream(place->raw, place->bytes, place->layout->crc_at, place->head.u.block.crc);
}

/* The block says itself which stream it belongs to, as the checksum does. */
static int holds_cycle(const struct t2x_place *place, uint32_t id)
{
	size_t entry_size = place->layout->entry_size;

	if (place->head.u.block.tid != TLG_NO_THREAD)
		return 0;
	for (size_t at = entry_size; at < place->bytes; at += entry_size) {
		struct tlg_event event[T2X_MAX_SPLIT];
		t2x_layout_decode(place->layout, place->raw + at, 1, event);
		if (tlg_event_type(event) == TLG_CYCLE && event->u.cycle.stream == id)
			return 1;
	}
	return 0;
}

/* One of the next blocks of the same process, in the avail bytes behind it, has a checksum of the same stream. */
static int is_followed(struct t2x_places *places, const struct t2x_place *place, uint32_t id, size_t avail)
{
	struct t2x_place next;

	for (size_t at = 0, tries = 0; tries < LOOK_AHEAD && at < avail; at += next.bytes) {
		const unsigned char *p = place->raw + place->bytes + at;
		if (!t2x_place_find(places, p, avail - at, &next) || next.bytes > avail - at)
			return 0;
		if (next.head.pid != place->head.pid)
			continue;
		tries++;
		if (stream_of(places, &next) == id || holds_cycle(&next, id))
			return 1;
	}
	return 0;
}

int t2x_place_is_worth_checking(const struct t2x_places *places)
{
	return places->checked_bytes < UINT64_C(0x4000000) + 16 * t2x_in_offset(places->in);
}

/* ---- doubts ------------------------------------------------------------------------------------- */

/* What lies behind a block that is in doubt. */
struct look {
	const unsigned char *p;
	size_t avail, at;         /* bytes that can be seen; of these the ones behind which to look */
	size_t longest;           /* a block at most */
	uint32_t stream;          /* of the one in doubt */
	int is_at_end;            /* nothing comes behind what can be seen */
	int is_broken;            /* blocks are not back to back up to here */
};

/* Find the next good block.  Return  0: there is none in what can be seen */
static int look_on(struct t2x_places *places, struct look *look, struct t2x_place *next, uint32_t *id)
{
	size_t need = look->is_at_end ? 1 : look->longest;

	for (; look->at + need <= look->avail; look->at++, look->is_broken = 1) {
		size_t avail = look->avail - look->at;
		if (!t2x_place_find(places, look->p + look->at, avail, next) || next->bytes > avail)
			continue;
		if (!t2x_place_is_worth_checking(places))
			return 0;
		*id = stream_of(places, next);
		if (*id == look->stream || t2x_met_get(&places->met, *id) || holds_cycle(next, *id) ||
		    is_followed(places, next, *id, avail - next->bytes))
			return 1;
	}
	return 0;
}

/* The first block of a known stream behind the gap: 1: it is the next of the stream; -1: one is missing; 0: neither */
static int judge_number(struct t2x_places *places, const struct t2x_place *next, uint32_t id, int may_miss_one)
{
	struct t2x_met *met = t2x_met_get(&places->met, id);
	uint32_t step = met ? next->head.sequence - met->last_number : 0;

	if (!met || met->look == places->looks)
		return 0;
	met->look = places->looks;
	return step == 1 || (step == 2 && may_miss_one) ? 1 : -1;
}

/*
 * Whether the block at the window's beginning, of a stream that would become known with it, can be no text.  If it
 * can, so can those back to back with it: they are not looked at one by one.
 */
static int is_cleared(struct t2x_places *places, const struct t2x_place *place, uint32_t id)
{
	uint64_t offset = t2x_in_offset(places->in);
	int is_where_stated = offset == places->stated_until, step = 0, is_vouched = 0;
	size_t seen = t2x_place_seen(place->layout), back_to_back = place->bytes;
	struct look look = { .at = place->bytes, .stream = id, .longest = seen / 2 };
	struct t2x_place next;
	uint32_t next_id;

	look.avail = t2x_in_peek(places->in, seen, &look.p);
	look.is_at_end = look.avail < seen;
	places->looks++;
	while (step >= 0 && look_on(places, &look, &next, &next_id) && !(is_vouched && look.is_broken)) {
		if (look.at >= look.longest && (!look.is_broken || next_id == id))
			return 1;
		step = judge_number(places, &next, next_id, is_where_stated && !look.is_broken);
		is_vouched |= step > 0 && !look.is_broken;
		look.at += next.bytes;
		if (!look.is_broken)
			back_to_back = look.at;
	}
	if (step >= 0 && (is_vouched || !look.is_broken))
		return 1;
	if (places->doubted_until < offset + back_to_back)
		places->doubted_until = offset + back_to_back;
	return 0;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

void t2x_place_is_certain(struct t2x_places *places)
{
	places->from = t2x_in_offset(places->in);
	places->stated_until = places->doubted_until = 0;
}

/* A stream that is not known yet, and the block that shall make it known. */
static int is_confirmed(struct t2x_places *places, struct t2x_place *place, uint32_t id)
{
	uint64_t offset = t2x_in_offset(places->in);
	size_t avail;

	if (places->met.by_id.count && offset < places->doubted_until)
		return 0;
	/* looking ahead may move the window */
	avail = t2x_in_peek(places->in, t2x_place_seen(place->layout), &place->raw);
	if (!holds_cycle(place, id) && !(places->in->lz4 && t2x_lz4_stream(places->in->lz4) == id) &&
	    !is_followed(places, place, id, avail - place->bytes))
		return 0;
	return offset == places->from || is_cleared(places, place, id);
}

/* What it says of its length may be true: then it holds what comes up to there. */
static void note_bad(struct t2x_places *places, const struct t2x_place *place)
{
	uint64_t offset = t2x_in_offset(places->in), until = offset + place->bytes;

	if (offset == places->from)
		places->stated_until = until;
	if (until > places->doubted_until)
		places->doubted_until = until;
}

int t2x_place_stream(struct t2x_places *places, struct t2x_place *place, uint32_t *id)
{
	const struct t2x_met *latest = t2x_met_latest(&places->met, place->head.pid);

	if (latest && crc_for(place, latest->id) == place->head.u.block.crc) {
		*id = latest->id;
		return 1;
	}
	if (t2x_place_is_worth_checking(places)) {
		*id = stream_of(places, place);
		if (t2x_met_get(&places->met, *id) || is_confirmed(places, place, *id)) {
			t2x_met_remember(&places->met, *id, place->head.pid);
			return 1;
		}
	}
	note_bad(places, place);
	return 0;
}

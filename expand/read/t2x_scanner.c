/* SPDX-License-Identifier: MIT */
/* t2x_scanner.c - headers, checksums, streams; the cases are those of t2x_scanner.h. */
#include "t2x_scanner.h"

#include <errno.h>
#include <string.h>

#include "tlg_block.h"

enum { LOOK_AHEAD = 4 };          /* blocks that may confirm an unknown stream */

size_t t2x_scanner_window(const struct t2x_layout *layout)
{
	return 2 * (TLG_BLOCK_LIMIT + 1) * (layout ? layout->entry_size : (size_t)TLG_EVENT_SIZE);
}

int t2x_scanner_init(struct t2x_scanner *scanner, struct t2x_in *in, const struct t2x_layout *layout)
{
	memset(scanner, 0, sizeof(*scanner));
	scanner->in = in;
	scanner->layouts[0] = layout ? layout : t2x_layout_native(1);
	scanner->layouts[1] = t2x_layout_native(0);
	scanner->nlayouts = layout ? 1 : 2;
	return scanner->layouts[0] && scanner->layouts[1] ? 0 : -ENOMEM;
}

void t2x_scanner_free(struct t2x_scanner *scanner)
{
	t2x_stream_table_free(&scanner->streams);
}

/* ---- headers ------------------------------------------------------------------------------------ */

static int has_magic(const struct t2x_layout *layout, const unsigned char *p)
{
	return p[layout->magic_at] == layout->magic[0] && p[layout->magic_at + 1] == layout->magic[1];
}

int t2x_scanner_find(const struct t2x_scanner *scanner, const unsigned char *p, size_t avail,
		     struct t2x_candidate *candidate)
{
	for (unsigned i = 0; i < scanner->nlayouts; i++) {
		const struct t2x_layout *layout = scanner->layouts[i];
		const struct tlg_block *block = &candidate->head.u.block;
		if (!layout->block || avail < layout->entry_size || !has_magic(layout, p) ||
		    t2x_layout_type(layout, p) != layout->block)
			continue;
		t2x_layout_decode(layout, p, 1, &candidate->head);
		if (!block->size || block->size > TLG_BLOCK_LIMIT || !block->count || block->count > TLG_BLOCK_LIMIT ||
		    (block->encoding == TLG_PLAIN && block->count != block->size) ||
		    (block->encoding == TLG_PACKED && block->count <= block->size))
			continue;
		candidate->layout = layout;
		candidate->raw = p;
		candidate->bytes = (block->size + 1u) * (size_t)layout->entry_size;
		return 1;
	}
	return 0;
}

/* ---- streams ------------------------------------------------------------------------------------ */

static uint32_t crc_for(const struct t2x_candidate *candidate, uint32_t id)
{
	return tlg_block_crc(candidate->raw, candidate->bytes, candidate->layout->crc_at, id);
}

static uint32_t stream_of(struct t2x_scanner *scanner, const struct t2x_candidate *candidate)
{
	scanner->checked_bytes += candidate->bytes;
	return tlg_block_stream(candidate->raw, candidate->bytes, candidate->layout->crc_at,
				candidate->head.u.block.crc);
}

/* Return  1: the block has a CYCLE that names the same stream as the checksum */
static int holds_cycle(const struct t2x_candidate *candidate, uint32_t id)
{
	size_t entry_size = candidate->layout->entry_size;

	if (candidate->head.u.block.tid != TLG_NO_THREAD)
		return 0;
	for (size_t at = entry_size; at < candidate->bytes; at += entry_size) {
		struct tlg_event event[T2X_MAX_SPLIT];
		t2x_layout_decode(candidate->layout, candidate->raw + at, 1, event);
		if (tlg_event_type(event) == TLG_CYCLE && event->u.cycle.stream == id)
			return 1;
	}
	return 0;
}

/* Return  1: one of the next blocks of the process, in the avail bytes behind, has a checksum of the same stream */
static int is_followed(struct t2x_scanner *scanner, const struct t2x_candidate *candidate, uint32_t id, size_t avail)
{
	struct t2x_candidate next;

	for (size_t at = 0, tries = 0; tries < LOOK_AHEAD && at < avail; at += next.bytes) {
		const unsigned char *p = candidate->raw + candidate->bytes + at;
		if (!t2x_scanner_find(scanner, p, avail - at, &next) || next.bytes > avail - at)
			return 0;
		if (next.head.pid != candidate->head.pid)
			continue;
		tries++;
		if (stream_of(scanner, &next) == id || holds_cycle(&next, id))
			return 1;
	}
	return 0;
}

int t2x_scanner_has_budget(const struct t2x_scanner *scanner)
{
	return scanner->checked_bytes < UINT64_C(0x4000000) + 16 * scanner->in->bytes->offset;
}

/* ---- what follows -------------------------------------------------------------------------------- */

/* The blocks behind a candidate. */
struct lookahead {
	const unsigned char *p;
	size_t avail, at;         /* bytes that can be seen; offset of the next one to look at */
	size_t longest;           /* bytes of the longest block */
	uint32_t stream;          /* of the candidate */
	size_t claimed;           /* INSIDE: offset of the claimed end of the bad block; else 0 */
	int is_packed;            /* INSIDE: the bad block is packed, so a text may end with it */
	struct t2x_map streams;   /* that become known during this lookahead */
	int is_at_end;            /* the file ends behind the bytes that can be seen */
	int is_broken;            /* blocks are not back to back up to here */
};

/* Whether a block that follows is good.  Its stream may be known, or confirmed here by this or an earlier block. */
static int is_good(struct t2x_scanner *scanner, struct lookahead *look, const struct t2x_candidate *next, uint32_t id,
		   size_t avail)
{
	if (id == look->stream || t2x_stream_table_get(&scanner->streams, id) || t2x_map_get(&look->streams, id))
		return 1;
	if (!holds_cycle(next, id) && !is_followed(scanner, next, id, avail))
		return 0;
	t2x_map_put(&look->streams, id, scanner);   /* without memory, the stream's last block will not be good */
	return 1;
}

/* Find the next good block.  Return  0: there is none in what can be seen */
static int look_on(struct t2x_scanner *scanner, struct lookahead *look, struct t2x_candidate *next, uint32_t *id)
{
	size_t need = look->is_at_end ? 1 : look->longest;

	for (; look->at + need <= look->avail; look->at++, look->is_broken = 1) {
		size_t avail = look->avail - look->at;
		if (!t2x_scanner_find(scanner, look->p + look->at, avail, next) || next->bytes > avail)
			continue;
		if (!t2x_scanner_has_budget(scanner))
			return 0;
		*id = stream_of(scanner, next);
		if (is_good(scanner, look, next, *id, avail - next->bytes))
			return 1;
	}
	return 0;
}

/* What the number of a block that follows says of the blocks before it. */
enum numbering { SAYS_NOTHING, NEXT_NUMBER, SKIPS_NUMBERS };

/* Only the first block of each known stream says something.  may_miss_one: see case 9 */
static enum numbering judge_number(struct t2x_scanner *scanner, const struct t2x_candidate *next, uint32_t id,
				   int may_miss_one)
{
	struct t2x_known_stream *stream = t2x_stream_table_get(&scanner->streams, id);
	uint32_t step = stream ? next->head.sequence - stream->last_number : 0;

	if (!stream || stream->lookahead == scanner->lookaheads)
		return SAYS_NOTHING;
	stream->lookahead = scanner->lookaheads;
	return step == 1 || (step == 2 && may_miss_one) ? NEXT_NUMBER : SKIPS_NUMBERS;
}

/* Case 3.  Return  1: blocks that are back to back up to here may all be texts of the bad block */
static int may_be_inside(const struct lookahead *look, size_t back_to_back)
{
	if (back_to_back == look->claimed)
		return look->is_packed;
	return look->is_broken && back_to_back < look->claimed;
}

/*
 * Judge the blocks that follow the candidate.  Return  1: the candidate is verified
 * *back_to_back  end of the blocks that are back to back with the candidate, which itself is the first of them
 */
static int look_ahead(struct t2x_scanner *scanner, struct lookahead *look, size_t *back_to_back)
{
	int may_miss_one = scanner->in->bytes->offset == scanner->claimed_until, is_contiguous = 0;
	struct t2x_candidate next;
	uint32_t id;

	while (!may_be_inside(look, *back_to_back) && look_on(scanner, look, &next, &id) &&
	       !(is_contiguous && look->is_broken)) {
		enum numbering numbering;

		if (may_be_inside(look, *back_to_back))
			return 0;               /* case 3 */
		if (look->at >= look->longest && (!look->is_broken || id == look->stream))
			return 1;               /* case 7 */
		numbering = judge_number(scanner, &next, id, may_miss_one && !look->is_broken);
		look->at += next.bytes;
		if (!look->is_broken)
			*back_to_back = look->at;
		if (numbering == SKIPS_NUMBERS)
			return 0;               /* case 8 */
		is_contiguous |= numbering == NEXT_NUMBER && !look->is_broken;
	}
	if (*back_to_back < look->claimed || may_be_inside(look, *back_to_back))
		return 0;                       /* case 3 */
	return is_contiguous || !look->is_broken;        /* cases 9 and 10 */
}

enum state { VERIFIED, INSIDE, GAP };

/* If the candidate is not verified, neither are those back to back with it; this function judges all of them. */
static int is_verified(struct t2x_scanner *scanner, const struct t2x_candidate *candidate, uint32_t id,
		       enum state state)
{
	uint64_t offset = scanner->in->bytes->offset;
	size_t window = t2x_scanner_window(candidate->layout), back_to_back = candidate->bytes;
	struct lookahead look = { .at = candidate->bytes, .stream = id, .longest = window / 2 };
	int is;

	if (state == INSIDE) {
		look.claimed = (size_t)(scanner->inside_until - offset);
		look.is_packed = scanner->inside_is_packed;
	}
	look.avail = t2x_window_peek(scanner->in->bytes, window, &look.p);
	look.is_at_end = look.avail < window;
	scanner->lookaheads++;
	is = look_ahead(scanner, &look, &back_to_back);
	t2x_map_free(&look.streams);
	if (!is)
		scanner->unverified_until = offset + back_to_back;
	return is;
}

/* ---- candidates --------------------------------------------------------------------------------- */

/* The state at the input's position.  It is never INSIDE before the first stream becomes known. */
static enum state find_state(const struct t2x_scanner *scanner)
{
	uint64_t offset = scanner->in->bytes->offset;

	if (scanner->streams.by_id.count && offset < scanner->inside_until)
		return INSIDE;
	return offset == scanner->verified_until ? VERIFIED : GAP;
}

void t2x_scanner_verified(struct t2x_scanner *scanner)
{
	scanner->verified_until = scanner->in->bytes->offset;
	scanner->claimed_until = scanner->inside_until = scanner->unverified_until = 0;
}

/*
 * Note a bad block: the length in its header may be right, so the scanner is INSIDE up to there.  A bad block that is
 * INSIDE already does not count.  Otherwise each of the blocks back to back behind a torn one would put the next one
 * INSIDE, and all would be lost.
 */
static void note_bad(struct t2x_scanner *scanner, const struct t2x_candidate *candidate)
{
	uint64_t offset = scanner->in->bytes->offset, until = offset + candidate->bytes;

	if (offset == scanner->verified_until)
		scanner->claimed_until = until;
	if (offset >= scanner->inside_until) {
		scanner->inside_until = until;
		scanner->inside_is_packed = candidate->head.u.block.encoding != TLG_PLAIN;
	}
}

/* Return  1: something else than the checksum confirms the stream.  avail: bytes behind the candidate */
static int is_confirmed(struct t2x_scanner *scanner, const struct t2x_candidate *candidate, uint32_t id, size_t avail)
{
	return holds_cycle(candidate, id) || (scanner->in->lz4 && t2x_lz4_stream(scanner->in->lz4) == id) ||
	       is_followed(scanner, candidate, id, avail);
}

/* Whether a stream becomes known with the candidate: cases 3 to 6. */
static int becomes_known(struct t2x_scanner *scanner, struct t2x_candidate *candidate, uint32_t id)
{
	enum state state = find_state(scanner);
	size_t avail;

	if (scanner->streams.by_id.count && scanner->in->bytes->offset < scanner->unverified_until)
		return 0;               /* judged together with a candidate in front of it */
	/* Looking ahead may move the window. */
	avail = t2x_window_peek(scanner->in->bytes, t2x_scanner_window(candidate->layout), &candidate->raw);
	if (!is_confirmed(scanner, candidate, id, avail - candidate->bytes))
		return 0;               /* case 4 */
	return state == VERIFIED || is_verified(scanner, candidate, id, state);   /* cases 3, 5 and 6 */
}

int t2x_scanner_identify(struct t2x_scanner *scanner, struct t2x_candidate *candidate)
{
	struct t2x_known_stream *latest = t2x_stream_table_latest(&scanner->streams, candidate->head.pid);

	if (latest && crc_for(candidate, latest->id) == candidate->head.u.block.crc) {
		candidate->id = latest->id;     /* case 1 */
		candidate->stream = latest;
		return 1;
	}
	if (t2x_scanner_has_budget(scanner)) {
		uint32_t id = stream_of(scanner, candidate);

		/* case 2 */
		if (t2x_stream_table_get(&scanner->streams, id) || becomes_known(scanner, candidate, id)) {
			candidate->id = id;
			candidate->stream = t2x_stream_table_add(&scanner->streams, id, candidate->head.pid);
			return 1;
		}
	}
	note_bad(scanner, candidate);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* t2x_blocks.c - resynchronisation, unpacking, files without blocks. */
#include "t2x_blocks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tlg_block.h"
#include "tlg_pack.h"

enum { RUN_EVENTS = 128 };        /* of a file without blocks that are delivered at once */

size_t t2x_blocks_seen(const struct t2x_layout *layout)
{
	return t2x_scanner_window(layout);
}

void t2x_blocks_park(struct t2x_blocks *blocks)
{
	free(blocks->own);
	free(blocks->events);
	free(blocks->unpacked);
	blocks->own = blocks->events = blocks->unpacked = NULL;
}

int t2x_blocks_restore(struct t2x_blocks *blocks)
{
	const struct t2x_layout *layout = blocks->scanner.layouts[0];

	blocks->events = malloc(((size_t)TLG_BLOCK_LIMIT * layout->split + 1) * sizeof(*blocks->events));
	blocks->unpacked = malloc((TLG_BLOCK_LIMIT + 1) * sizeof(*blocks->unpacked));
	return blocks->events && blocks->unpacked ? 0 : -ENOMEM;
}

int t2x_blocks_init(struct t2x_blocks *blocks, struct t2x_in *in, const struct t2x_layout *layout)
{
	memset(blocks, 0, sizeof(*blocks));
	blocks->in = in;
	if (!t2x_scanner_init(&blocks->scanner, in, layout) && !t2x_blocks_restore(blocks))
		return 0;
	t2x_blocks_free(blocks);
	return -ENOMEM;
}

void t2x_blocks_free(struct t2x_blocks *blocks)
{
	t2x_scanner_free(&blocks->scanner);
	t2x_blocks_park(blocks);
}

void t2x_blocks_go(struct t2x_blocks *blocks, uint64_t offset, uint64_t plain, uint64_t bytes)
{
	t2x_in_go(blocks->in, offset, plain, bytes);
	t2x_scanner_verified(&blocks->scanner);
}

/* ---- packed blocks ------------------------------------------------------------------------------ */

static int is_swapped(const struct t2x_layout *layout)
{
	return layout->little_endian != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static int is_member(const struct t2x_layout *layout, unsigned which, unsigned offset, unsigned size)
{
	return layout->head[which].offset == offset && layout->head[which].size == size;
}

/* Return  1: events of this layout may be packed, that is, it is ours, even if a document describes it */
static int can_be_packed(const struct t2x_layout *layout)
{
	return layout->entry_size == TLG_EVENT_SIZE && layout->payload_offset == offsetof(struct tlg_event, u) &&
	       is_member(layout, T2X_HEAD_FLAGS, offsetof(struct tlg_event, flags), 2) &&
	       is_member(layout, T2X_HEAD_PID, offsetof(struct tlg_event, pid), 2) &&
	       is_member(layout, T2X_HEAD_SEQUENCE, offsetof(struct tlg_event, sequence), 4);
}

/* Unpack to BLOCK, which does not change, and events in the writer's byte order.  Return  0: no packed events */
static int unpack(const struct t2x_candidate *found, struct tlg_event *to)
{
	const struct tlg_event *head = &found->head;
	const struct tlg_pack_key key = { head->pid, head->u.block.tid };

	memcpy(to, found->raw, sizeof(*to));
	return tlg_unpack(&key, found->raw + sizeof(*to), found->bytes - sizeof(*to), is_swapped(found->layout), to + 1,
			  head->u.block.count);
}

void t2x_blocks_seal_plain(const struct t2x_layout *layout, struct tlg_event *block, unsigned count, uint32_t stream)
{
	struct tlg_block *head = &block->u.block;
	uint32_t crc;

	head->encoding = TLG_PLAIN;
	head->size = head->count;
	crc = tlg_block_crc(block, (count + 1) * sizeof(*block), TLG_BLOCK_CRC_AT, stream);
	head->crc = is_swapped(layout) ? __builtin_bswap32(crc) : crc;
}

/* ---- framed files ------------------------------------------------------------------------------- */

static void report(struct t2x_blocks *blocks, uint64_t from, const char *what)
{
	uint64_t skipped = blocks->in->bytes->offset - from;

	t2x_report_damage(blocks->in->report, blocks->in->name, t2x_in_unit(blocks->in), from,
			  "%s, skipped %" PRIu64 " bytes", what, skipped);
}

/*
 * Whether a good block lies at the window's beginning, where avail bytes are at p: those of an event, fewer at the end.
 * Return  NULL: yes; else a word for what lies there instead
 */
static const char *check_here(struct t2x_blocks *blocks, const unsigned char *p, size_t avail,
			      struct t2x_candidate *found)
{
	found->bytes = 1;
	if (!t2x_scanner_find(&blocks->scanner, p, avail, found))
		return "no block begins here";
	if (t2x_window_peek(blocks->in->bytes, found->bytes, &found->raw) < found->bytes)
		return "block cut off";
	return t2x_scanner_identify(&blocks->scanner, found) ? NULL : "block with a wrong checksum";
}

/* Step to the next candidate. */
static void skip_to_head(struct t2x_blocks *blocks)
{
	const unsigned char *p;
	struct t2x_candidate found;
	size_t avail, at;

	t2x_window_skip(blocks->in->bytes, 1);
	do {
		avail = t2x_window_peek(blocks->in->bytes, t2x_blocks_seen(blocks->scanner.layouts[0]), &p);
		for (at = 0; at < avail; at++)
			if (t2x_scanner_find(&blocks->scanner, p + at, avail - at, &found))
				break;
		/* The last bytes stay in the window: they may be the beginning of a candidate. */
		if (at == avail && avail >= 2 * T2X_MAX_ENTRY)
			at -= T2X_MAX_ENTRY;
		t2x_window_skip(blocks->in->bytes, at);
	} while (avail >= 2 * T2X_MAX_ENTRY && at + T2X_MAX_ENTRY == avail);
}

/* This is no good block: continue at its second byte, or behind it if bad blocks have cost too much work already. */
static void skip_bad(struct t2x_blocks *blocks, const struct t2x_candidate *found)
{
	struct t2x_window *bytes = blocks->in->bytes;
	const unsigned char *p;

	if (!t2x_scanner_has_budget(&blocks->scanner) && t2x_window_peek(bytes, found->bytes, &p) >= found->bytes)
		t2x_window_skip(bytes, found->bytes);
	else
		skip_to_head(blocks);
}

/* The next good block of this piece.  Return  0: there is none */
static int find_block(struct t2x_blocks *blocks, struct t2x_candidate *found)
{
	uint64_t from = blocks->in->bytes->offset;
	const char *first = NULL;
	const unsigned char *p;
	size_t avail;

	while ((avail = t2x_window_peek(blocks->in->bytes, T2X_MAX_ENTRY, &p))) {
		const char *wrong = check_here(blocks, p, avail, found);
		if (!wrong) {
			if (first)
				report(blocks, from, first);
			return 1;
		}
		if (!first)
			first = wrong;
		skip_bad(blocks, found);
	}
	/* t2x_lz4.c has reported a break; the caller reports a file without any good block. */
	if (first && blocks->good && !t2x_in_is_break(blocks->in))
		report(blocks, from, first);
	return 0;
}

/* Return  memory for BLOCK and the events of a block: an allocation of its own, unless they must be made native */
static struct tlg_event *find_room(struct t2x_blocks *blocks, const struct t2x_candidate *found)
{
	free(blocks->own);
	blocks->own = found->layout->is_native ? malloc((found->head.u.block.count + 1u) * sizeof(*blocks->own)) : NULL;
	return blocks->own ? blocks->own : blocks->events;
}

/* Fill in the block from the candidate.  Return  0: it cannot be unpacked */
static int fill_framed(struct t2x_blocks *blocks, const struct t2x_candidate *found, struct t2x_block *block)
{
	const struct tlg_block *head = &found->head.u.block;
	const struct t2x_layout *layout = found->layout;
	struct tlg_event *events = find_room(blocks, found);

	*block = (struct t2x_block){
		.layout = layout,
		.counts_events = layout->text_size == TLG_TEXT_SIZE,
		.raw = found->raw,
		.entries = head->count + 1u,
		.is_framed = 1,
		.is_packed = head->encoding == TLG_PACKED,
		.stream = found->id,
		.number = found->head.sequence,
		.tid = head->tid,
		.pid = found->head.pid,
		.events = events + 1,
		.count = head->count,
		.own = blocks->own ? &blocks->own : NULL,
		.stored = found->raw,
		.stored_bytes = found->bytes,
	};
	if (block->is_packed) {
		struct tlg_event *to = layout->is_native ? events : blocks->unpacked;
		if (!unpack(found, to))
			return 0;
		block->raw = (const unsigned char *)to;
	}
	if (!block->is_packed || !layout->is_native)
		block->count = t2x_layout_decode(layout, block->raw + layout->entry_size, head->count, events + 1);
	return 1;
}

static int is_encoding_known(const struct t2x_candidate *found)
{
	unsigned encoding = found->head.u.block.encoding;

	return encoding == TLG_PLAIN || (encoding == TLG_PACKED && can_be_packed(found->layout));
}

/* Fill in the block from the candidate, and skip its bytes.  Return  0: the candidate cannot be used */
static int use_found(struct t2x_blocks *blocks, const struct t2x_candidate *found, struct t2x_block *block)
{
	struct t2x_known_stream *stream = found->stream;
	uint64_t from = blocks->in->bytes->offset;
	const char *wrong = NULL;
	int is_known = is_encoding_known(found);

	if (stream && stream->last_number && (int32_t)(found->head.sequence - stream->last_number) <= 0)
		wrong = "block that was there before";
	else if (is_known && !fill_framed(blocks, found, block))
		wrong = "packed block that is none";
	else if (!is_known)
		t2x_report_skipped(blocks->in->report, found->head.u.block.count);
	t2x_window_skip(blocks->in->bytes, found->bytes);
	if (wrong) {
		/* It may be a text of the program that is a copy of an earlier block. */
		report(blocks, from, wrong);
		return 0;
	}
	t2x_scanner_verified(&blocks->scanner);
	if (stream)
		stream->last_number = found->head.sequence;
	return is_known;
}

static int next_framed(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_candidate found;

	for (;;) {
		while (find_block(blocks, &found))
			if (use_found(blocks, &found, block))
				return 1;
		if (!t2x_in_next_piece(blocks->in))
			return 0;
		t2x_scanner_verified(&blocks->scanner);
	}
}

/* ---- files without blocks ----------------------------------------------------------------------- */

/* The merge uses context of the process at once, other events in the order of time.  So they are in different runs. */
static int is_process_context(const struct tlg_event *event)
{
	switch (tlg_event_type(event)) {
	case TLG_PROLOGUE:
	case TLG_PROCINFO:
	case TLG_TIMEINFO:
	case TLG_TIMETYPE:
	case TLG_CYCLE:
	case TLG_MARK:
	case TLG_LOSS:
	case TLG_END:
		return 1;
	default:
		return 0;
	}
}

/* Count the events that may be in one run with the first: of the same process, all context or none. */
static unsigned count_run(const struct t2x_layout *layout, const unsigned char *p, unsigned max,
			  int *is_context)
{
	struct tlg_event first[T2X_MAX_SPLIT], event[T2X_MAX_SPLIT];
	unsigned n = 1;

	t2x_layout_decode(layout, p, 1, first);
	*is_context = is_process_context(first);
	for (; n < max; n++) {
		t2x_layout_decode(layout, p + (size_t)n * layout->entry_size, 1, event);
		if (event->pid != first->pid)
			break;
		/* The text of PROCINFO is context, too. */
		if (*is_context && tlg_event_type(event) == TLG_INFO)
			continue;
		if (is_process_context(event) != *is_context)
			break;
	}
	return n;
}

static int next_run(struct t2x_blocks *blocks, struct t2x_block *block)
{
	const struct t2x_layout *layout = blocks->scanner.layouts[0];
	const unsigned char *p;
	unsigned n;
	int is_context;

	do {
		size_t avail = t2x_window_peek(blocks->in->bytes, (size_t)RUN_EVENTS * layout->entry_size, &p);
		n = (unsigned)(avail / layout->entry_size);
		if (!n && avail && !t2x_in_is_break(blocks->in)) {
			uint64_t from = blocks->in->bytes->offset;
			t2x_window_skip(blocks->in->bytes, avail);
			report(blocks, from, "raw event cut off");
		}
	} while (!n && t2x_in_next_piece(blocks->in));
	if (!n)
		return 0;
	n = count_run(layout, p, n > RUN_EVENTS ? RUN_EVENTS : n, &is_context);
	*block = (struct t2x_block){
		.layout = layout, .raw = p, .entries = n, .tid = is_context ? TLG_NO_THREAD : 0,
		.events = blocks->events, .count = t2x_layout_decode(layout, p, n, blocks->events),
	};
	block->pid = block->events->pid;
	block->stream = block->pid;
	t2x_window_skip(blocks->in->bytes, (size_t)n * layout->entry_size);
	return 1;
}

/* ---- which of them ------------------------------------------------------------------------------ */

/* Return  1: a BLOCK is among the events, so this is a file of blocks that lacks what was in front of its PROLOGUE */
static int is_truncated_block(const struct t2x_blocks *blocks, const unsigned char *p, size_t avail,
			size_t entry_size)
{
	struct t2x_candidate found;

	for (size_t at = 0; at + entry_size <= avail; at += entry_size)
		if (t2x_scanner_find(&blocks->scanner, p + at, avail - at, &found))
			return 1;
	return 0;
}

/* A file is a plain sequence if it begins with a PROLOGUE and not a BLOCK, or if its layout has no blocks. */
static void begin(struct t2x_blocks *blocks)
{
	struct tlg_event event[T2X_MAX_SPLIT];
	const unsigned char *p;
	size_t avail = t2x_window_peek(blocks->in->bytes, t2x_blocks_seen(blocks->scanner.layouts[0]), &p);

	blocks->has_begun = 1;
	blocks->is_plain_sequence = !blocks->scanner.layouts[0]->block;
	for (unsigned i = 0; i < blocks->scanner.nlayouts && !blocks->is_plain_sequence; i++) {
		const struct t2x_layout *layout = blocks->scanner.layouts[i];
		if (avail < layout->entry_size)
			continue;
		t2x_layout_decode(layout, p, 1, event);
		if (tlg_event_type(event) != TLG_PROLOGUE || event->u.prologue._12345678 != TLG_MAGIC)
			continue;
		if (event->u.prologue.entry_size != layout->entry_size) {
			blocks->unknown_layout = event->u.prologue.entry_size;
			continue;
		}
		if (is_truncated_block(blocks, p, avail, layout->entry_size))
			continue;
		blocks->scanner.layouts[0] = layout;
		blocks->is_plain_sequence = 1;
	}
}

int t2x_blocks_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	int got;

	if (!blocks->has_begun)
		begin(blocks);
	got = blocks->is_plain_sequence ? next_run(blocks, block) : next_framed(blocks, block);
	blocks->good += (unsigned)got;
	return got;
}

/* SPDX-License-Identifier: MIT */
/*
 * t2x_raw.c - writes the good blocks of a file as a plain .tlg file: decompressed, without damage.
 *
 * The bytes of a block do not change, whatever its byte order is.  Events of a foreign layout become native ones, in
 * new blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_formats.h"
#include "tlg_block.h"
#include "read/t2x_blocks.h"

struct raw {
	struct t2x_out *out;
	struct tlg_event *made;          /* a new block */
	uint32_t added;                  /* additional blocks so far, because one was divided into several */
};

static void put_events(struct raw *raw, const struct tlg_event *events, unsigned n)
{
	t2x_out_bytes(raw->out, (const char *)events, n * sizeof(*events));
}

/* Write the events in new blocks: several, if foreign texts have become more events than a block can have. */
static void put_anew(struct raw *raw, const struct t2x_block *block)
{
	for (unsigned at = 0, n; at < block->count; at += n) {
		n = block->count - at < TLG_BLOCK_LIMIT ? block->count - at : TLG_BLOCK_LIMIT;
		raw->added += at != 0;
		memcpy(raw->made + 1, block->events + at, n * sizeof(*raw->made));
		tlg_block_seal(raw->made, block->stream, block->pid, block->number + raw->added, block->tid,
			       n);
		put_events(raw, raw->made, n + 1);
	}
}

static void put_unpacked(struct raw *raw, const struct t2x_block *block)
{
	memcpy(raw->made, block->raw, block->entries * sizeof(*raw->made));
	t2x_blocks_seal_plain(block->layout, raw->made, block->entries - 1, block->stream);
	put_events(raw, raw->made, block->entries);
}

static int print_block(struct t2x_printer *printer, const struct t2x_block *block)
{
	struct raw *raw = printer->own;

	if (!raw->made && (block->layout->is_foreign || block->is_packed)) {
		raw->made = malloc((TLG_BLOCK_LIMIT + 1) * sizeof(*raw->made));
		if (!raw->made)
			return -ENOMEM;
	}
	if (!block->layout->is_foreign && block->is_packed) {
		put_unpacked(raw, block);
		return 0;
	}
	if (!block->layout->is_foreign) {
		t2x_out_bytes(raw->out, (const char *)block->raw,
			      (size_t)block->entries * block->layout->entry_size);
		return 0;
	}
	if (!block->is_framed) {
		put_events(raw, block->events, block->count);
		return 0;
	}
	put_anew(raw, block);
	return 0;
}

/* ---- the writer --------------------------------------------------------------------------------- */

static int begin_raw(struct t2x_printer *printer)
{
	struct raw *raw = calloc(1, sizeof(*raw));

	if (!raw)
		return -ENOMEM;
	raw->out = printer->out;
	printer->own = raw;
	return 0;
}

static void finish_raw(struct t2x_printer *printer)
{
	struct raw *raw = printer->own;

	free(raw->made);
	free(raw);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_raw = { .begin = begin_raw, .block = print_block, .finish = finish_raw };

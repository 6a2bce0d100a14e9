/* SPDX-License-Identifier: MIT */
/* t2x_lz4.c - marks, frames, and the way from a damaged one to the next. */
#include "t2x_lz4.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

#include "tlg_crc.h"

enum {
	MARK_BYTES = 24,
	FRAME_MAGIC = 0x184d2204,
	SKIP_MAGIC = 0x184d2a50,      /* the low 4 bits are free */
	MIN_FRAME = 7,                /* shortest frame header */
};

struct t2x_lz4 {
	struct t2x_window *file;
	const char *name;
	struct t2x_report *report;
	LZ4F_dctx *context;
	int in_frame;                 /* inside a frame that is given out in pieces */
	int is_break;
	int at_end;                   /* the file was cut off inside a frame */
	uint64_t frame_at;            /* offset of the latest frame */
	uint64_t skip;                /* bytes of a foreign skippable frame still to step over */
	uint32_t announced;           /* content of the next frame, as the mark in front of it says; 0: no mark */
	uint32_t stream;
};

struct t2x_lz4 *t2x_lz4_new(struct t2x_window *file, const char *name, struct t2x_report *report)
{
	struct t2x_lz4 *lz4 = calloc(1, sizeof(*lz4));

	if (!lz4)
		return NULL;
	lz4->file = file;
	lz4->name = name;
	lz4->report = report;
	if (LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION))) {
		free(lz4);
		return NULL;
	}
	return lz4;
}

void t2x_lz4_free(struct t2x_lz4 *lz4)
{
	if (lz4)
		LZ4F_freeDecompressionContext(lz4->context);
	free(lz4);
}

void t2x_lz4_report_to(struct t2x_lz4 *lz4, struct t2x_report *report)
{
	lz4->report = report;
}

int t2x_lz4_is_break(const struct t2x_lz4 *lz4)
{
	return lz4->is_break;
}

uint32_t t2x_lz4_stream(const struct t2x_lz4 *lz4)
{
	return lz4->stream;
}

static uint32_t load_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int is_skippable(uint32_t magic)
{
	return (magic & ~UINT32_C(15)) == SKIP_MAGIC;
}

int t2x_lz4_is_frame(const unsigned char *bytes, size_t n)
{
	return n >= 4 && (load_le32(bytes) == FRAME_MAGIC || is_skippable(load_le32(bytes)));
}

/* A mark, but perhaps for its magic. */
static int is_like_mark(const unsigned char *p, size_t n)
{
	return n >= MARK_BYTES && load_le32(p + 4) == MARK_BYTES - 8 && load_le32(p + 20) == tlg_crc32c(0, p + 8, 12);
}

static int is_mark(const unsigned char *p, size_t n)
{
	return n >= MARK_BYTES && load_le32(p) == TLG_SKIP_MAGIC && is_like_mark(p, n);
}

int t2x_lz4_has_mark(const unsigned char *bytes, size_t n)
{
	static const unsigned char magic[] = {
		TLG_SKIP_MAGIC & 0xff, TLG_SKIP_MAGIC >> 8 & 0xff, TLG_SKIP_MAGIC >> 16 & 0xff, TLG_SKIP_MAGIC >> 24
	};
	const unsigned char *end = bytes + n;

	while ((bytes = memmem(bytes, (size_t)(end - bytes), magic, sizeof(magic)))) {
		if (is_mark(bytes, (size_t)(end - bytes)))
			return 1;
		bytes++;
	}
	return 0;
}

/* ---- damage ------------------------------------------------------------------------------------- */

/* Offset of the first mark or frame; without one, of the bytes that may be the beginning of one. */
static size_t find_frame(const unsigned char *p, size_t n, int *found)
{
	*found = 0;
	for (size_t at = 0; at < n; at++) {
		*found = is_mark(p + at, n - at) || (n - at >= MIN_FRAME && load_le32(p + at) == FRAME_MAGIC);
		if (*found || n - at < MARK_BYTES)
			return at;
	}
	return n;
}

/* Step to the next mark or frame, or the end, and say why. */
static void skip_damage(struct t2x_lz4 *lz4, const char *reason)
{
	uint64_t from = lz4->file->offset;
	const unsigned char *p;
	int found = 0;
	size_t n;

	t2x_window_skip(lz4->file, 1);
	while (!found && (n = t2x_window_peek(lz4->file, T2X_LZ4_SEEN, &p))) {
		size_t step = find_frame(p, n, &found);
		t2x_window_skip(lz4->file, !found && n < T2X_LZ4_SEEN ? n : step);
	}
	t2x_report_damage(lz4->report, lz4->name, "byte", from, "%s, skipped %llu bytes", reason,
			  (unsigned long long)(lz4->file->offset - from));
	LZ4F_resetDecompressionContext(lz4->context);
	lz4->in_frame = 0;
	lz4->is_break = 1;
}

/* The file ends inside a frame: what has been decoded is used, block by block. */
static void note_cut(struct t2x_lz4 *lz4)
{
	t2x_report_damage(lz4->report, lz4->name, "byte", lz4->frame_at,
			  "LZ4 frame cut off by the end of the file");
	LZ4F_resetDecompressionContext(lz4->context);
	lz4->in_frame = 0;
	lz4->at_end = 1;
}

/* ---- frames ------------------------------------------------------------------------------------- */

/* No frame begins in these bytes behind the one at their beginning, and they are the last of the file. */
static int is_last_frame(const unsigned char *p, size_t n)
{
	int found;

	find_frame(p + 1, n - 1, &found);
	return n < T2X_LZ4_SEEN && !found;
}

/* Decode a whole frame of ours.  Return  its length, or 0 */
static size_t decode_whole(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to,
			   size_t content)
{
	size_t used = 0, made = 0, hint = 1;

	while (hint && !LZ4F_isError(hint) && used < n) {
		size_t in = n - used, room = content - made;
		hint = LZ4F_decompress(lz4->context, to + made, &room, p + used, &in, NULL);
		used += in;
		made += room;
		if (!in && !room)
			break;
	}
	if (!hint && made == content) {
		t2x_window_skip(lz4->file, used);
		return made;
	}
	if (!LZ4F_isError(hint) && used == n && is_last_frame(p, n)) {
		note_cut(lz4);
		t2x_window_skip(lz4->file, n);
		return made;
	}
	skip_damage(lz4, LZ4F_isError(hint) ? LZ4F_getErrorName(hint) : "LZ4 frame longer than it says");
	return 0;
}

/* The next piece of a frame that may be of any length. */
static size_t decode_piece(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to,
			   size_t room)
{
	size_t hint = LZ4F_decompress(lz4->context, to, &room, p, &n, NULL);

	if (LZ4F_isError(hint)) {
		skip_damage(lz4, LZ4F_getErrorName(hint));
		return 0;
	}
	t2x_window_skip(lz4->file, n);
	lz4->in_frame = hint != 0;
	return room;
}

static size_t begin_frame(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to)
{
	LZ4F_frameInfo_t info;
	size_t used = n, hint;
	uint32_t announced = lz4->announced;

	lz4->announced = 0;
	lz4->frame_at = lz4->file->offset;
	if (n < MIN_FRAME) {
		note_cut(lz4);
		t2x_window_skip(lz4->file, n);
		return 0;
	}
	hint = LZ4F_getFrameInfo(lz4->context, &info, p, &used);
	if (LZ4F_isError(hint)) {
		skip_damage(lz4, LZ4F_getErrorName(hint));
		return 0;
	}
	/* its checksum is one byte: what only looks like a header must not swallow what follows */
	if (announced && info.contentSize != announced) {
		skip_damage(lz4, "LZ4 frame not as its mark says");
		return 0;
	}
	if (info.contentSize && info.contentSize <= TLG_FRAME_BYTES) {
		size_t content = (size_t)info.contentSize;
		LZ4F_resetDecompressionContext(lz4->context);
		return decode_whole(lz4, p, n, to, content);
	}
	t2x_window_skip(lz4->file, used);
	lz4->in_frame = 1;
	return 0;
}

/* At a frame's beginning: a mark, something to skip, a frame, or damage.  Return  bytes decoded */
static size_t begin(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to)
{
	uint32_t magic = n >= 4 ? load_le32(p) : 0;

	if (is_mark(p, n)) {
		lz4->stream = load_le32(p + 8);
		lz4->announced = load_le32(p + 16);
		t2x_window_skip(lz4->file, MARK_BYTES);
	} else if (magic == TLG_SKIP_MAGIC || (is_skippable(magic) && is_like_mark(p, n))) {
		skip_damage(lz4, "wrong mark in front of an LZ4 frame");
	} else if (is_skippable(magic) && n >= 8) {
		lz4->skip = (uint64_t)load_le32(p + 4) + 8;
	} else if (magic == FRAME_MAGIC) {
		return begin_frame(lz4, p, n, to);
	} else {
		skip_damage(lz4, "not an LZ4 frame");
	}
	return 0;
}

ssize_t t2x_lz4_fill(void *source, unsigned char *to, size_t room)
{
	struct t2x_lz4 *lz4 = source;
	const unsigned char *p;
	size_t n, made = 0;

	lz4->is_break = lz4->at_end;
	lz4->at_end = 0;
	while (!made && !lz4->is_break) {
		n = t2x_window_peek(lz4->file, T2X_LZ4_SEEN, &p);
		if (!n && !lz4->in_frame)
			return lz4->file->error ? -lz4->file->error : 0;
		if (!n) {
			note_cut(lz4);
			return 0;
		}
		if (lz4->skip) {
			size_t step = lz4->skip < n ? (size_t)lz4->skip : n;
			t2x_window_skip(lz4->file, step);
			lz4->skip -= step;
		} else {
			made = lz4->in_frame ? decode_piece(lz4, p, n, to, room) : begin(lz4, p, n, to);
		}
	}
	return (ssize_t)made;
}

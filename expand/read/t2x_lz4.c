/* SPDX-License-Identifier: MIT */
/* t2x_lz4.c - marks, frames, and the search for the next good frame behind a damaged one. */
#include "t2x_lz4.h"

#include <errno.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_stream_table.h"
#include "tlg_crc.h"

enum {
	MARK_BYTES = T2X_LZ4_MARK_BYTES,
	FRAME_MAGIC = T2X_LZ4_FRAME_MAGIC,
	SKIP_MAGIC = 0x184d2a50,      /* the low 4 bits may have any value */
	MAGIC_LAST = FRAME_MAGIC >> 24,       /* the last byte of both */
	MIN_FRAME = 7,                /* shortest frame header */
	HAS_CONTENT_SIZE = 8,         /* in a frame's flags */
	MAX_FRAME = MARK_BYTES + TLG_FRAME_BYTES + 64,   /* of ours, stored; a compressed one is not longer */
	LOOK_BYTES = 2 * MAX_FRAME,
	/* so many, and so far from each other, that one lies in front of each place in the window of whoever reads */
	POINTS = 40,
	POINT_BYTES = 8192,
};
static_assert(TLG_SKIP_MAGIC >> 24 == MAGIC_LAST, "one search finds marks and frames");

struct t2x_lz4 {
	struct t2x_window *file;
	const char *name;
	struct t2x_report *report;
	LZ4F_dctx *context;
	int in_frame;                 /* inside a frame that is delivered in pieces */
	int is_break;
	int at_end;                   /* the file was cut off inside a frame */
	struct t2x_lz4_cut *cut;      /* of whoever wants to judge that; NULL: report it */
	uint64_t frame_at;            /* offset of the latest frame */
	uint64_t made;                /* offset in the plain bytes of what comes next */
	struct { uint64_t at, plain; } points[POINTS];   /* a ring of frames in which decoding can begin again */
	unsigned npoints;             /* points noted so far; 0: none is known */
	uint64_t skip;                /* bytes of a foreign skippable frame that are still to be skipped */
	uint32_t announced;           /* content of the next frame, as the mark in front of it says; 0: no mark */
	uint32_t stream;
	struct t2x_stream_table streams;   /* streams of which a mark was found where a frame begins */
	unsigned char *scratch;       /* TLG_FRAME_BYTES for frames that the search decodes; NULL: not needed yet */
	uint64_t looked_bytes;        /* that the search has examined or decoded */
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
	if (!lz4)
		return;
	LZ4F_freeDecompressionContext(lz4->context);
	t2x_stream_table_free(&lz4->streams);
	free(lz4->scratch);
	free(lz4);
}

void t2x_lz4_report_to(struct t2x_lz4 *lz4, const char *name, struct t2x_report *report)
{
	lz4->name = name;
	lz4->report = report;
}

void t2x_lz4_restart(struct t2x_lz4 *lz4, uint64_t plain)
{
	LZ4F_resetDecompressionContext(lz4->context);
	lz4->in_frame = lz4->is_break = lz4->at_end = 0;
	lz4->skip = lz4->announced = 0;
	lz4->npoints = 0;
	lz4->made = plain;
}

void t2x_lz4_defer_cut(struct t2x_lz4 *lz4, struct t2x_lz4_cut *cut)
{
	lz4->cut = cut;
}

int t2x_lz4_park(struct t2x_lz4 *lz4, size_t unread, uint64_t *at, size_t *again)
{
	const uint64_t place = lz4->made - unread;
	unsigned n = lz4->npoints, oldest = n > POINTS ? n - POINTS : 0;

	while (unread && n > oldest && lz4->points[(n - 1) % POINTS].plain > place)
		n--;
	if (lz4->in_frame || lz4->is_break || lz4->at_end || lz4->skip || (unread && n == oldest))
		return 0;
	*at = lz4->file->offset;
	*again = 0;
	if (unread) {
		*at = lz4->points[(n - 1) % POINTS].at;
		lz4->made = lz4->points[(n - 1) % POINTS].plain;
		lz4->npoints = lz4->announced = 0;
		*again = (size_t)(place - lz4->made);
	}
	LZ4F_freeDecompressionContext(lz4->context);
	free(lz4->scratch);
	lz4->context = NULL;
	lz4->scratch = NULL;
	return 1;
}

int t2x_lz4_restore(struct t2x_lz4 *lz4)
{
	return LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION)) ? -ENOMEM : 0;
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

/* Return  1: this is a mark, except perhaps for its magic */
static int is_like_mark(const unsigned char *p, size_t n)
{
	return n >= MARK_BYTES && load_le32(p + 4) == MARK_BYTES - 8 && load_le32(p + 20) == tlg_crc32c(0, p + 8, 12);
}

int t2x_lz4_is_mark(const unsigned char *p, size_t n)
{
	return n >= MARK_BYTES && load_le32(p) == TLG_SKIP_MAGIC && is_like_mark(p, n);
}

/* ---- damage ------------------------------------------------------------------------------------- */

/* Return  the offset of the first mark or frame; if !*found, of the last bytes, which may be the beginning of one */
static size_t find_frame(const unsigned char *p, size_t n, int *found)
{
	size_t at = 0;

	*found = 0;
	for (; n - at >= MARK_BYTES; at++) {
		const unsigned char *last = memchr(p + at + 3, MAGIC_LAST, n - at - MARK_BYTES + 1);

		at = last ? (size_t)(last - 3 - p) : n - MARK_BYTES;
		*found = last && (load_le32(p + at) == FRAME_MAGIC || t2x_lz4_is_mark(p + at, n - at));
		if (*found)
			return at;
	}
	*found = n - at >= MIN_FRAME && load_le32(p + at) == FRAME_MAGIC;
	return at;
}

/* Decode the frame of ours whose first used bytes the context has read.  Return  its bytes; 0: it is not good */
static size_t try_frame(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, size_t used)
{
	size_t made = 0, hint = 1;

	while (hint && !LZ4F_isError(hint) && used < n) {
		size_t in = n - used, room = TLG_FRAME_BYTES - made;
		hint = LZ4F_decompress(lz4->context, lz4->scratch + made, &room, p + used, &in, NULL);
		used += in;
		made += room;
		if (!in && !room)
			break;
	}
	lz4->looked_bytes += made;
	return hint ? 0 : used;
}

/* Return  the bytes of the good frame of ours at p, and of the mark in front of it; 0: no good frame is there */
static size_t unit_length(struct t2x_lz4 *lz4, const unsigned char *p, size_t n)
{
	size_t mark = t2x_lz4_is_mark(p, n) ? MARK_BYTES : 0, used = n - mark, frame = 0;
	LZ4F_frameInfo_t info;

	if (used < MIN_FRAME || load_le32(p + mark) != FRAME_MAGIC)
		return 0;
	LZ4F_resetDecompressionContext(lz4->context);
	if (!LZ4F_isError(LZ4F_getFrameInfo(lz4->context, &info, p + mark, &used)) && info.contentSize &&
	    info.contentSize <= TLG_FRAME_BYTES && (!mark || info.contentSize == load_le32(p + 16)))
		frame = try_frame(lz4, p + mark, n - mark, used);
	LZ4F_resetDecompressionContext(lz4->context);
	return frame ? mark + frame : 0;
}

/* The stream that the mark at p names; 0: there is none. */
static uint32_t stream_at(const unsigned char *p, size_t n)
{
	return t2x_lz4_is_mark(p, n) ? load_le32(p + 8) : 0;
}

/* Limit the work of the search in proportion to what has been read.  Return  0: only known streams count now */
static int is_worth_looking(struct t2x_lz4 *lz4)
{
	if (!lz4->scratch)
		lz4->scratch = malloc(TLG_FRAME_BYTES);
	return lz4->scratch && !t2x_window_resize(lz4->file, T2X_LZ4_SEEN + LOOK_BYTES) &&
	       lz4->looked_bytes < UINT64_C(0x4000000) + 16 * lz4->file->offset;
}

/*
 * Whether the mark or frame that seems to begin from bytes further on counts, see t2x_lz4.h.
 * *end: end of the good frames that are back to back there.  If the first does not count, none of them does
 */
static int counts(struct t2x_lz4 *lz4, size_t from, size_t *end)
{
	int is_worth = is_worth_looking(lz4), is_broken = 0, found;
	const unsigned char *p;
	size_t n = t2x_window_peek(lz4->file, from + LOOK_BYTES, &p), step;
	uint32_t first = stream_at(p + from, n - from);

	*end = from + 1;
	for (size_t at = from; at < n; at += step) {
		uint32_t stream = stream_at(p + at, n - at);
		if (!is_broken && (at - from >= MAX_FRAME || (stream && t2x_stream_table_get(&lz4->streams, stream))))
			return 1;                                   /* case 1 or 2 */
		step = is_worth ? unit_length(lz4, p + at, n - at) : 0;
		if (step && first && stream == first && at - from >= MAX_FRAME)
			return 1;                                   /* case 3 */
		if (!step && (at == from || n - at < MARK_BYTES))
			return 0;
		if (!step)
			is_broken = 1;
		else if (!is_broken)
			*end = at + step;
		if (!step)
			step = 1 + find_frame(p + at + 1, n - at - 1, &found);
		lz4->looked_bytes += step;
	}
	return !is_broken && n < from + LOOK_BYTES;                 /* case 2: to the end */
}

/* Return  1: this is a frame of the lz4 program, in a file without marks: it has no size, or is larger than ours */
static int is_foreign(const struct t2x_lz4 *lz4, const unsigned char *p, size_t n)
{
	if (lz4->streams.by_id.count || t2x_lz4_is_mark(p, n))
		return 0;
	return n < MIN_FRAME + 8 || !(p[4] & HAS_CONTENT_SIZE) || load_le32(p + 6) > TLG_FRAME_BYTES ||
	       load_le32(p + 10);
}

int t2x_lz4_is_ahead(struct t2x_lz4 *lz4)
{
	const unsigned char *p;
	size_t n, end;
	int found;

	for (size_t at = 0; (n = t2x_window_peek(lz4->file, T2X_LZ4_SEEN, &p)) > at && at < T2X_LZ4_SEEN; at = end) {
		at += find_frame(p + at, n - at, &found);
		end = at + 1;
		if (found && t2x_lz4_is_mark(p + at, n - at) && counts(lz4, at, &end))
			return 1;
	}
	return 0;
}

/* Skip to the next mark or frame that counts, or to the end. */
static void skip_to_frame(struct t2x_lz4 *lz4)
{
	const unsigned char *p;
	size_t n, at, end;
	int found;

	while ((n = t2x_window_peek(lz4->file, T2X_LZ4_SEEN, &p))) {
		at = find_frame(p, n, &found);
		if (found && (is_foreign(lz4, p + at, n - at) || counts(lz4, at, &end))) {
			t2x_window_skip(lz4->file, at);
			return;
		}
		t2x_window_skip(lz4->file, found ? end : n < T2X_LZ4_SEEN ? n : at);
	}
}

/* Skip to the next mark or frame that counts, or to the end, and report why. */
static void skip_damage(struct t2x_lz4 *lz4, const char *reason)
{
	uint64_t from = lz4->file->offset;

	t2x_window_skip(lz4->file, 1);
	skip_to_frame(lz4);
	t2x_report_damage(lz4->report, lz4->name, "byte", from, "%s, skipped %llu bytes", reason,
			  (unsigned long long)(lz4->file->offset - from));
	LZ4F_resetDecompressionContext(lz4->context);
	lz4->in_frame = 0;
	lz4->npoints = 0;
	lz4->is_break = 1;
}

/* Return  in words what liblz4 finds wrong with a frame */
static const char *explain(size_t code)
{
	static const struct { const char *name, *words; } reasons[] = {
		{ "ERROR_headerChecksum_invalid", "LZ4 frame whose header has a wrong checksum" },
		{ "ERROR_blockChecksum_invalid", "LZ4 block with a wrong checksum" },
		{ "ERROR_contentChecksum_invalid", "LZ4 frame with a wrong checksum" },
		{ "ERROR_frameType_unknown", "not an LZ4 frame" },
		{ "ERROR_headerVersion_wrong", "LZ4 frame of another version" },
		{ "ERROR_reservedFlag_set", "LZ4 frame of another version" },
		{ "ERROR_maxBlockSize_invalid", "LZ4 frame of blocks that are too large" },
		{ "ERROR_frameSize_wrong", "LZ4 frame not as long as it says" },
		{ "ERROR_frameHeader_incomplete", "LZ4 frame whose header is cut off" },
		{ "ERROR_allocation_failed", "no memory for an LZ4 frame" },
	};
	const char *name = LZ4F_getErrorName(code);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (!strcmp(name, reasons[i].name))
			return reasons[i].words;
	return "damaged LZ4 frame";
}

/* The file ends inside a frame.  The blocks that have been decoded are still used. */
static void end_truncated(struct t2x_lz4 *lz4)
{
	if (lz4->cut)
		*lz4->cut = (struct t2x_lz4_cut){ 1, lz4->stream, lz4->frame_at };
	else
		t2x_report_damage(lz4->report, lz4->name, "byte", lz4->frame_at, T2X_LZ4_CUT);
	LZ4F_resetDecompressionContext(lz4->context);
	lz4->in_frame = 0;
	lz4->npoints = 0;
	lz4->at_end = 1;
}

/* ---- frames ------------------------------------------------------------------------------------- */

/* Return  1: these are the last bytes of the file, and no other frame begins in them */
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
		end_truncated(lz4);
		t2x_window_skip(lz4->file, n);
		return made;
	}
	skip_damage(lz4, LZ4F_isError(hint) ? explain(hint) : "LZ4 frame longer than it says");
	return 0;
}

/* Decode the next piece of a frame of any length.  Return  bytes decoded */
static size_t decode_piece(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to,
			   size_t room)
{
	size_t hint = LZ4F_decompress(lz4->context, to, &room, p, &n, NULL);

	if (LZ4F_isError(hint)) {
		skip_damage(lz4, explain(hint));
		return 0;
	}
	t2x_window_skip(lz4->file, n);
	lz4->in_frame = hint != 0;
	return room;
}

/* At the beginning of a frame of ours. */
static void note_point(struct t2x_lz4 *lz4)
{
	if (lz4->npoints && lz4->made - lz4->points[(lz4->npoints - 1) % POINTS].plain < POINT_BYTES)
		return;
	lz4->points[lz4->npoints % POINTS].at = lz4->frame_at;
	lz4->points[lz4->npoints % POINTS].plain = lz4->made;
	lz4->npoints++;
}

static size_t begin_frame(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to)
{
	LZ4F_frameInfo_t info;
	size_t used = n, hint;
	uint32_t announced = lz4->announced;

	lz4->announced = 0;
	lz4->frame_at = lz4->file->offset;
	if (n < MIN_FRAME) {
		end_truncated(lz4);
		t2x_window_skip(lz4->file, n);
		return 0;
	}
	hint = LZ4F_getFrameInfo(lz4->context, &info, p, &used);
	if (LZ4F_isError(hint)) {
		skip_damage(lz4, explain(hint));
		return 0;
	}
	/* A header's checksum is one byte.  So bytes that look like a header by chance must not hide what follows. */
	if (announced && info.contentSize != announced) {
		skip_damage(lz4, "LZ4 frame not as its mark says");
		return 0;
	}
	if (info.contentSize && info.contentSize <= TLG_FRAME_BYTES) {
		size_t content = (size_t)info.contentSize;
		LZ4F_resetDecompressionContext(lz4->context);
		note_point(lz4);
		return decode_whole(lz4, p, n, to, content);
	}
	t2x_window_skip(lz4->file, used);
	lz4->in_frame = 1;
	lz4->npoints = 0;
	return 0;
}

/* At a frame's beginning: a mark, something to skip, a frame, or damage.  Return  bytes decoded */
static size_t begin(struct t2x_lz4 *lz4, const unsigned char *p, size_t n, unsigned char *to)
{
	uint32_t magic = n >= 4 ? load_le32(p) : 0;

	if (t2x_lz4_is_mark(p, n)) {
		lz4->stream = load_le32(p + 8);
		t2x_stream_table_add(&lz4->streams, lz4->stream, 0);
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
			end_truncated(lz4);
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
	lz4->made += made;
	return (ssize_t)made;
}

/* SPDX-License-Identifier: MIT */
/* t2x_firefox_rows.c - see t2x_firefox_rows.h. */
#include "t2x_firefox_rows.h"

#include <string.h>

enum { VARINT_BYTES = 10, MARKER_BYTES = 2 + 5 * VARINT_BYTES };

/* What of a marker is in its first two bytes. */
enum { HAS_TEXT = 0x40, HAS_VALUE = 0x80 };      /* of the first, whose rest is schema and phase */
enum { PHASE_SHIFT = 3, IS_UNSIGNED = 0x80 };    /* of the second, whose rest is end */

static unsigned char *put_varint(unsigned char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (unsigned char)(value | 0x80);
	*to++ = (unsigned char)value;
	return to;
}

/* 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static unsigned char *put_signed(unsigned char *to, uint64_t value)
{
	return put_varint(to, value << 1 ^ (value >> 63 ? UINT64_MAX : 0));
}

static uint64_t take_varint(struct t2x_firefox_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char c = *cursor->at++;
		value |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return value;
	}
}

static uint64_t take_signed(struct t2x_firefox_cursor *cursor)
{
	uint64_t value = take_varint(cursor);

	return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

/* ---- pieces ----------------------------------------------------------------------------------------- */

/* In the temporary file. */
struct t2x_firefox_piece {
	uint64_t at;
	size_t n;
};

static void spill(struct t2x_firefox_rows *rows)
{
	struct t2x_firefox_piece piece = { .n = rows->bytes.n };

	if (!t2x_spill_put(rows->spill, rows->bytes.bytes, piece.n, &piece.at))
		return;
	t2x_bytes_put(&rows->pieces, &piece, sizeof(piece));
	rows->bytes.n = 0;
	if (rows->spill->held > T2X_SPILL_MEMORY && !rows->bytes.error) {
		rows->spill->held -= rows->bytes.max;
		t2x_bytes_free(&rows->bytes);
	}
}

/* n bytes for a row.  Return  NULL: no memory */
static unsigned char *extend(struct t2x_firefox_rows *rows, size_t n)
{
	size_t before = rows->bytes.max;
	unsigned char *to = t2x_bytes_extend(&rows->bytes, n);

	if (rows->spill)
		rows->spill->held += rows->bytes.max - before;
	return to;
}

static void end_row(struct t2x_firefox_rows *rows)
{
	rows->count++;
	if (rows->spill && t2x_spill_is_due(rows->spill, rows->bytes.n))
		spill(rows);
}

/* Return  0: there is no more, or it cannot be read */
static int load(struct t2x_firefox_cursor *cursor)
{
	const struct t2x_firefox_rows *rows = cursor->rows;
	size_t pieces = rows->pieces.n / sizeof(struct t2x_firefox_piece), n = rows->bytes.n;
	struct t2x_firefox_piece piece;

	if (cursor->next > pieces)
		return 0;
	if (cursor->next == pieces) {
		cursor->at = rows->bytes.bytes;
	} else {
		memcpy(&piece, rows->pieces.bytes + cursor->next * sizeof(piece), sizeof(piece));
		n = piece.n;
		cursor->at = t2x_spill_get(rows->spill, piece.at, n);
	}
	cursor->next = cursor->at ? cursor->next + 1 : pieces + 1;
	cursor->end = cursor->at ? cursor->at + n : NULL;
	return cursor->at != NULL;
}

static inline int has_row(struct t2x_firefox_cursor *cursor)
{
	while (cursor->at == cursor->end)
		if (!load(cursor))
			return 0;
	return 1;
}

int t2x_firefox_rows_error(const struct t2x_firefox_rows *rows)
{
	return rows->bytes.error ? rows->bytes.error : rows->pieces.error;
}

void t2x_firefox_rows_free(struct t2x_firefox_rows *rows)
{
	t2x_bytes_free(&rows->bytes);
	t2x_bytes_free(&rows->pieces);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

void t2x_firefox_put_marker(struct t2x_firefox_rows *rows, const struct t2x_firefox_marker *marker)
{
	unsigned char head[MARKER_BYTES], *p = head, *to;
	size_t all = marker->text ? marker->length : 0;
	size_t n = all < T2X_FIREFOX_TEXT_BYTES ? all : T2X_FIREFOX_TEXT_BYTES;

	*p++ = (unsigned char)((unsigned)marker->schema | (unsigned)marker->phase << PHASE_SHIFT |
			       (marker->text ? HAS_TEXT : 0u) | (marker->has_value ? HAS_VALUE : 0u));
	*p++ = (unsigned char)(marker->end | (marker->is_unsigned ? IS_UNSIGNED : 0u));
	p = put_varint(p, marker->name);
	p = put_signed(p, marker->end_ns - rows->ns);
	p = marker->phase != T2X_FIREFOX_INSTANT ? put_signed(p, marker->end_ns - marker->start_ns) : p;
	p = marker->has_value ? put_signed(p, (uint64_t)marker->value) : p;
	p = marker->text ? put_varint(p, n) : p;
	to = extend(rows, (size_t)(p - head) + n);
	if (!to)
		return;
	memcpy(to, head, (size_t)(p - head));
	if (n)
		memcpy(to + (p - head), marker->text, n);
	rows->ns = marker->end_ns;
	end_row(rows);
}

int t2x_firefox_next_marker(struct t2x_firefox_cursor *cursor, struct t2x_firefox_marker *marker)
{
	unsigned first, second;

	if (!has_row(cursor))
		return 0;
	first = *cursor->at++;
	second = *cursor->at++;
	*marker = (struct t2x_firefox_marker){
		.schema = (enum t2x_firefox_schema)(first & ((1u << PHASE_SHIFT) - 1)),
		.phase = (enum t2x_firefox_phase)(first >> PHASE_SHIFT & 3),
		.end = second & (IS_UNSIGNED - 1u), .is_unsigned = (second & IS_UNSIGNED) != 0,
		.has_value = (first & HAS_VALUE) != 0,
	};
	marker->name = (uint32_t)take_varint(cursor);
	cursor->ns += take_signed(cursor);
	marker->start_ns = marker->end_ns = cursor->ns;
	if (marker->phase != T2X_FIREFOX_INSTANT)
		marker->start_ns -= take_signed(cursor);
	if (marker->has_value)
		marker->value = (int64_t)take_signed(cursor);
	if (first & HAS_TEXT) {
		marker->length = (size_t)take_varint(cursor);
		marker->text = (const char *)cursor->at;
		cursor->at += marker->length;
	}
	return 1;
}

void t2x_firefox_put_point(struct t2x_firefox_rows *rows, uint64_t ns, int64_t value)
{
	unsigned char row[2 * VARINT_BYTES], *p = put_signed(row, ns - rows->ns), *to;

	p = put_signed(p, (uint64_t)value - (uint64_t)rows->value);
	to = extend(rows, (size_t)(p - row));
	if (!to)
		return;
	memcpy(to, row, (size_t)(p - row));
	rows->ns = ns;
	rows->value = value;
	end_row(rows);
}

int t2x_firefox_next_point(struct t2x_firefox_cursor *cursor, struct t2x_firefox_point *point)
{
	if (!has_row(cursor))
		return 0;
	cursor->ns += take_signed(cursor);
	cursor->value = (int64_t)((uint64_t)cursor->value + take_signed(cursor));
	*point = (struct t2x_firefox_point){ .ns = cursor->ns, .value = cursor->value };
	return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_rows.h - rows of the firefox format's tables, as they wait for the end: markers, and points of time.
 *
 * Numbers are varints, times differences from the row before: a region's marker takes about 8 bytes, a point 3.  The
 * last rows are in memory, those before them in a temporary file (t2x_spill.h).
 */
#ifndef T2X_FIREFOX_ROWS_H
#define T2X_FIREFOX_ROWS_H

#include "profile/t2x_bytes.h"
#include "t2x_spill.h"

/* Of a text; the rest is cut off: an event of 24 bytes may make a message of a megabyte. */
enum { T2X_FIREFOX_TEXT_BYTES = 4096 };

/* Rows that are put one behind the other; all zero, but for spill: none. */
struct t2x_firefox_rows {
	struct t2x_spill *spill;        /* which several tables may share; NULL: all rows stay in memory */
	struct t2x_bytes bytes;         /* the last rows */
	struct t2x_bytes pieces;        /* where those before them are: struct t2x_firefox_piece */
	uint64_t ns;                    /* of the last one */
	int64_t value;                  /* likewise */
	uint64_t count;
};

/* What a marker is, and so which fields it has: the schemas of markers in t2x_firefox_print.c. */
enum t2x_firefox_schema {
	T2X_FIREFOX_REGION, T2X_FIREFOX_LOST, T2X_FIREFOX_DATA, T2X_FIREFOX_COUNTER, T2X_FIREFOX_TIMER,
	T2X_FIREFOX_CHILD, T2X_FIREFOX_EVENT, T2X_FIREFOX_SCHEMAS,
};

/* An instant ends where it starts. */
enum t2x_firefox_phase { T2X_FIREFOX_INSTANT, T2X_FIREFOX_INTERVAL, T2X_FIREFOX_START };

struct t2x_firefox_marker {
	enum t2x_firefox_schema schema;
	enum t2x_firefox_phase phase;
	uint32_t name;                  /* number of a frame */
	uint64_t start_ns, end_ns;
	unsigned end;                   /* of a region: enum t2x_span_end */
	int has_value, is_unsigned;
	int64_t value;
	const char *text;               /* NULL: none; not NUL-terminated */
	size_t length;
};

/* A point of time: from there on a thread has this stack, a counter this value. */
struct t2x_firefox_point {
	uint64_t ns;
	int64_t value;
};

void t2x_firefox_put_marker(struct t2x_firefox_rows *rows, const struct t2x_firefox_marker *marker);
void t2x_firefox_put_point(struct t2x_firefox_rows *rows, uint64_t ns, int64_t value);

/* Return  0, or -ENOMEM: rows are missing */
int t2x_firefox_rows_error(const struct t2x_firefox_rows *rows);

void t2x_firefox_rows_free(struct t2x_firefox_rows *rows);

/*
 * Reads rows from the first on; texts are in the rows, and gone with the next one.  Of tables with the same spill one
 * cursor is read at a time: another one that has begun is not read on.
 */
struct t2x_firefox_cursor {
	const struct t2x_firefox_rows *rows;
	const unsigned char *at, *end;  /* in a piece, or the last rows */
	size_t next;                    /* number of the piece behind it */
	uint64_t ns;
	int64_t value;
};

static inline struct t2x_firefox_cursor t2x_firefox_first(const struct t2x_firefox_rows *rows)
{
	return (struct t2x_firefox_cursor){ .rows = rows };
}

/* Return  0: there is no more */
int t2x_firefox_next_marker(struct t2x_firefox_cursor *cursor, struct t2x_firefox_marker *marker);
int t2x_firefox_next_point(struct t2x_firefox_cursor *cursor, struct t2x_firefox_point *point);

#endif

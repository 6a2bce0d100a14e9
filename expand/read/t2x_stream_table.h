/* SPDX-License-Identifier: MIT */
/*
 * t2x_stream_table.h - the known streams of a file, by their ids, and the latest stream of each process.
 *
 * The table keeps the latest 32768 streams.  A stream that it dropped, and that continues, has to become known again.
 */
#ifndef T2X_STREAM_TABLE_H
#define T2X_STREAM_TABLE_H

#include "base/t2x_map.h"

struct t2x_known_stream {
	struct t2x_known_stream *next;    /* the one that became known after it */
	uint32_t id;
	uint32_t last_number;             /* of its latest block */
	uint32_t lookahead;               /* t2x_scanner.lookaheads when a lookahead last found a block of it */
	uint16_t pid;
};

/* All zero: no stream is known. */
struct t2x_stream_table {
	struct t2x_map by_id, by_pid;
	struct t2x_known_stream *oldest, *newest;
};

/* Return  the stream with this id; the latest stream of the process; NULL: it is not known */
static inline struct t2x_known_stream *t2x_stream_table_get(const struct t2x_stream_table *table, uint32_t id)
{
	return t2x_map_get(&table->by_id, id);
}

static inline struct t2x_known_stream *t2x_stream_table_latest(const struct t2x_stream_table *table, uint16_t pid)
{
	return t2x_map_get(&table->by_pid, pid);
}

/* Add the stream as the latest of its process.  Return  NULL: without memory it stays unknown */
struct t2x_known_stream *t2x_stream_table_add(struct t2x_stream_table *table, uint32_t id, uint16_t pid);

void t2x_stream_table_free(struct t2x_stream_table *table);

#endif

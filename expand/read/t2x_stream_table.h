/* SPDX-License-Identifier: MIT */
/*
 * t2x_stream_table.h - the streams of a file that are known: by their ids, and the latest of each process.
 *
 * The latest 32768 are kept.  One that was dropped and goes on has to become known anew.
 */
#ifndef T2X_STREAM_TABLE_H
#define T2X_STREAM_TABLE_H

#include "base/t2x_map.h"

struct t2x_known_stream {
	struct t2x_known_stream *next;    /* became known after it */
	uint32_t id;
	uint32_t last_number;             /* of its blocks */
	uint32_t lookahead;               /* the last that has seen a block of it: t2x_scanner.lookaheads */
	uint16_t pid;
};

/* All zero: none. */
struct t2x_stream_table {
	struct t2x_map by_id, by_pid;
	struct t2x_known_stream *oldest, *newest;
};

/* The stream, the latest stream of the process; or NULL. */
static inline struct t2x_known_stream *t2x_stream_table_get(const struct t2x_stream_table *table, uint32_t id)
{
	return t2x_map_get(&table->by_id, id);
}

static inline struct t2x_known_stream *t2x_stream_table_latest(const struct t2x_stream_table *table, uint16_t pid)
{
	return t2x_map_get(&table->by_pid, pid);
}

/* The stream is the latest of the process.  Without memory it is not kept. */
void t2x_stream_table_add(struct t2x_stream_table *table, uint32_t id, uint16_t pid);

void t2x_stream_table_free(struct t2x_stream_table *table);

#endif

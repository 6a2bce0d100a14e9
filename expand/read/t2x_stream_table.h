/* SPDX-License-Identifier: MIT */
/*
 * t2x_stream_table.h - the streams that have been met in a file: by their ids, and the latest of each process.
 *
 * The latest 32768 are remembered.  One that is forgotten and goes on has to be met anew.
 */
#ifndef T2X_STREAM_TABLE_H
#define T2X_STREAM_TABLE_H

#include "base/t2x_map.h"

struct t2x_met {
	struct t2x_met *next;             /* that was met after it */
	uint32_t id;
	uint32_t last_number;             /* of its blocks */
	uint32_t look;                    /* that has seen a block of it: t2x_places.looks */
	uint16_t pid;
};

/* All zero: none. */
struct t2x_mets {
	struct t2x_map by_id, by_pid;
	struct t2x_met *oldest, *newest;
};

/* The stream, the latest stream of the process; or NULL. */
static inline struct t2x_met *t2x_met_get(const struct t2x_mets *mets, uint32_t id)
{
	return t2x_map_get(&mets->by_id, id);
}

static inline struct t2x_met *t2x_met_latest(const struct t2x_mets *mets, uint16_t pid)
{
	return t2x_map_get(&mets->by_pid, pid);
}

/* The stream is the latest of the process.  Without memory it is not remembered. */
void t2x_met_remember(struct t2x_mets *mets, uint32_t id, uint16_t pid);

void t2x_met_free(struct t2x_mets *mets);

#endif

/* SPDX-License-Identifier: MIT */
/* t2x_stream_table.c - see t2x_stream_table.h. */
#include "t2x_stream_table.h"

#include <stdlib.h>

enum { MAX_STREAMS = 32768 };

static void forget_oldest(struct t2x_mets *mets)
{
	struct t2x_met *met = mets->oldest;

	mets->oldest = met->next;
	t2x_map_remove(&mets->by_id, met->id);
	if (t2x_map_get(&mets->by_pid, met->pid) == met)
		t2x_map_remove(&mets->by_pid, met->pid);
	free(met);
}

static struct t2x_met *meet(struct t2x_mets *mets, uint32_t id, uint16_t pid)
{
	struct t2x_met *met = calloc(1, sizeof(*met));

	if (!met || t2x_map_put(&mets->by_id, id, met)) {
		free(met);
		return NULL;
	}
	met->id = id;
	met->pid = pid;
	if (mets->oldest)
		mets->newest->next = met;
	else
		mets->oldest = met;
	mets->newest = met;
	if (mets->by_id.count > MAX_STREAMS)
		forget_oldest(mets);
	return met;
}

void t2x_met_remember(struct t2x_mets *mets, uint32_t id, uint16_t pid)
{
	struct t2x_met *met = t2x_met_get(mets, id);

	if (!met)
		met = meet(mets, id, pid);
	/* it may be the latest of one process only, and is one process's, but for what somebody has made up */
	if (met && met->pid == pid)
		t2x_map_put(&mets->by_pid, pid, met);
}

void t2x_met_free(struct t2x_mets *mets)
{
	while (mets->oldest) {
		struct t2x_met *next = mets->oldest->next;
		free(mets->oldest);
		mets->oldest = next;
	}
	t2x_map_free(&mets->by_id);
	t2x_map_free(&mets->by_pid);
}

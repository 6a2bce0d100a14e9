/* SPDX-License-Identifier: MIT */
/* t2x_stream_table.c - see t2x_stream_table.h. */
#include "t2x_stream_table.h"

#include <stdlib.h>

enum { MAX_STREAMS = 32768 };

static void drop_oldest(struct t2x_stream_table *table)
{
	struct t2x_known_stream *stream = table->oldest;

	table->oldest = stream->next;
	t2x_map_remove(&table->by_id, stream->id);
	if (t2x_map_get(&table->by_pid, stream->pid) == stream)
		t2x_map_remove(&table->by_pid, stream->pid);
	free(stream);
}

static struct t2x_known_stream *add(struct t2x_stream_table *table, uint32_t id, uint16_t pid)
{
	struct t2x_known_stream *stream = calloc(1, sizeof(*stream));

	if (!stream || t2x_map_put(&table->by_id, id, stream)) {
		free(stream);
		return NULL;
	}
	stream->id = id;
	stream->pid = pid;
	if (table->oldest)
		table->newest->next = stream;
	else
		table->oldest = stream;
	table->newest = stream;
	if (table->by_id.count > MAX_STREAMS)
		drop_oldest(table);
	return stream;
}

struct t2x_known_stream *t2x_stream_table_add(struct t2x_stream_table *table, uint32_t id, uint16_t pid)
{
	struct t2x_known_stream *stream = t2x_stream_table_get(table, id);

	if (!stream)
		stream = add(table, id, pid);
	/* A stream belongs to one process.  Only a forged file names it together with another process id. */
	if (stream && stream->pid == pid)
		t2x_map_put(&table->by_pid, pid, stream);
	return stream;
}

void t2x_stream_table_free(struct t2x_stream_table *table)
{
	while (table->oldest) {
		struct t2x_known_stream *next = table->oldest->next;
		free(table->oldest);
		table->oldest = next;
	}
	t2x_map_free(&table->by_id);
	t2x_map_free(&table->by_pid);
}

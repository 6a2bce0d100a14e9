/* SPDX-License-Identifier: MIT */
/* t2x_threads.c - see t2x_threads.h. */
#include "t2x_threads.h"

#include <stdlib.h>

/* A record, and at most an entry in each of two maps, and a small map for the first thread of a stream. */
static size_t price_of(const struct t2x_threads *threads)
{
	return threads->bytes + 2 * T2X_MAP_ENTRY_BYTES + 48;
}

static int has_room(const struct t2x_threads *threads)
{
	return threads->count < T2X_THREADS_MAX && (!threads->budget || *threads->budget >= price_of(threads));
}

static struct t2x_map *find_stream(struct t2x_threads *threads, uint32_t stream)
{
	struct t2x_map *map = t2x_map_get(&threads->streams, stream);

	if (map || !has_room(threads))
		return map;
	map = calloc(1, sizeof(*map));
	if (map && t2x_map_put(&threads->streams, stream, map)) {
		free(map);
		map = NULL;
	}
	return map;
}

static void *add(struct t2x_threads *threads, struct t2x_map *map, const struct t2x_thread *thread)
{
	struct t2x_thread_record *record = has_room(threads) ? calloc(1, threads->bytes) : NULL;

	if (!record)
		return NULL;
	*record = (struct t2x_thread_record){ thread->process->stream, thread->tid, thread->number };
	if (t2x_map_put(map, thread->tid, record)) {
		free(record);
		return NULL;
	}
	threads->count++;
	if (threads->budget)
		*threads->budget -= price_of(threads);
	return record;
}

static void note_name(struct t2x_threads *threads, struct t2x_thread_record *record, const struct t2x_thread *thread)
{
	const int is_renamed = record->number && record->number != thread->number;

	record->number = thread->number;
	if (is_renamed && threads->renamed)
		threads->renamed(threads->target, record, thread);
}

void *t2x_threads_search(struct t2x_threads *threads, const struct t2x_thread *thread)
{
	unsigned at = thread->number % T2X_THREADS_AT_HAND;
	struct t2x_map *map = find_stream(threads, thread->process->stream);
	void *record = map ? t2x_map_get(map, thread->tid) : NULL;

	if (map && !record)
		record = add(threads, map, thread);
	else if (record && thread->number)
		note_name(threads, record, thread);
	if (record && thread->number) {
		threads->at_hand[at].number = thread->number;
		threads->at_hand[at].record = record;
	}
	return record;
}

static void forget(struct t2x_threads *threads, void *record)
{
	if (threads->forget)
		threads->forget(threads->target, record);
	free(record);
}

void t2x_threads_remove(struct t2x_threads *threads, void *record)
{
	const struct t2x_thread_record *head = record;
	struct t2x_map *map = t2x_map_get(&threads->streams, head->stream);

	for (unsigned i = 0; i < T2X_THREADS_AT_HAND; i++)
		if (threads->at_hand[i].record == record) {
			threads->at_hand[i].number = 0;
			threads->at_hand[i].record = NULL;
		}
	t2x_map_remove(map, head->tid);
	if (!map->count) {
		t2x_map_remove(&threads->streams, head->stream);
		t2x_map_free(map);
		free(map);
	}
	threads->count--;
	if (threads->budget)
		*threads->budget += price_of(threads);
	forget(threads, record);
}

void t2x_threads_each(const struct t2x_threads *threads, void (*visit)(void *target, void *record), void *target)
{
	for (uint32_t i = 0; i < t2x_map_slots(&threads->streams); i++) {
		const struct t2x_map *map = t2x_map_at(&threads->streams, i);

		for (uint32_t j = 0; map && j < t2x_map_slots(map); j++)
			if (t2x_map_at(map, j))
				visit(target, t2x_map_at(map, j));
	}
}

static void forget_one(void *threads, void *record)
{
	forget(threads, record);
}

void t2x_threads_free(struct t2x_threads *threads)
{
	t2x_threads_each(threads, forget_one, threads);
	for (uint32_t i = 0; i < t2x_map_slots(&threads->streams); i++) {
		struct t2x_map *map = t2x_map_at(&threads->streams, i);

		if (map)
			t2x_map_free(map);
		free(map);
	}
	t2x_map_free(&threads->streams);
}

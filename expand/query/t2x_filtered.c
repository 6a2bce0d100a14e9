/* SPDX-License-Identifier: MIT */
/* t2x_filtered.c - see t2x_filtered.h. */
#include "t2x_filtered.h"

#include <stdlib.h>

#include "t2x_copy.h"

struct t2x_filtered *t2x_filtered_new(struct t2x_filtered_pool *pool, struct t2x_filtered *around, unsigned level)
{
	struct t2x_filtered *region = pool->unused;

	if (region)
		pool->unused = region->around;
	else
		region = malloc(sizeof(*region));
	if (region)
		*region = (struct t2x_filtered){ .around = t2x_filtered_get(around), .users = 1, .level = level };
	return region;
}

void t2x_filtered_drop(struct t2x_filtered_pool *pool, struct t2x_filtered *region)
{
	do {
		struct t2x_filtered *around = region->around;

		if (region->past)
			t2x_copy_free(region->past);
		region->around = pool->unused;
		pool->unused = region;
		region = around;
	} while (region && !--region->users);
}

/* The innermost that is wanted or shown; the outermost of all is. */
static const struct t2x_filtered *find_out(const struct t2x_filtered *region)
{
	while (region->state < T2X_FILTERED_WANTED)
		region = region->around;
	return region;
}

void t2x_filtered_come_out(struct t2x_filtered *region, enum t2x_filtered_state state)
{
	region->shown = t2x_filtered_shown(region->around) + (state == T2X_FILTERED_SHOWN);
	region->within = (unsigned char)(t2x_filtered_within(region->around) | T2X_WITHIN_WANTED);
	region->state = (unsigned char)state;
}

uint32_t t2x_filtered_shown(const struct t2x_filtered *region)
{
	return find_out(region)->shown;
}

unsigned t2x_filtered_within(const struct t2x_filtered *region)
{
	const struct t2x_filtered *out = find_out(region);
	unsigned within = out->within;

	for (; region != out; region = region->around)
		within |= region->state == T2X_FILTERED_EXCLUDED ? T2X_WITHIN_EXCLUDED : 0;
	return within;
}

void t2x_filtered_init(struct t2x_filtered outside[2])
{
	for (unsigned i = 0; i < 2; i++)
		outside[i] = (struct t2x_filtered){
			.users = 1, .level = UINT32_MAX, .shown = i, .state = T2X_FILTERED_SHOWN,
		};
}

struct t2x_filtered *t2x_filtered_find(struct t2x_filtered *outside, struct t2x_spans *spans, uint32_t n)
{
	struct t2x_filtered *region = outside;
	uint32_t known = n;

	while (known && !spans->spans[known - 1].own)
		known--;
	if (known)
		region = spans->spans[known - 1].own;
	for (; known < n; known++)
		spans->spans[known].own = t2x_filtered_get(region);
	return region;
}

/* Those of a thread. */
static size_t list_past(const struct t2x_spans *spans, struct t2x_filtered **list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < spans->open; i++) {
		struct t2x_filtered *region = spans->spans[i].own;

		if (!region || region->level != i || !region->past)
			continue;
		if (list)
			list[n] = region;
		n++;
	}
	return n;
}

size_t t2x_filtered_list(const struct t2x_spans_table *table, struct t2x_filtered **list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t2x_map_slots(&table->processes); i++) {
		const struct t2x_spans_process *process = t2x_map_at(&table->processes, i);

		for (uint32_t j = 0; process && j < t2x_map_slots(&process->threads); j++) {
			const struct t2x_spans *spans = t2x_map_at(&process->threads, j);
			if (spans)
				n += list_past(spans, list ? list + n : NULL);
		}
	}
	return n;
}

void t2x_filtered_free(struct t2x_filtered_pool *pool)
{
	while (pool->unused) {
		struct t2x_filtered *region = pool->unused;

		pool->unused = region->around;
		free(region);
	}
}

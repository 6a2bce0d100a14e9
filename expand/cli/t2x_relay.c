/* SPDX-License-Identifier: MIT */
/* t2x_relay.c - see t2x_relay.h. */
#include "t2x_relay.h"

#include <stdlib.h>
#include <string.h>

enum {
	BATCH_HITS = 1024,
	BATCH_BYTES = 64 * 1024,          /* of arguments and their texts */
};

struct batch {
	unsigned nhits;
	size_t used;                      /* of bytes */
	struct t2x_hit hits[BATCH_HITS];
	_Alignas(struct t2x_arg) char bytes[BATCH_BYTES];
};

struct t2x_relay {
	struct t2x_duty duty;             /* first: a duty's address is this */
	struct t2x_crew *crew;
	struct t2x_model *model;
	unsigned filled, done;            /* batches, so far; guarded by the lock */
	struct batch *to;                 /* where the next one will be */
	/*
	 * The merge's own: it is filled here and copied as a whole, for cache lines that the other processor has
	 * read last are slow to write piece by piece.  Its pointers are those that the copy will have.
	 */
	struct batch stage;
	struct batch batches[T2X_RELAY_BATCHES];
};

/* ---- the model's side --------------------------------------------------------------------------- */

static int is_ready(const struct t2x_duty *duty)
{
	const struct t2x_relay *relay = (const struct t2x_relay *)duty;

	return relay->done != relay->filled;
}

/* The duty: give a batch to the model. */
static void give_batch(struct t2x_duty *duty)
{
	struct t2x_relay *relay = (struct t2x_relay *)duty;
	const struct batch *batch = &relay->batches[relay->done % T2X_RELAY_BATCHES];

	t2x_crew_unlock(relay->crew);
	for (unsigned i = 0; i < batch->nhits; i++)
		t2x_model_take_hit(relay->model, &batch->hits[i]);
	t2x_crew_lock(relay->crew);
	relay->done++;
}

/* ---- the merge's side --------------------------------------------------------------------------- */

/* The batch is full: copy it to where it is taken from, and go on with an empty one. */
static void push(struct t2x_relay *relay)
{
	struct batch *stage = &relay->stage, *to = relay->to;

	if (!stage->nhits)
		return;
	t2x_crew_lock(relay->crew);
	while (relay->filled - relay->done == T2X_RELAY_BATCHES)
		t2x_crew_wait(relay->crew);
	t2x_crew_unlock(relay->crew);
	to->nhits = stage->nhits;
	memcpy(to->hits, stage->hits, stage->nhits * sizeof(stage->hits[0]));
	memcpy(to->bytes, stage->bytes, stage->used);
	stage->nhits = 0;
	stage->used = 0;
	t2x_crew_lock(relay->crew);
	relay->filled++;
	relay->to = &relay->batches[relay->filled % T2X_RELAY_BATCHES];
	t2x_crew_changed(relay->crew);
	t2x_crew_unlock(relay->crew);
}

static void settle(void *target)
{
	struct t2x_relay *relay = target;

	push(relay);
	t2x_crew_lock(relay->crew);
	while (relay->done != relay->filled)
		t2x_crew_wait(relay->crew);
	t2x_crew_unlock(relay->crew);
}

static size_t round_up(size_t n)
{
	return (n + _Alignof(struct t2x_arg) - 1) & ~(_Alignof(struct t2x_arg) - 1);
}

/* Bytes that the arguments and their texts take in a batch. */
static size_t measure(const struct t2x_hit *hit)
{
	size_t n = hit->nargs * sizeof(hit->args[0]);

	for (unsigned i = 0; i < hit->nargs; i++)
		n += hit->args[i].text ? hit->args[i].length : 0;
	return round_up(n);
}

static void copy_arguments(struct t2x_relay *relay, struct t2x_hit *to, const struct t2x_hit *hit)
{
	struct batch *stage = &relay->stage;
	struct t2x_arg *args = (struct t2x_arg *)(void *)(stage->bytes + stage->used);
	char *text = (char *)(args + hit->nargs);

	for (unsigned i = 0; i < hit->nargs; i++) {
		args[i] = hit->args[i];
		if (!args[i].text)
			continue;
		memcpy(text, args[i].text, args[i].length);
		args[i].text = relay->to->bytes + (text - stage->bytes);
		text += args[i].length;
	}
	to->args = (const struct t2x_arg *)(void *)(relay->to->bytes + stage->used);
}

static void take_hit(void *target, const struct t2x_hit *hit)
{
	struct t2x_relay *relay = target;
	struct batch *stage = &relay->stage;
	size_t bytes = hit->nargs ? measure(hit) : 0;
	struct t2x_hit *to;

	if (bytes > BATCH_BYTES) {
		settle(relay);
		t2x_model_take_hit(relay->model, hit);
		return;
	}
	if (stage->nhits == BATCH_HITS || bytes > BATCH_BYTES - stage->used)
		push(relay);
	to = &stage->hits[stage->nhits++];
	*to = *hit;
	if (bytes)
		copy_arguments(relay, to, hit);
	stage->used += bytes;
}

/* ---- life --------------------------------------------------------------------------------------- */

struct t2x_relay *t2x_relay_new(struct t2x_crew *crew, struct t2x_model *model)
{
	static const struct t2x_detour detour = { .hit = take_hit, .settle = settle };
	struct t2x_relay *relay = malloc(sizeof(*relay));

	if (!relay)
		return NULL;
	memset(relay, 0, offsetof(struct t2x_relay, stage));
	relay->duty = (struct t2x_duty){ .is_ready = is_ready, .work = give_batch };
	relay->crew = crew;
	relay->model = model;
	relay->to = relay->batches;
	relay->stage.nhits = 0;
	relay->stage.used = 0;
	t2x_crew_lock(crew);
	t2x_crew_add(crew, &relay->duty);
	t2x_crew_unlock(crew);
	t2x_model_detour(model, &detour, relay);
	return relay;
}

void t2x_relay_free(struct t2x_relay *relay)
{
	if (!relay)
		return;
	settle(relay);
	t2x_model_detour(relay->model, NULL, NULL);
	t2x_crew_lock(relay->crew);
	t2x_crew_remove(relay->crew, &relay->duty);
	t2x_crew_unlock(relay->crew);
	free(relay);
}

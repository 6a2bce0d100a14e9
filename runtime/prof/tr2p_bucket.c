/* SPDX-License-Identifier: MIT */
/* tr2p_bucket.c - a hash table of buckets, and a list of each profile's. */
#include "tr2p_bucket.h"

#include <errno.h>
#include <string.h>

#include "tr2p_arena.h"
#include "tr2p_module.h"
#include "base/tr2_atomic.h"

enum { SLOTS = 65536, PROBES = 256 };

static struct profile_state {
	struct tr2p_bucket *first;    /* [P2] */
	size_t count;
	uint64_t dropped;
} g_profiles[TR2P_PROFILES];

static struct tr2p_bucket **g_slots;

int tr2p_bucket_init(void)
{
	int error = g_slots ? 0 : tr2p_arena_init();

	if (!error && !g_slots)
		g_slots = tr2p_arena_acquire(SLOTS * sizeof(*g_slots));
	return error ? error : g_slots ? 0 : ENOMEM;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(unsigned profile, const struct trace2_labels *labels, const struct tr2p_stack *stack)
{
	uint64_t hash = mix(profile, (uintptr_t)labels);

	for (unsigned i = 0; i < stack->n; i++)
		hash = mix(hash, stack->at[i]);
	return mix(hash, stack->n);
}

static int is_same(const struct tr2p_bucket *bucket, uint64_t hash, unsigned profile,
		   const struct trace2_labels *labels, const struct tr2p_stack *stack,
		   const struct tr2p_module *const *modules)
{
	return bucket->hash == hash && bucket->profile == profile && bucket->labels == labels &&
	       bucket->n == stack->n && !memcmp(bucket->at, stack->at, stack->n * sizeof(stack->at[0])) &&
	       !memcmp(bucket->modules, modules, stack->n * sizeof(modules[0]));
}

/* Both texts, behind each other; NULL: no memory. */
static int make_texts(struct tr2p_bucket *bucket)
{
	const struct tr2p_module *const *modules = (const struct tr2p_module *const *)bucket->modules;
	size_t n = tr2p_module_text(modules, bucket->n, NULL, 0) + 1;
	size_t all = n + tr2p_stack_text(bucket->at, bucket->n, NULL, 0) + 1;
	char *text = tr2p_arena_acquire(all);

	if (!text)
		return 0;
	tr2p_module_text(modules, bucket->n, text, n);
	tr2p_stack_text(bucket->at, bucket->n, text + n, all - n);
	bucket->module_text = text;
	bucket->stack_text = text + n;
	return 1;
}

static struct tr2p_bucket *make_bucket(uint64_t hash, unsigned profile, const struct trace2_labels *labels,
				       const struct tr2p_stack *stack, const struct tr2p_module *const *modules)
{
	size_t at_bytes = stack->n * sizeof(stack->at[0]), module_bytes = stack->n * sizeof(modules[0]);
	struct tr2p_bucket *bucket = tr2p_arena_acquire(sizeof(*bucket) + at_bytes + module_bytes);

	if (!bucket)
		return NULL;
	bucket->hash = hash;
	bucket->profile = profile;
	bucket->labels = labels;
	bucket->n = stack->n;
	memcpy(bucket->at, stack->at, at_bytes);
	bucket->modules = (const struct tr2p_module **)(void *)&bucket->at[stack->n];
	memcpy(bucket->modules, modules, module_bytes);
	return make_texts(bucket) ? bucket : NULL;
}

/* Into the list of its profile. */
static void publish(struct tr2p_bucket *bucket)
{
	struct profile_state *profile = &g_profiles[bucket->profile];

	tr2_add_rlx(&profile->count, 1); /* relaxed: a number for people */
	/* [P2] acquire, and release below: other buckets are behind this one in the list.  See tr2p_bucket_first() */
	do
		bucket->next = tr2_load_acq(&profile->first);
	while (!tr2_cas_acq_rel(&profile->first, bucket->next, bucket));
}

struct tr2p_bucket *tr2p_bucket_of(unsigned profile, const struct trace2_labels *labels, const struct tr2p_stack *stack,
				   const struct tr2p_module *const *modules)
{
	uint64_t hash = hash_of(profile, labels, stack);
	struct tr2p_bucket *bucket, *mine = NULL;

	for (unsigned probe = 0; g_slots && probe < PROBES; probe++) {
		struct tr2p_bucket **slot = &g_slots[(hash + probe) % SLOTS];
		bucket = tr2_load_acq(slot); /* [P3] acquire: the bucket.  Pairs with the exchange below */
		if (!bucket) {
			if (!mine && !(mine = make_bucket(hash, profile, labels, stack, modules)))
				break;
			if (tr2_cas_acq_rel(slot, NULL, mine)) { /* [P3] release: publishes the bucket */
				publish(mine);
				return mine;
			}
			bucket = tr2_load_acq(slot); /* [P3] acquire: another thread's.  Pairs with its exchange */
		}
		if (is_same(bucket, hash, profile, labels, stack, modules))
			return bucket;
	}
	tr2p_bucket_drop(profile);
	return NULL;
}

struct tr2p_bucket *tr2p_bucket_first(unsigned profile)
{
	/* [P2] acquire: the buckets of the list.  Pairs with publish() */
	return tr2_load_acq(&g_profiles[profile].first);
}

size_t tr2p_bucket_count(unsigned profile)
{
	return tr2_load_rlx(&g_profiles[profile].count); /* relaxed: as they are added up */
}

uint64_t tr2p_bucket_dropped(unsigned profile)
{
	return tr2_load_rlx(&g_profiles[profile].dropped); /* relaxed: as they are added up */
}

void tr2p_bucket_drop(unsigned profile)
{
	tr2_add_rlx(&g_profiles[profile].dropped, 1); /* relaxed: a number for people */
}

/* Members of totals, as an array. */
enum { MEMBERS = sizeof(struct tr2p_totals) / sizeof(int64_t) };

struct tr2p_totals tr2p_bucket_totals(const struct tr2p_bucket *bucket)
{
	const int64_t *from = &bucket->totals.count;
	struct tr2p_totals totals;
	int64_t *to = &totals.count;

	for (unsigned i = 0; i < MEMBERS; i++)
		to[i] = tr2_load_rlx(&from[i]); /* relaxed: each for itself */
	return totals;
}

int tr2p_bucket_is_there(const struct tr2p_bucket *bucket)
{
	const struct tr2p_totals totals = tr2p_bucket_totals(bucket);

	return bucket->profile >= TR2P_OWN ? totals.count > totals.freed_count : totals.count != 0;
}

void tr2p_bucket_add(struct tr2p_bucket *bucket, const struct tr2p_totals *more)
{
	const int64_t *from = &more->count;
	int64_t *to = &bucket->totals.count;

	for (unsigned i = 0; i < MEMBERS; i++)
		if (from[i])
			tr2_add_rlx(&to[i], from[i]); /* relaxed: each for itself */
}

void tr2p_bucket_reset(unsigned profile)
{
	for (struct tr2p_bucket *bucket = tr2p_bucket_first(profile); bucket; bucket = bucket->next)
		for (unsigned i = 0; i < MEMBERS; i++)
			tr2_store_rlx(&(&bucket->totals.count)[i], 0); /* relaxed: each for itself */
}

int64_t tr2p_bucket_period(const struct tr2p_bucket *bucket)
{
	return tr2_load_rlx(&bucket->period); /* relaxed: a number by itself */
}

void tr2p_bucket_set_period(struct tr2p_bucket *bucket, int64_t period)
{
	tr2_store_rlx(&bucket->period, period); /* relaxed: a number by itself */
}

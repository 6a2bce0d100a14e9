/* SPDX-License-Identifier: MIT */
/*
 * tr2p_bucket.h - totals of a profile by stack and labels, for trace2_prof_write_to().
 *
 * An append-only hash table in memory of its own, like the scope table of libtrace2.  Lookups and additions take no
 * lock and work in a signal handler.  When memory is full, new buckets are dropped and counted.
 */
#ifndef TR2P_BUCKET_H
#define TR2P_BUCKET_H

#include <stddef.h>
#include <stdint.h>

#include "tr2p_unwind.h"

struct trace2_labels;
struct tr2p_module;

/* Profiles by number: the kinds of the table, then the program's own. */
enum tr2p_kind {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) TR2P_##id,
#include "prof_kinds.def"
	TR2P_OWN,
	TR2P_PROFILES = TR2P_OWN + 64
};

/*
 * Estimates of counts and of bytes are stored in fractions of one, so that small ones stay exact.  Times are stored in
 * whole nanoseconds: a thousand threads that wait in the same place fill 63 bits in 106 days.
 */
enum { TR2P_COUNT_PARTS = 1024, TR2P_BYTE_PARTS = 16 };
/* Of values, by the form of a kind. */
enum { TR2P_PARTS_TIME = 1, TR2P_PARTS_HEAP = TR2P_BYTE_PARTS, TR2P_PARTS_WAITS = 1, TR2P_PARTS_OBJECTS = 1 };

static inline int64_t tr2p_value_parts(unsigned profile)
{
	switch (profile) {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) \
	case TR2P_##id: return TR2P_PARTS_##form;
#include "prof_kinds.def"
	default: return TR2P_PARTS_OBJECTS;
	}
}

/* Sums over samples, and estimates of all events made from them. */
struct tr2p_totals {
	int64_t count, value;             /* sampled, freed ones included */
	int64_t freed_count, freed_value; /* of these freed, above 0 */
	int64_t all_count, all_value;     /* estimated, in parts; of what was freed, too */
	int64_t freed_all_count, freed_all_value;
};

struct tr2p_bucket {
	struct tr2p_bucket *next;             /* in its profile, newest first; constant once it is published */
	uint64_t hash;
	const struct trace2_labels *labels;
	uint32_t profile;
	uint32_t n;                           /* frames */
	uint32_t scope;                       /* tr2_sample_scope_v1(); 0: none yet */
	struct tr2p_totals totals;            /* members change one by one, by relaxed adds */
	int64_t period;                       /* of the last sample */
	const struct tr2p_module **modules;   /* of each frame; NULL: in none */
	const char *module_text, *stack_text; /* for the trace */
	uintptr_t at[];                       /* frames, then the modules */
};

/* Memory for the table.  Return  0 or an error number */
int tr2p_bucket_init(void);

/*
 * The bucket, a new one if need be.
 * modules  of each frame, as tr2p_module_of() gives it
 * Return   NULL: no memory is left for it, which is counted
 * Thread   any, no lock    Signal safe
 */
struct tr2p_bucket *tr2p_bucket_of(unsigned profile, const struct trace2_labels *labels, const struct tr2p_stack *stack,
				   const struct tr2p_module *const *modules);

/*
 * The newest bucket of a profile, or NULL; next leads to the others.  How many there are.  1: the bucket is not empty;
 * it is after it was reset, or, of a profile of the program's own, when all its values are removed.
 */
struct tr2p_bucket *tr2p_bucket_first(unsigned profile);
size_t tr2p_bucket_count(unsigned profile);
int tr2p_bucket_is_there(const struct tr2p_bucket *bucket);

/* Samples of a profile that found no memory, or whose handler had no room on its stack; one more.  Signal safe */
uint64_t tr2p_bucket_dropped(unsigned profile);
void tr2p_bucket_drop(unsigned profile);

/* Totals as they are now: each member for itself, as others go on adding.  Add to them.  Set them to 0. */
struct tr2p_totals tr2p_bucket_totals(const struct tr2p_bucket *bucket);
void tr2p_bucket_add(struct tr2p_bucket *bucket, const struct tr2p_totals *more);
void tr2p_bucket_reset(unsigned profile);

/* The period of its last sample; note that of a new one. */
int64_t tr2p_bucket_period(const struct tr2p_bucket *bucket);
void tr2p_bucket_set_period(struct tr2p_bucket *bucket, int64_t period);

#endif

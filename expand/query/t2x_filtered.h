/* SPDX-License-Identifier: MIT */
/*
 * t2x_filtered.h - what a filter knows of a region: whether it is shown, and how deep inside of shown ones it is.
 *
 * It is the own value of the region's span (model/t2x_spans.h).  Regions that are hidden have none: their spans have
 * that of the region around them.  Events that wait refer to regions that may be over by then, so references are
 * counted.
 */
#ifndef T2X_FILTERED_H
#define T2X_FILTERED_H

#include "model/t2x_spans.h"

struct t2x_event_copy;

enum t2x_filtered_state {
	T2X_FILTERED_HIDDEN,          /* not shown, or its enter has not come out yet */
	T2X_FILTERED_EXCLUDED,        /* hidden, and samples in it, too */
	T2X_FILTERED_WANTED,          /* its leave is to be shown, its enter was not */
	T2X_FILTERED_SHOWN,
};

/* What is around an event: a region that is wanted or shown, one that is excluded. */
enum { T2X_WITHIN_WANTED = 1, T2X_WITHIN_EXCLUDED = 2 };

struct t2x_filtered {
	struct t2x_filtered *around;  /* NULL: it is outside of all */
	unsigned users;
	unsigned level;               /* regions open when it was entered */
	uint32_t shown;               /* once it is wanted or shown: regions up to this one that are shown, the thread's
					 own level among them */
	unsigned char state;          /* enum t2x_filtered_state */
	unsigned char within;         /* T2X_WITHIN_..., it and those around it; of one that is wanted or shown */
	uint64_t queued;              /* one more than the number of its enter in the queue; 0: it did not wait */
	struct t2x_event_copy *past;  /* its enter, before --since; NULL: it is not there */
};

/* For reuse.  All zero: empty. */
struct t2x_filtered_pool {
	struct t2x_filtered *unused;
};

static inline struct t2x_filtered *t2x_filtered_get(struct t2x_filtered *region)
{
	region->users++;
	return region;
}

/* A region directly in that one.  Return  NULL: no memory */
struct t2x_filtered *t2x_filtered_new(struct t2x_filtered_pool *pool, struct t2x_filtered *around, unsigned level);

/* It has no user any more. */
void t2x_filtered_drop(struct t2x_filtered_pool *pool, struct t2x_filtered *region);

/* Two regions that are none: what is in no other one is in [1]; in [0] if its thread has left even its own level. */
void t2x_filtered_init(struct t2x_filtered outside[2]);

/*
 * The innermost region of n spans.  Those of which nothing is known yet are in the one around them.
 * outside  what the outermost are in
 */
struct t2x_filtered *t2x_filtered_find(struct t2x_filtered *outside, struct t2x_spans *spans, uint32_t n);

/* The regions that are open and have a past.  list  NULL: they are counted only.  Return  how many */
size_t t2x_filtered_list(const struct t2x_spans_table *table, struct t2x_filtered **list);

/* One user less.  region  may be NULL */
static inline void t2x_filtered_put(struct t2x_filtered_pool *pool, struct t2x_filtered *region)
{
	if (region && !--region->users)
		t2x_filtered_drop(pool, region);
}

/* Its enter comes out, behind those of the regions around it: it is wanted or shown. */
void t2x_filtered_come_out(struct t2x_filtered *region, enum t2x_filtered_state state);

/* Regions shown around an event in this region. */
uint32_t t2x_filtered_shown(const struct t2x_filtered *region);

/* T2X_WITHIN_... of an event in this region. */
unsigned t2x_filtered_within(const struct t2x_filtered *region);

void t2x_filtered_free(struct t2x_filtered_pool *pool);

#endif

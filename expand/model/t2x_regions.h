/* SPDX-License-Identifier: MIT */
/*
 * t2x_regions.h - the open regions of a thread: when each was entered.
 *
 * The outermost one is the thread itself.  A thread may leave even that, once: then nothing is open, and
 * nothing has elapsed; the next region that it enters is the outermost.  Regions deeper than T2X_REGIONS_MAX
 * are counted, but their times are forgotten; so they are when all threads together exceed what the budget, a
 * number of times, allows.
 *
 * Events may be missing, and regions may have been entered and left in them.  The regions that were open before such
 * a gap are from there on only assumed to be open, unless it is known what the gap was; those entered behind it are
 * certain, for behind it nothing is missing.  So the assumed ones are always the outermost.  A leave where only those
 * are left closes up to the innermost one of its names; if there is none, its region was entered in the gap, and
 * nothing is assumed any more but the thread's own level.  An enter of the names of an assumed one says that this
 * was left in the gap: a loop that enters it again and again would else pile it up with each gap, and what recurses
 * is soon put right by its leaves.  An elapsed time is shown of certain regions only.
 */
#ifndef T2X_REGIONS_H
#define T2X_REGIONS_H

#include <stdint.h>

#include "t2x_hit.h"

enum {
	T2X_REGIONS_MAX = 65536,      /* times known of a thread */
	T2X_REGIONS_SMALL = 4,        /* as many without memory of their own */
	T2X_REGIONS_BUDGET = 256 * 1024,     /* times in all threads together that a model allows */
};

/* When a region was entered.  The raw clock tells regions apart: what it is in nanoseconds may be corrected. */
struct t2x_region {
	uint64_t ns;                  /* 0: not known */
	uint64_t when;                /* raw clock; 0: the thread's own, or not known */
	const struct t2x_scope *scope;   /* of its enter, which lives as long as its thread; NULL: not known */
};

/* By which its leave knows it; 0: not known. */
static inline uint32_t t2x_region_names(const struct t2x_region *region)
{
	return region->scope ? region->scope->names : 0;
}

struct t2x_regions {
	struct t2x_region *entered;   /* small, or malloc'ed */
	unsigned open;                /* UINT32_MAX: or more */
	unsigned capacity;            /* times that entered can hold */
	uint64_t last_ns;             /* of the thread's last event; 0: there was none */
	unsigned assumed;             /* one more than are only assumed to be open; 0: all is known */
	unsigned checked;             /* t2x_regions_assume() has found no lost enter among so many of the outermost */
	struct t2x_region small[T2X_REGIONS_SMALL];
};

/* Those of the thread, made at the first call.  Return  NULL: no memory */
struct t2x_regions *t2x_regions_of(struct t2x_thread *thread);

/* One region, the thread's own, that began at start_ns; 0: not known.  Nothing is missing. */
void t2x_regions_init(struct t2x_regions *regions, uint64_t start_ns);

/* budget  gets back what the thread took */
void t2x_regions_free(struct t2x_regions *regions, unsigned *budget);

/* A region for which there is no room, nor budget for more, is only counted. */
void t2x_regions_enter(struct t2x_regions *regions, const struct t2x_region *region, unsigned *budget);

/* The innermost region, or that there is none, is only assumed. */
static inline int t2x_regions_are_assumed(const struct t2x_regions *regions)
{
	return regions->open < regions->assumed;
}

/* Without an open region: no effect. */
static inline void t2x_regions_leave(struct t2x_regions *regions)
{
	regions->open -= regions->open > 0;
}

/*
 * Any events may be missing here: what is open is only assumed to be from now on.  A region whose enter was lost, and
 * those in it, are closed: they have no names to be found by.  It looks at each region once, however often it is
 * called.  Return  how many were closed
 */
unsigned t2x_regions_assume(struct t2x_regions *regions);

/*
 * Events are missing in which so many of the open regions were left, and others entered that are still open: their
 * times are not known.
 */
void t2x_regions_apply_gap(struct t2x_regions *regions, unsigned left, unsigned entered, unsigned *budget);

/*
 * A region of these names is about to be left, or entered, where regions are only assumed: close those of them that
 * are not open.  A leave has its own region then as the innermost one, or none.
 * Return  how many were closed
 */
unsigned t2x_regions_repair_leave(struct t2x_regions *regions, uint32_t names, int *is_missing);
unsigned t2x_regions_repair_enter(struct t2x_regions *regions, uint32_t names);

/* Leave all but the outermost, and be certain of that. */
void t2x_regions_unwind(struct t2x_regions *regions);

/*
 * Time since the innermost region was entered: 0 if nothing is open, wrapped below zero if now_ns is earlier;
 * T2X_NO_TIME if it is not known.
 */
static inline uint64_t t2x_regions_elapsed(const struct t2x_regions *regions, uint64_t now_ns)
{
	unsigned innermost = regions->open - 1;
	uint64_t start_ns = innermost < regions->capacity ? regions->entered[innermost].ns : 0;

	if (start_ns && !t2x_regions_are_assumed(regions))
		return now_ns - start_ns;
	return regions->open || t2x_regions_are_assumed(regions) ? T2X_NO_TIME : 0;
}

/* The number of open regions. */
static inline unsigned t2x_regions_open(const struct t2x_regions *regions)
{
	return regions->open;
}

#endif

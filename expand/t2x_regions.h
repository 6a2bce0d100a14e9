/* SPDX-License-Identifier: MIT */
/*
 * t2x_regions.h - the open regions of a thread: when each was entered.
 *
 * The outermost one is the thread itself.  A thread may leave even that, once: then nothing is open, and
 * nothing has elapsed; the next region that it enters is the outermost.  Regions deeper than T2X_REGIONS_KEPT
 * are counted, but their times are forgotten; so they are when all threads together exceed what the budget, a
 * number of times, allows.
 */
#ifndef T2X_REGIONS_H
#define T2X_REGIONS_H

#include <stdint.h>

enum {
	T2X_REGIONS_KEPT = 65536,     /* the most times kept for a thread */
	T2X_REGIONS_SMALL = 4,        /* as many without memory of their own */
};

/* When a region was entered.  The raw clock tells regions apart: what it is in microseconds may be corrected. */
struct t2x_region {
	uint64_t us;                  /* 0: not known */
	uint64_t when;                /* raw clock; 0: the thread's own, or not known */
};

struct t2x_regions {
	struct t2x_region *entered;   /* small, or malloc'ed */
	unsigned open;                /* UINT32_MAX: or more */
	unsigned room;                /* times that entered can hold */
	struct t2x_region small[T2X_REGIONS_SMALL];
};

/* One region, the thread's own, that began at start_us; 0: not known. */
void t2x_regions_init(struct t2x_regions *regions, uint64_t start_us);

/* budget  gets back what the thread took */
void t2x_regions_free(struct t2x_regions *regions, unsigned *budget);

/* Room for more; without it, the regions that find none are only counted. */
void t2x_regions_grow(struct t2x_regions *regions, unsigned *budget);

static inline void t2x_regions_enter(struct t2x_regions *regions, uint64_t now_us, uint64_t when, unsigned *budget)
{
	if (regions->open == regions->room)
		t2x_regions_grow(regions, budget);
	if (regions->open < regions->room)
		regions->entered[regions->open] = (struct t2x_region){ now_us, when };
	regions->open += regions->open < UINT32_MAX;
}

/* Without an open region: no effect. */
static inline void t2x_regions_leave(struct t2x_regions *regions)
{
	regions->open -= regions->open > 0;
}

/* Leave all but the n outermost, if there are more. */
static inline void t2x_regions_cut(struct t2x_regions *regions, unsigned n)
{
	if (regions->open > n)
		regions->open = n;
}

/* Whether the region at this depth, 0 for the outermost, is open and is known to be the one entered then. */
static inline int t2x_regions_is(const struct t2x_regions *regions, unsigned depth, uint64_t when)
{
	return depth < regions->open && depth < regions->room && regions->entered[depth].when == when;
}

/* Leave all but the outermost. */
static inline void t2x_regions_unwind(struct t2x_regions *regions)
{
	t2x_regions_cut(regions, 1);
}

/*
 * Time since the innermost region was entered: 0 if nothing is open or the time is not known, wrapped
 * below zero if now_us is earlier.
 */
static inline uint64_t t2x_regions_elapsed(const struct t2x_regions *regions, uint64_t now_us)
{
	unsigned innermost = regions->open - 1;
	uint64_t start_us = innermost < regions->room ? regions->entered[innermost].us : 0;

	return start_us ? now_us - start_us : 0;
}

/* The number of open regions. */
static inline unsigned t2x_regions_open(const struct t2x_regions *regions)
{
	return regions->open;
}

#endif

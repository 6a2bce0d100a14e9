/* SPDX-License-Identifier: MIT */
/*
 * t2x_regions.h - the open regions of a thread: when each was entered.
 *
 * The outermost one is the thread itself.  A thread may leave even that, once: then nothing is open, and
 * nothing has elapsed.  Regions deeper than T2X_REGIONS_KEPT are counted, but their times are forgotten; so
 * they are when all threads together exceed what the budget, a number of times, allows.
 */
#ifndef T2X_REGIONS_H
#define T2X_REGIONS_H

#include <stdint.h>

enum {
	T2X_REGIONS_KEPT = 65536,     /* the most times kept for a thread */
	T2X_REGIONS_SMALL = 8,        /* as many without memory of their own */
};

struct t2x_regions {
	uint64_t open;
	uint64_t *enter_us;           /* small, or malloc'ed; 0: not known */
	uint64_t small[T2X_REGIONS_SMALL];
	unsigned room;                /* times that enter_us can hold */
};

/* One region, the thread's own, that began at start_us; 0: not known. */
void t2x_regions_init(struct t2x_regions *regions, uint64_t start_us);

/* budget  gets back what the thread took */
void t2x_regions_free(struct t2x_regions *regions, unsigned *budget);

/* Room for more; without it, the regions that find none are only counted. */
void t2x_regions_grow(struct t2x_regions *regions, unsigned *budget);

static inline void t2x_regions_enter(struct t2x_regions *regions, uint64_t now_us, unsigned *budget)
{
	if (regions->open == regions->room)
		t2x_regions_grow(regions, budget);
	if (regions->open < regions->room)
		regions->enter_us[regions->open] = now_us;
	regions->open++;
}

/* Without an open region: no effect. */
static inline void t2x_regions_leave(struct t2x_regions *regions)
{
	regions->open -= regions->open > 0;
}

/* Leave all but the outermost. */
static inline void t2x_regions_unwind(struct t2x_regions *regions)
{
	if (regions->open > 1)
		regions->open = 1;
}

/*
 * Time since the innermost region was entered: 0 if nothing is open or the time is not known, wrapped
 * below zero if now_us is earlier.
 */
static inline uint64_t t2x_regions_elapsed(const struct t2x_regions *regions, uint64_t now_us)
{
	uint64_t start_us;

	if (!regions->open || regions->open > regions->room)
		return 0;
	start_us = regions->enter_us[regions->open - 1];
	return start_us ? now_us - start_us : 0;
}

/* The number of open regions, or T2X_REGIONS_KEPT if there are more. */
static inline unsigned t2x_regions_open(const struct t2x_regions *regions)
{
	return regions->open < T2X_REGIONS_KEPT ? (unsigned)regions->open : T2X_REGIONS_KEPT;
}

#endif

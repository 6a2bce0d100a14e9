/* SPDX-License-Identifier: MIT */
/*
 * t2x_nesting.h - the regions of a thread of which some are shown: how deep inside of these an event is.
 *
 * A region is known by the number of regions that were open when it was entered, its level.  The thread's own level
 * counts as shown, unless the thread has left it and entered a region there.  A region whose enter nobody saw is not
 * shown, nor is one too deep to be remembered.
 */
#ifndef T2X_NESTING_H
#define T2X_NESTING_H

#include <stdint.h>

enum { T2X_NESTING_MAX = 65536, T2X_NESTING_BUDGET = 4 * 1024 * 1024 };   /* levels of a thread, of all threads */

/* All zero: nothing is open. */
struct t2x_nesting {
	struct t2x_nesting_level {
		uint32_t shown;       /* up to this level */
		uint8_t state;
		uint8_t within;       /* T2X_WITHIN_..., it and those around it */
	} *levels;
	unsigned open, capacity;
};

enum t2x_nesting_state {
	T2X_NESTING_HIDDEN,
	T2X_NESTING_EXCLUDED,         /* hidden, and samples in it, too */
	T2X_NESTING_WANTED,           /* its leave is to be shown, its enter was not */
	T2X_NESTING_SHOWN,
};

/* Regions shown around an event with so many open. */
uint32_t t2x_nesting_around(const struct t2x_nesting *nesting, unsigned open);

/* What is around an event with so many open: a region that is wanted or shown, one that is excluded. */
enum { T2X_WITHIN_WANTED = 1, T2X_WITHIN_EXCLUDED = 2 };
unsigned t2x_nesting_within(const struct t2x_nesting *nesting, unsigned open);

/* What has become of the region of this level. */
enum t2x_nesting_state t2x_nesting_state(const struct t2x_nesting *nesting, unsigned level);

/* There is an event with so many open: those deeper inside were left. */
static inline void t2x_nesting_cut(struct t2x_nesting *nesting, unsigned open)
{
	if (nesting->open > open)
		nesting->open = open;
}

/* A region is entered at this level.  budget: levels that there may be more.  Return  its state: hidden if no room */
enum t2x_nesting_state t2x_nesting_enter(struct t2x_nesting *nesting, unsigned level, enum t2x_nesting_state state,
					 unsigned *budget);

void t2x_nesting_free(struct t2x_nesting *nesting, unsigned *budget);

#endif

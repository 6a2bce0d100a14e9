/* SPDX-License-Identifier: MIT */
/* t2x_nesting.c - see t2x_nesting.h. */
#include "t2x_nesting.h"

#include <stdlib.h>

uint32_t t2x_nesting_around(const struct t2x_nesting *nesting, unsigned open)
{
	if (open > nesting->open)
		open = nesting->open ? nesting->open : 1;
	if (!open)
		return 0;
	return nesting->open ? nesting->levels[open - 1].shown : 1;
}

unsigned t2x_nesting_within(const struct t2x_nesting *nesting, unsigned open)
{
	if (open > nesting->open)
		open = nesting->open;
	return open ? nesting->levels[open - 1].within : 0;
}

enum t2x_nesting_state t2x_nesting_state(const struct t2x_nesting *nesting, unsigned level)
{
	return level < nesting->open ? nesting->levels[level].state : T2X_NESTING_HIDDEN;
}

/* Return  0: there is no room for the level */
static int make_room(struct t2x_nesting *nesting, unsigned level, unsigned *budget)
{
	unsigned capacity = nesting->capacity ? nesting->capacity : 8;
	struct t2x_nesting_level *levels;

	if (level < nesting->capacity)
		return 1;
	while (capacity <= level && capacity < T2X_NESTING_MAX)
		capacity *= 2;
	if (capacity <= level || capacity - nesting->capacity > *budget)
		return 0;
	levels = realloc(nesting->levels, capacity * sizeof(*levels));
	if (!levels)
		return 0;
	*budget -= capacity - nesting->capacity;
	nesting->levels = levels;
	nesting->capacity = capacity;
	return 1;
}

static unsigned find_within(enum t2x_nesting_state state)
{
	if (state == T2X_NESTING_EXCLUDED)
		return T2X_WITHIN_EXCLUDED;
	return state >= T2X_NESTING_WANTED ? T2X_WITHIN_WANTED : 0;
}

enum t2x_nesting_state t2x_nesting_enter(struct t2x_nesting *nesting, unsigned level, enum t2x_nesting_state state,
					 unsigned *budget)
{
	t2x_nesting_cut(nesting, level);
	if (!make_room(nesting, level, budget))
		return T2X_NESTING_HIDDEN;
	for (unsigned i = nesting->open; i < level; i++)
		nesting->levels[i] = (struct t2x_nesting_level){
			.shown = i ? nesting->levels[i - 1].shown : 1, .state = T2X_NESTING_HIDDEN,
			.within = i ? nesting->levels[i - 1].within : 0,
		};
	nesting->levels[level] = (struct t2x_nesting_level){
		.shown = (level ? nesting->levels[level - 1].shown : 0) + (state == T2X_NESTING_SHOWN),
		.state = (uint8_t)state,
		.within = (uint8_t)((level ? nesting->levels[level - 1].within : 0) | find_within(state)),
	};
	nesting->open = level + 1;
	return state;
}

void t2x_nesting_free(struct t2x_nesting *nesting, unsigned *budget)
{
	*budget += nesting->capacity;
	free(nesting->levels);
	*nesting = (struct t2x_nesting){ 0 };
}

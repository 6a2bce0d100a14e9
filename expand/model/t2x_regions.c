/* SPDX-License-Identifier: MIT */
/* t2x_regions.c - see t2x_regions.h. */
#include "t2x_regions.h"

#include <string.h>

#include "base/t2x_memory.h"

enum { MOST_LOOKED_AT = 1024 };        /* regions, for one of the same names: what is deeper is not repaired */

void t2x_regions_init(struct t2x_regions *regions, uint64_t start_ns)
{
	regions->open = 1;
	regions->assumed = 0;
	regions->checked = 0;
	regions->entered = regions->small;
	regions->capacity = T2X_REGIONS_SMALL;
	regions->small[0] = (struct t2x_region){ start_ns, 0, NULL };
}

void t2x_regions_free(struct t2x_regions *regions, unsigned *budget)
{
	if (regions->entered == regions->small)
		return;
	*budget += regions->capacity;
	t2x_free(regions->entered);
	regions->entered = regions->small;
}

/* Twice the room, if it can be had. */
void t2x_regions_grow(struct t2x_regions *regions, unsigned *budget)
{
	int is_small = regions->entered == regions->small;
	unsigned more = 2 * regions->capacity, price = is_small ? more : regions->capacity;
	struct t2x_region *entered;

	if (more > T2X_REGIONS_MAX || price > *budget)
		return;
	entered = t2x_realloc(is_small ? NULL : regions->entered, more * sizeof(*entered));
	if (!entered)
		return;
	if (is_small)
		memcpy(entered, regions->small, sizeof(regions->small));
	regions->entered = entered;
	regions->capacity = more;
	*budget -= price;
}

unsigned t2x_regions_assume(struct t2x_regions *regions)
{
	unsigned open = regions->open, kept = regions->checked < open ? regions->checked : open;

	while (kept < open && kept < regions->capacity && regions->entered[kept].when != TLG_OPEN_LOST)
		kept++;
	regions->checked = kept;
	t2x_regions_cut(regions, kept < regions->capacity ? kept : open);
	regions->assumed = regions->open + (regions->open < UINT32_MAX);
	return open - regions->open;
}

void t2x_regions_apply_gap(struct t2x_regions *regions, unsigned left, unsigned entered, unsigned *budget)
{
	static const struct t2x_region lost = { 0, TLG_OPEN_LOST, NULL };

	unsigned least = regions->assumed && regions->open;   /* the thread's own level is not taken for what it left */

	t2x_regions_cut(regions, regions->open > left + least ? regions->open - left : least);
	t2x_regions_check_again(regions);
	while (entered--)
		t2x_regions_enter(regions, &lost, budget);
}

/* The innermost region of these names, the thread's own excepted; 0: there is none. */
static unsigned find(const struct t2x_regions *regions, uint32_t names)
{
	unsigned at = regions->open < regions->capacity ? regions->open : regions->capacity;
	unsigned outermost = at > MOST_LOOKED_AT ? at - MOST_LOOKED_AT : 1;

	while (at > outermost && t2x_region_names(&regions->entered[at - 1]) != names)
		at--;
	return at > outermost ? at - 1 : 0;
}

unsigned t2x_regions_repair_leave(struct t2x_regions *regions, uint32_t names, int *is_missing)
{
	unsigned open = regions->open, own = find(regions, names);

	*is_missing = !own;
	t2x_regions_cut(regions, own + 1);
	return open - regions->open;
}

unsigned t2x_regions_repair_enter(struct t2x_regions *regions, uint32_t names)
{
	unsigned open = regions->open, own = find(regions, names);

	if (own)
		t2x_regions_cut(regions, own);
	return open - regions->open;
}

/* SPDX-License-Identifier: MIT */
/* t2x_regions.c - see t2x_regions.h. */
#include "t2x_regions.h"

#include <stdlib.h>
#include <string.h>

void t2x_regions_init(struct t2x_regions *regions, uint64_t start_us)
{
	regions->open = 1;
	regions->enter_us = regions->small;
	regions->room = T2X_REGIONS_SMALL;
	regions->small[0] = start_us;
}

void t2x_regions_free(struct t2x_regions *regions, unsigned *budget)
{
	if (regions->enter_us == regions->small)
		return;
	*budget += regions->room;
	free(regions->enter_us);
	regions->enter_us = regions->small;
}

/* Twice the room.  If it cannot be had, the regions that find no room are only counted. */
static void grow(struct t2x_regions *regions, unsigned *budget)
{
	int is_small = regions->enter_us == regions->small;
	unsigned more = 2 * regions->room, price = is_small ? more : regions->room;
	uint64_t *enter_us;

	if (more > T2X_REGIONS_KEPT || price > *budget)
		return;
	enter_us = realloc(is_small ? NULL : regions->enter_us, more * sizeof(*enter_us));
	if (!enter_us)
		return;
	if (is_small)
		memcpy(enter_us, regions->small, sizeof(regions->small));
	regions->enter_us = enter_us;
	regions->room = more;
	*budget -= price;
}

void t2x_regions_enter(struct t2x_regions *regions, uint64_t now_us, unsigned *budget)
{
	if (regions->open == regions->room)
		grow(regions, budget);
	if (regions->open < regions->room)
		regions->enter_us[regions->open] = now_us;
	regions->open++;
}

void t2x_regions_leave(struct t2x_regions *regions)
{
	if (regions->open)
		regions->open--;
}

void t2x_regions_unwind(struct t2x_regions *regions)
{
	if (regions->open > 1)
		regions->open = 1;
}

uint64_t t2x_regions_elapsed(const struct t2x_regions *regions, uint64_t now_us)
{
	uint64_t start_us;

	if (!regions->open || regions->open > regions->room)
		return 0;
	start_us = regions->enter_us[regions->open - 1];
	return start_us ? now_us - start_us : 0;
}

unsigned t2x_regions_open(const struct t2x_regions *regions)
{
	return regions->open < T2X_REGIONS_KEPT ? (unsigned)regions->open : T2X_REGIONS_KEPT;
}

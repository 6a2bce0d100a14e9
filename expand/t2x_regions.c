/* SPDX-License-Identifier: MIT */
/* t2x_regions.c - see t2x_regions.h. */
#include "t2x_regions.h"

#include <string.h>

#include "t2x_memory.h"

void t2x_regions_init(struct t2x_regions *regions, uint64_t start_us)
{
	regions->open = 1;
	regions->entered = regions->small;
	regions->room = T2X_REGIONS_SMALL;
	regions->small[0] = (struct t2x_region){ start_us, 0 };
}

void t2x_regions_free(struct t2x_regions *regions, unsigned *budget)
{
	if (regions->entered == regions->small)
		return;
	*budget += regions->room;
	t2x_free(regions->entered);
	regions->entered = regions->small;
}

/* Twice the room, if it can be had. */
void t2x_regions_grow(struct t2x_regions *regions, unsigned *budget)
{
	int is_small = regions->entered == regions->small;
	unsigned more = 2 * regions->room, price = is_small ? more : regions->room;
	struct t2x_region *entered;

	if (more > T2X_REGIONS_KEPT || price > *budget)
		return;
	entered = t2x_realloc(is_small ? NULL : regions->entered, more * sizeof(*entered));
	if (!entered)
		return;
	if (is_small)
		memcpy(entered, regions->small, sizeof(regions->small));
	regions->entered = entered;
	regions->room = more;
	*budget -= price;
}

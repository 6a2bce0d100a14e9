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

/* Twice the room, if it can be had. */
void t2x_regions_grow(struct t2x_regions *regions, unsigned *budget)
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

/* SPDX-License-Identifier: MIT */
/* t2x_rotated.c - see t2x_rotated.h. */
#include "t2x_rotated.h"

#include <stddef.h>

enum { PLACES = 16 };           /* where a process may be, from that of its identity on */

static unsigned place_of(uint64_t identity, unsigned nth)
{
	return (unsigned)((identity ^ identity >> 32) + nth) % T2X_MAX_SEEN;
}

/* Return  NULL: it is not there */
static const struct t2x_rotated *find(const struct t2x_rotated_table *table, uint64_t identity)
{
	for (unsigned i = 0; i < PLACES; i++) {
		const struct t2x_rotated *seen = &table->seen[place_of(identity, i)];

		if (seen->latest && seen->identity == identity)
			return seen;
	}
	return NULL;
}

/* The place of a process, or for one: a free one, or that of the one that had no new file for longest. */
static unsigned find_place(const struct t2x_rotated_table *table, uint64_t identity)
{
	const struct t2x_rotated *seen = find(table, identity);
	unsigned oldest = place_of(identity, 0);

	if (seen)
		return (unsigned)(seen - table->seen);
	for (unsigned i = 1; i < PLACES; i++)
		if (table->seen[place_of(identity, i)].latest < table->seen[oldest].latest)
			oldest = place_of(identity, i);
	return oldest;
}

uint32_t t2x_rotated_add(struct t2x_rotated_table *table, uint64_t identity, uint32_t stream, uint32_t first_cycle)
{
	struct t2x_rotated *seen = &table->seen[find_place(table, identity)];
	int goes_on = seen->latest && seen->identity == identity && seen->first_cycle != first_cycle;

	if (!seen->latest || seen->identity != identity)
		*seen = (struct t2x_rotated){ .identity = identity, .stream = stream, .first_cycle = first_cycle };
	if (first_cycle < seen->first_cycle)
		seen->first_cycle = first_cycle;
	seen->latest = ++table->files;
	return goes_on ? seen->stream : stream;
}

int t2x_rotated_has_earlier(const struct t2x_rotated_table *table, uint64_t identity, uint32_t first_cycle)
{
	const struct t2x_rotated *seen = find(table, identity);

	return seen && seen->first_cycle < first_cycle;
}

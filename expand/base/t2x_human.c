/* SPDX-License-Identifier: MIT */
/* t2x_human.c - see t2x_human.h. */
#include "t2x_human.h"

#include <stdio.h>

/* Divide by base as often as there are units and the value has four digits.  Return  the number of the unit */
static unsigned scale(double *value, double base, unsigned last)
{
	unsigned unit = 0;

	while (unit < last && *value >= 999.5) {
		*value /= base;
		unit++;
	}
	return unit;
}

static int digits_of(double value, unsigned unit)
{
	return !unit || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

const char *t2x_human_time(char to[T2X_HUMAN_BYTES], uint64_t ns, int is_cell)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	const unsigned unit = scale(&value, 1000, 3);

	snprintf(to, T2X_HUMAN_BYTES, "%*.*f %-*s", is_cell ? 6 : 0, digits_of(value, unit), value, is_cell ? 2 : 0,
		 units[unit]);
	return to;
}

const char *t2x_human_bytes(char to[T2X_HUMAN_BYTES], uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	const unsigned unit = scale(&value, 1024, 4);

	snprintf(to, T2X_HUMAN_BYTES, "%.*f %s", digits_of(value, unit), value, units[unit]);
	return to;
}

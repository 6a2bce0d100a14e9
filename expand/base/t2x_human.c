/* SPDX-License-Identifier: MIT */
/* t2x_human.c - see t2x_human.h. */
#include "t2x_human.h"

#include <stdio.h>

const char *t2x_human_time(char to[T2X_HUMAN_BYTES], uint64_t ns, int is_cell)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	unsigned unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(to, T2X_HUMAN_BYTES, "%*.*f %-*s", is_cell ? 6 : 0,
		 !unit || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, is_cell ? 2 : 0, units[unit]);
	return to;
}

/* SPDX-License-Identifier: MIT */
/* t2x_human.c - see t2x_human.h. */
#include "t2x_human.h"

#include <stdio.h>

/* The units of a kind: each is so many of the one before. */
static const struct scale {
	const char *units[5];
	unsigned last;
	double step;
} scales[] = {
	[T2X_HUMAN_TIME] = { { "ns", "us", "ms", "s" }, 3, 1000 },
	[T2X_HUMAN_SIZE] = { { "B", "KiB", "MiB", "GiB", "TiB" }, 4, 1024 },
	[T2X_HUMAN_COUNT] = { { "" }, 0, 1000 },
};

const char *t2x_human(char to[T2X_HUMAN_BYTES], enum t2x_human_kind kind, double number, int width, int unit_width)
{
	const struct scale *scale = &scales[kind];
	unsigned unit = 0;

	for (; unit < scale->last && number >= scale->step - 0.5; unit++)
		number /= scale->step;
	snprintf(to, T2X_HUMAN_BYTES, "%*.*f%s%-*s", width, !unit || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2,
		 number, unit_width || *scale->units[unit] ? " " : "", unit_width, scale->units[unit]);
	return to;
}

const char *t2x_human_time(char to[T2X_HUMAN_BYTES], uint64_t ns, int is_cell)
{
	return t2x_human(to, T2X_HUMAN_TIME, (double)ns, is_cell ? 6 : 0, is_cell ? 2 : 0);
}

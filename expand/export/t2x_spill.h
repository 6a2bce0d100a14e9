/* SPDX-License-Identifier: MIT */
/*
 * t2x_spill.h - the tables of a format whose rows have to wait for the end of the trace, and do not fit in memory.
 *
 * A table puts its rows in a temporary file, piece by piece, when it has many of them, or when all tables together hold
 * T2X_SPILL_MEMORY.  Without such a file, or once there is no room for it, rows stay in memory.
 */
#ifndef T2X_SPILL_H
#define T2X_SPILL_H

#include <stddef.h>
#include <stdint.h>

enum {
	T2X_SPILL_PIECE = 56 << 10,       /* bytes: a table that has as many puts them in the file ... */
	T2X_SPILL_MEMORY = 8 << 20,       /* ... or, when all have allocated so many, ... */
	T2X_SPILL_LEAST = 256,            /* ... one that has this much */
};

/* All zero: nothing was put yet. */
struct t2x_spill {
	size_t held;                      /* bytes that the tables have allocated: their own account */
	int fd, is_open, is_off;
	uint64_t end;                     /* of what is in the file */
	unsigned char *piece;             /* that was read last */
	size_t max;
	int error;                        /* of reading: an errno */
};

/* 1: a table that has n bytes is to put them in the file */
static inline int t2x_spill_is_due(const struct t2x_spill *spill, size_t n)
{
	return !spill->is_off && (n >= T2X_SPILL_PIECE || (spill->held > T2X_SPILL_MEMORY && n >= T2X_SPILL_LEAST));
}

/* at: where they are then.  Return  0: they could not be written */
int t2x_spill_put(struct t2x_spill *spill, const void *bytes, size_t n, uint64_t *at);

/* What was put there, until the next call.  Return  NULL: error says why */
const unsigned char *t2x_spill_get(struct t2x_spill *spill, uint64_t at, size_t n);

void t2x_spill_free(struct t2x_spill *spill);

#endif

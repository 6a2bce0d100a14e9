/* SPDX-License-Identifier: MIT */
/*
 * t2x_dropped.h - the events that a process has dropped.  The process records totals for each thread and reason, and
 * repeats them in each cycle.
 */
#ifndef T2X_DROPPED_H
#define T2X_DROPPED_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

struct t2x_dropped;

/* Pairs of a thread and a reason in a process.  Totals of more pairs, or above the budget, are not counted. */
enum { T2X_DROPPED_MAX = 16384 };

/*
 * Set the thread's total for the reason to total.
 * dropped  where the table is: NULL at first, made here
 * budget  bytes that tables may still take
 * Return  how much that adds to what was known; 0 too if there is no memory
 */
uint64_t t2x_dropped_update(struct t2x_dropped **dropped, size_t *budget, uint32_t tid, unsigned reason,
			   uint64_t total);

/* What is known of all threads together.  dropped may be NULL. */
uint64_t t2x_dropped_total(const struct t2x_dropped *dropped, unsigned reason);

/* budget  gets back what the table took */
void t2x_dropped_free(struct t2x_dropped *dropped, size_t *budget);

#endif

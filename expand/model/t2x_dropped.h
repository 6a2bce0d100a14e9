/* SPDX-License-Identifier: MIT */
/*
 * t2x_dropped.h - what is missing: events that a process says it dropped, a total for each thread and reason, stated
 * again and again.
 */
#ifndef T2X_DROPPED_H
#define T2X_DROPPED_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

struct t2x_dropped;

/* Threads and reasons of a process; what is beyond counts as nothing, as does what the budget does not allow. */
enum { T2X_DROPPED_MAX = 16384 };

/*
 * Take note that the thread's total for the reason is now total.
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

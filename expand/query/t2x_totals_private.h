/* SPDX-License-Identifier: MIT */
/* t2x_totals_private.h - what the files of the totals share, and nobody else includes. */
#ifndef T2X_TOTALS_PRIVATE_H
#define T2X_TOTALS_PRIVATE_H

#include "t2x_totals.h"

/* What is known of the regions around a thread's next event. */
struct t2x_level {
	uint64_t inner_ns;                /* in regions directly in it, so far */
	int is_unknown;                   /* how long one of these was is not known */
};

struct t2x_totals_thread {
	struct t2x_thread_record head;
	struct t2x_row *row;
	struct t2x_level *levels;         /* by the number of regions open in it */
	unsigned capacity;
};

/* What a row is found by. */
struct t2x_row_key {
	enum t2x_row_kind kind;
	uint32_t pid;
	const char *thread, *category, *label;
};

/* The row, a new one where there is none.  Return  NULL: no room */
struct t2x_row *t2x_totals_row(struct t2x_totals *totals, const struct t2x_row_key *key);

/* Not in line: levels for a region as deep as this.  Return  0: no room */
int t2x_totals_grow(struct t2x_totals_thread *thread, unsigned level);

/* Return  NULL: no room */
static inline struct t2x_level *t2x_totals_level(struct t2x_totals_thread *thread, unsigned level)
{
	if (__builtin_expect(level >= thread->capacity, 0) && !t2x_totals_grow(thread, level))
		return NULL;
	return &thread->levels[level];
}

/* A duration of a region or child. */
static inline void t2x_row_add_duration(struct t2x_row *row, uint64_t ns, size_t *budget)
{
	if (!row->count || (int64_t)ns < row->min)
		row->min = (int64_t)ns;
	if (!row->count || (int64_t)ns > row->max)
		row->max = (int64_t)ns;
	row->count++;
	row->total += ns;
	t2x_histogram_add(&row->durations, ns, budget);
}

/* An integer that is data. */
void t2x_row_add_value(struct t2x_row *row, const struct t2x_event *ev);

/* To the total of integers, which has 128 bits. */
void t2x_row_add_total(struct t2x_row *row, uint64_t low, int64_t high);

#endif

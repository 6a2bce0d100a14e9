/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_row.h - a row of totals, by itself: what it has, and how a duration or a value is added to it.
 *
 * t2x_totals_rows.h finds rows by their names.
 */
#ifndef T2X_TOTALS_ROW_H
#define T2X_TOTALS_ROW_H

#include "t2x_histogram.h"
#include "model/t2x_spans.h"

enum t2x_row_kind {
	T2X_ROW_REGION,
	T2X_ROW_CHILD,            /* category: its class, label: its program */
	T2X_ROW_TIMER, T2X_ROW_TH_TIMER,
	T2X_ROW_COUNTER, T2X_ROW_TH_COUNTER,
	T2X_ROW_DATA,             /* integers have min, max, last and total; others a count only */
	T2X_ROW_STEP,
	T2X_ROW_MODE,             /* what commands do: category: the command, label: its mode */
	T2X_ROW_PROFILE,          /* of samples: category; count and value as recorded, what is freed left out */
	T2X_ROW_FUNCTION,         /* CPU time: category: the innermost region, as category/label; label: the function */
	T2X_ROW_THREAD,           /* label: its name */
	T2X_ROW_OPEN,             /* regions never left: category: as category/label; label: where they were entered */
	T2X_ROW_MISSING,          /* what was dropped, or is missing in the trace: total; in count places */
	T2X_ROW_KINDS,
};

/* Durations are nanoseconds. */
struct t2x_row {
	enum t2x_row_kind kind;
	uint32_t pid;             /* 0: of all */
	const char *thread;       /* "": of all */
	const char *category, *label;
	const char *value;        /* of regions that are kept apart by it; "": of all, of those that have none */
	uint64_t entered;         /* regions, children: how often begun ... */
	uint64_t moved;           /* ... regions: of these, that have a value, and so another row */
	uint64_t count;           /* of known durations, of intervals, of values, of events of a thread */
	uint64_t total;
	int64_t total_high;       /* of integers: the upper half of total */
	uint64_t nested;          /* regions: of total, that of those in others of the row, in one thread */
	uint64_t self;
	int64_t min, max;         /* of nothing: of durations INT64_MAX and 0, of others both 0 */
	int64_t last;             /* the latest, of last_ns ... */
	uint64_t last_place;      /* ... in this stream and thread */
	uint64_t unknown, self_unknown;       /* that are left, but their durations are not known */
	uint64_t mismatched;      /* regions: closed by a leave of other names */
	uint64_t lived;           /* children: of total, up to the ends of the processes, as far as these are known */
	uint64_t waited;          /* children: of total, time in which nothing else happened in who waited for them */
	uint64_t failed;          /* children: ended, not with 0 */
	uint64_t values;          /* data: integers; timers: that had an interval */
	uint64_t first_ns, last_ns;           /* of a thread's events, the earliest and the latest */
	struct t2x_histogram durations;
	struct t2x_row *next;     /* of those with the same hash */
	uint32_t hash;
	uint32_t bit;             /* regions: see t2x_totals_regions.h ... */
	struct t2x_row_around {   /* ... and what was found around the latest that had to be compared */
		const struct t2x_spans *spans;
		const struct t2x_row *row;        /* of the region directly around */
		uint64_t entered;                 /* how often regions of that row had been */
		uint32_t depth;
		uint32_t outer;                   /* the innermost span of this row is there; 0: none is around */
	} around;
	struct t2x_row *joined;   /* while parts are joined: the row that this one is added to */
	char text[];
};

/* Whether durations are what a row is about. */
static inline int t2x_row_has_durations(const struct t2x_row *row)
{
	return row->kind <= T2X_ROW_CHILD;
}

/* An average, rounded down; 0 of nothing. */
static inline uint64_t t2x_row_mean(const struct t2x_row *row)
{
	return row->count ? row->total / row->count : 0;
}

/* Regions, children: how often ended. */
static inline uint64_t t2x_row_left(const struct t2x_row *row)
{
	return row->count + row->unknown;
}

/* Regions, children: how many have not ended, as far as that is known. */
static inline uint64_t t2x_row_open(const struct t2x_row *row)
{
	uint64_t begun = row->entered - row->moved, left = t2x_row_left(row);

	return begun > left ? begun - left : 0;
}

/* A row of regions that stands for none: they were found to be of other rows. */
static inline int t2x_row_is_empty(const struct t2x_row *row)
{
	return row->kind == T2X_ROW_REGION && row->entered == row->moved && !t2x_row_left(row);
}

/* The time that passed in regions of a row: of those that lie in each other the outermost counts. */
static inline uint64_t t2x_row_time(const struct t2x_row *row)
{
	return row->total - row->nested;
}

/* The average of integers. */
double t2x_row_average(const struct t2x_row *row);

/* A duration of a region or child. */
static inline void t2x_row_add_duration(struct t2x_row *row, uint64_t ns, size_t *budget)
{
	if ((int64_t)ns < row->min)
		row->min = (int64_t)ns;
	if ((int64_t)ns > row->max)
		row->max = (int64_t)ns;
	row->count++;
	row->total += ns;
	t2x_histogram_add(&row->durations, ns, budget);   /* last: the only call that there may be */
}

/* A region was left.  span  NULL: nothing is known of what was in it */
static inline void t2x_row_leave(struct t2x_row *row, const struct t2x_span *span, uint64_t ns, size_t *budget)
{
	if (ns > INT64_MAX) {
		row->unknown++;
		return;
	}
	if (span && !span->is_inner_unknown && span->inner_ns <= ns)
		row->self += ns - span->inner_ns;
	else
		row->self_unknown++;
	t2x_row_add_duration(row, ns, budget);
}

/* How a child has ended. */
struct t2x_child_end {
	uint64_t ns;              /* from its start to its exit */
	uint64_t lived_ns;        /* from its start to its end, as it said itself; or more than ns */
	uint64_t idle_ns;         /* since the event in front, in the thread that waited for it; or more than ns */
	int is_unknown;           /* when it was started */
	int has_failed;
};

/* The child said at ended_ns that it ended, and its parent at ns. */
static inline void t2x_child_end_lived(struct t2x_child_end *end, uint64_t ns, uint64_t ended_ns)
{
	if (ended_ns < ns && ended_ns >= ns - end->ns)
		end->lived_ns = ended_ns - (ns - end->ns);
}

void t2x_row_end_child(struct t2x_row *row, const struct t2x_child_end *end, size_t *budget);

/* An integer that is data. */
void t2x_row_add_value(struct t2x_row *row, const struct t2x_thread *thread, uint64_t ns, int64_t value);

/* To the total of integers, which has 128 bits. */
void t2x_row_add_total(struct t2x_row *row, uint64_t low, int64_t high);

#endif

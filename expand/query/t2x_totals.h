/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals.h - a trace in numbers: a row for each category and label.
 *
 * Rows are found by scope number and, if they are kept apart by process or thread, by thread number; the names are
 * only looked at when one comes for the first time.  Time of its own is the duration of a region without that of the
 * regions directly in it; the depth of an event, which the model knows, says which these are.  Where events are
 * missing it is not known, and the region is counted in self_unknown.  Of regions in one of the same row, in a thread,
 * the time of the outermost counts (t2x_totals_regions.h).  Nothing depends on the order in which events of
 * different threads come, but for children that one of them starts and another one ends.
 */
#ifndef T2X_TOTALS_H
#define T2X_TOTALS_H

#include "t2x_threads.h"
#include "t2x_totals_row.h"
#include "model/t2x_spans.h"

enum t2x_by { T2X_BY_NOTHING, T2X_BY_PROCESS, T2X_BY_THREAD };

enum {
	T2X_ROWS_MAX = 65536,
	T2X_ROWS_AT_HAND = 4096,
	T2X_ROWS_BYTES = 6 * 1024 * 1024,         /* for rows only ... */
	T2X_TOTALS_BYTES = 12 * 1024 * 1024,      /* ... and for more of them, threads, children, durations */
	T2X_TOTALS_ENDED = 16384,                 /* processes, see ended: of more, nobody knows how long they lived */
	T2X_TOTALS_THREAD_BYTES = 400,            /* of memory for a thread, see t2x_writer.h */
};

/* What of a trace the totals are of. */
enum t2x_part { T2X_PART_WHOLE, T2X_PART_FIRST, T2X_PART_LATER };

struct t2x_note;

struct t2x_totals {
	struct t2x_spans_table spans;   /* first.  Spans of regions have their row as own value */
	enum t2x_by by;
	enum { T2X_VALUE_NONE, T2X_VALUE_MESSAGE, T2X_VALUE_DATA } value;     /* see t2x_totals_values.h ... */
	const char *value_category, *value_key;
	size_t value_category_length;         /* ... it is no string */
	struct t2x_row **rows;
	unsigned n, capacity;
	unsigned nregions;        /* rows of regions: the next one's bit */
	uint64_t others;          /* events for whose rows there was no room */
	uint64_t events;
	uint64_t first_ns, last_ns;           /* the earliest event that is not repeated, the latest; 0: none */
	struct t2x_map by_hash;
	struct t2x_threads children;
	struct t2x_threads ended;             /* processes whose parents have not recorded their exit yet */
	size_t row_budget, budget;            /* bytes that there may be more: of T2X_ROWS_BYTES, T2X_TOTALS_BYTES */
	uint32_t seed;
	enum t2x_part part;       /* not the whole: t2x_totals_join.h */
	int is_cut;               /* of a part: there was no room for a thread or a note, or a sample */
	struct t2x_note *notes;
	unsigned nnotes, notes_capacity;
	struct t2x_totals_row {
		uint64_t scope, thread;
		struct t2x_row *row;
	} at_hand[T2X_ROWS_AT_HAND];          /* rows of scopes; scope 0: none, NULL */
};

/* The own value of a thread's spans. */
struct t2x_totals_thread {
	struct t2x_row *row;              /* NULL: it had no event yet, or there is no room */
	uint64_t active_ns;               /* of the latest event that is no sample: of what it did itself; 0: none */
	uint32_t file;                    /* that had its latest event */
	unsigned nopen, max_open;         /* regions that are open where this file, or the part, ends: ... */
	struct t2x_row **open;            /* ... their rows of T2X_ROW_OPEN */
	struct t2x_row **around;          /* of a part, by depth: rows of regions that were open where it began ... */
	unsigned naround, nlearned;       /* ... as far as they are still open; all of them */
};

static inline struct t2x_totals *t2x_totals_of(struct t2x_spans_table *table)
{
	return (struct t2x_totals *)(void *)table;   /* it is the first in it */
}

/* Return  NULL: no memory */
struct t2x_totals *t2x_totals_new(enum t2x_by by);
struct t2x_totals *t2x_totals_new_part(enum t2x_by by, enum t2x_part part);
void t2x_totals_free(struct t2x_totals *totals);

/* For begin(): the printer's own, and the spans that it asks for, are those of the totals.  Return  0 or -ENOMEM */
int t2x_totals_use(struct t2x_printer *printer, struct t2x_totals *totals);

/* For writers: printer->own is the totals.  Take an event, what is usual in a run, a region that is never left. */
void t2x_totals_accumulate(struct t2x_printer *printer, const struct t2x_event *ev);
void t2x_totals_add_run(struct t2x_printer *printer, struct t2x_run *run);
void t2x_totals_never_left(struct t2x_printer *printer, const struct t2x_event *ev);

#endif

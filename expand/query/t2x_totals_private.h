/* SPDX-License-Identifier: MIT */
/* t2x_totals_private.h - what the files of the totals share, and nobody else includes. */
#ifndef T2X_TOTALS_PRIVATE_H
#define T2X_TOTALS_PRIVATE_H

#include "t2x_totals.h"

/* The own value of a thread's spans. */
struct t2x_totals_thread {
	struct t2x_row *row;              /* NULL: it had no event yet, or there is no room */
	unsigned nopen, max_open;         /* of a part: regions that are open where it ends: rows of T2X_ROW_OPEN */
	struct t2x_row **open;
};

static inline struct t2x_totals *t2x_totals_of(struct t2x_spans_table *table)
{
	return (struct t2x_totals *)(void *)table;   /* it is the first in it */
}

/* Of a part: the thread's regions that are open are never left, as nothing comes that could. */
void t2x_totals_count_open(struct t2x_totals_thread *thread);

/* Notes of a part, and children of all parts together: with more, it is not joined. */
enum { T2X_NOTES_MAX = 65536 };

/* What a part cannot count: see t2x_totals_join.h. */
struct t2x_note {
	enum { T2X_NOTE_LEAVE, T2X_NOTE_THREAD_EXIT, T2X_NOTE_CHILD_START, T2X_NOTE_CHILD_EXIT } kind;
	uint32_t stream, id;      /* of the thread, of the child */
	uint32_t tid;             /* child: of the thread that started or ended it */
	struct t2x_row *row;      /* of the region; of the child, by how it was started */
	uint64_t ns;              /* when it was */
	uint64_t value;           /* a leave: time inside of others, in this part; a child's exit: how long it ran */
	unsigned level;           /* of the region */
	int is_unknown;           /* a leave: it may have been more; a child's exit: nobody knows how long */
	int has_failed;           /* child */
};

/* What a row is found by. */
struct t2x_row_key {
	enum t2x_row_kind kind;
	uint32_t pid;
	const char *thread, *category, *label;
};

/* The row, a new one where there is none.  Return  NULL: no room */
struct t2x_row *t2x_totals_row(struct t2x_totals *totals, const struct t2x_row_key *key);

/* That of names, apart by process or thread as it was asked for.  category, label  NULL: "" */
struct t2x_row *t2x_totals_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind,
				 const char *category, const char *label);

/* A sample. */
void t2x_totals_take_sample(struct t2x_printer *printer, const struct t2x_event *ev);

/* Rows are kept apart by thread, also where they are by process: the row of another thread is looked for once. */
static inline uint64_t t2x_totals_apart(const struct t2x_totals *totals, const struct t2x_thread *thread)
{
	return totals->by ? thread->number : 0;
}

static inline unsigned t2x_totals_place(uint64_t scope, uint64_t apart)
{
	return (unsigned)(scope + apart * 61) % T2X_ROWS_AT_HAND;
}

/* The row of a scope, as far as it is at hand.  Return  NULL: it is not */
static inline struct t2x_row *t2x_totals_at_hand(const struct t2x_totals *totals, uint64_t scope, uint64_t apart)
{
	const struct t2x_totals_row *at_hand = &totals->at_hand[t2x_totals_place(scope, apart)];

	return at_hand->scope == scope && at_hand->thread == apart ? at_hand->row : NULL;
}

static inline void t2x_totals_keep(struct t2x_totals *totals, uint64_t scope, uint64_t apart, struct t2x_row *row)
{
	totals->at_hand[t2x_totals_place(scope, apart)] = (struct t2x_totals_row){ scope, apart, row };
}

/* Count n events of a thread, the latest at ns.  row  the thread's; NULL: no room */
static inline void t2x_totals_count(struct t2x_totals *totals, struct t2x_row *row, unsigned n, uint64_t ns)
{
	totals->events += n;
	if (ns > totals->last_ns)
		totals->last_ns = ns;
	if (!row)
		return;
	row->count += n;
	if (ns > row->last_ns)
		row->last_ns = ns;
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
	t2x_histogram_add(&row->durations, ns, budget);   /* last: the only call that there may be */
}

/* A region was left.  span  NULL: nothing is known of what was in it */
static inline void t2x_row_leave(struct t2x_row *row, const struct t2x_span *span, uint64_t ns, size_t *budget)
{
	row->left++;
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

/* A child has ended. */
void t2x_row_end_child(struct t2x_row *row, uint64_t ns, int is_unknown, int has_failed, size_t *budget);

/* To the notes of a part. */
void t2x_totals_note(struct t2x_totals *totals, const struct t2x_note *note);

/* An integer that is data. */
void t2x_row_add_value(struct t2x_row *row, const struct t2x_thread *thread, uint64_t ns, int64_t value);

/* To the total of integers, which has 128 bits. */
void t2x_row_add_total(struct t2x_row *row, uint64_t low, int64_t high);

#endif

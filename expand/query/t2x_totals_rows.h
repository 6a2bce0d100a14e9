/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_rows.h - the rows of totals: found by their names, or, most of the time, by the number of a scope.
 */
#ifndef T2X_TOTALS_ROWS_H
#define T2X_TOTALS_ROWS_H

#include "t2x_totals.h"

/* A name, which may be a null pointer. */
static inline const char *t2x_totals_text(const char *text)
{
	return text ? text : "";
}

/* What a row is found by. */
struct t2x_row_key {
	enum t2x_row_kind kind;
	uint32_t pid;
	const char *thread, *category, *label, *value;
};

/* The row, a new one where there is none.  Return  NULL: no room */
struct t2x_row *t2x_totals_row(struct t2x_totals *totals, const struct t2x_row_key *key);

/* That of names, apart by process or thread as it was asked for.  category, label  NULL: "" */
struct t2x_row *t2x_totals_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind,
				 const char *category, const char *label);

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

/* As t2x_totals_names(), by the names of the event's scope; from then on the row is at hand. */
struct t2x_row *t2x_totals_scope_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind);

/* The row of the event's scope.  Return  NULL: no room */
static inline struct t2x_row *
t2x_totals_scope(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = t2x_totals_at_hand(totals, ev->scope->number, t2x_totals_apart(totals, ev->thread));

	return row ? row : t2x_totals_scope_names(totals, ev, kind);
}

#endif

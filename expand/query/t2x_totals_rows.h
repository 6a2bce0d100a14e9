/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_rows.h - what totals are made of: rows, and the notes of a part.
 *
 * A row is found by its names or, most of the time, by the number of a scope.  A note is what a part of a trace cannot
 * count: t2x_totals_join.h counts it where the parts are joined.
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

/* Notes of a part, and children of all parts together: with more, it is not joined. */
enum { T2X_NOTES_MAX = 65536 };

/* A process, as its parent and itself know it: by its number, and a hash of the parent's session id. */
struct t2x_family_member {
	uint32_t parent, pid;
};

/* What a part cannot count: see t2x_totals_join.h. */
struct t2x_note {
	enum { T2X_NOTE_AROUND, T2X_NOTE_LEAVE, T2X_NOTE_THREAD_EXIT, T2X_NOTE_CHILD_START, T2X_NOTE_CHILD_EXIT,
	       T2X_NOTE_PROCESS_END } kind;
	uint32_t stream, id;      /* of the thread, of the child */
	uint32_t tid;             /* child: of the thread that started or ended it */
	struct t2x_row *row;      /* of the region; of the child, by how it was started */
	uint64_t ns;              /* when it was */
	uint64_t value;           /* a leave: time inside of others, in this part */
	unsigned level;           /* of the region; around: its depth */
	int is_unknown;           /* a leave: it may have been more */
	struct t2x_child_end end; /* a child's exit */
	struct t2x_family_member process;     /* that has ended, or whose exit a child's is */
	int is_first;             /* a child's exit: no event of the thread is in front of it in this part */
};

/* To the notes of a part. */
void t2x_totals_note(struct t2x_totals *totals, const struct t2x_note *note);

#endif

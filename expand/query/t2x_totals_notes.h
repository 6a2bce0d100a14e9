/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_notes.h - what a part of a trace cannot count, for who joins the parts: see t2x_totals_join.h.
 */
#ifndef T2X_TOTALS_NOTES_H
#define T2X_TOTALS_NOTES_H

#include "t2x_totals.h"

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

/* SPDX-License-Identifier: MIT */
/*
 * t2x_columns.h - the columns of a perf line: time, place, depth, thread, event, repository, two times, category.
 *
 * The parts of a line that depend only on the scope or only on the thread are laid out once, in templates
 * (t2x_template.h).  A line is made of copies of fixed size from these templates.  A copy may be longer than the part;
 * the next copy overwrites the excess.  t2x_columns_begin() makes any line.  t2x_perf.c makes most lines itself, from
 * the same templates.
 */
#ifndef T2X_COLUMNS_H
#define T2X_COLUMNS_H

#include "t2x_text.h"

enum {
	T2X_COLUMNS_PLACE = 28,       /* bytes of "file:line"; a longer one loses its beginning */
	T2X_COLUMNS_TIME = 9,         /* bytes of a duration, at least; three more with nanoseconds */
	T2X_COLUMNS_CATEGORY = 12,    /* bytes of the category; a longer one loses its end */
	T2X_COLUMNS_ROOM = 2048,      /* more than columns and names of a template, and T2X_COLUMNS_SPARE, need */
	T2X_COLUMNS_SPARE = 512,      /* bytes that are free behind them */
};

/* Which times a line shows.  The column of another time, or of an unknown one, is blank. */
enum { T2X_COLUMNS_ABSOLUTE = 1, T2X_COLUMNS_RELATIVE = 2 };

/*
 * Where the columns lie in the template of a scope, their separators included, and how many bytes are copied
 * from there: " m.c:1<blanks> | ", "region_enter | r1  | ", "category     | ", "label:refresh".
 */
enum {
	T2X_PLACE_AT = 0, T2X_PLACE_COPY = 1 + T2X_COLUMNS_PLACE + 3,
	T2X_EVENT_AT = T2X_PLACE_COPY, T2X_EVENT_COPY = 32,
	T2X_CATEGORY_AT = T2X_EVENT_AT + T2X_EVENT_COPY, T2X_CATEGORY_COPY = 16,
	T2X_NAMES_AT = T2X_CATEGORY_AT + T2X_CATEGORY_COPY,
	T2X_THREAD_COPY = 48,         /* of a thread's template: "d0 | main<blanks> | " */
};
enum { T2X_EVENT_LENGTH, T2X_NAMES_LENGTH };   /* of a scope's template; a thread's has one length */
enum { T2X_NAMES_TOO_LONG = UINT16_MAX };      /* the names do not fit into a template: each line formats them anew */

/*
 * Begin a line: all columns, the dots for the regions around the event, and the part of the payload that the scope
 * decides: "label:x", "key:", "name:x".  The caller appends the rest of the payload.
 * times     T2X_COLUMNS_...
 * category  what stands in that column; NULL: the category of the scope
 * Return    the byte behind, T2X_COLUMNS_SPARE of them free; the caller moves out->pos
 */
char *t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times, const char *category);

/* The key of the template of the event's scope. */
static inline uint64_t t2x_columns_scope(const struct t2x_event *ev)
{
	return ev->scope ? ev->scope->number : 0;
}

/* Two dots for each region around the event, except the thread's own. */
static inline size_t t2x_columns_dots(const struct t2x_event *ev)
{
	return ev->open > 1 ? 2 * ((size_t)ev->open - 1) : 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_columns.h - the columns of a perf line: time, place, depth, thread, event, repository, two times, category.
 *
 * What a scope and a thread decide alone is laid out once, in templates (t2x_template.h).  Their parts are copied in
 * pieces of fixed size, each of which may write more than it has to say: the next one goes over it.
 * t2x_columns_begin() makes any line; t2x_perf.c makes most lines itself, of the same templates.
 */
#ifndef T2X_COLUMNS_H
#define T2X_COLUMNS_H

#include "t2x_text.h"

enum {
	T2X_COLUMNS_PLACE = 28,       /* bytes of "file:line"; what is longer loses its beginning */
	T2X_COLUMNS_TIME = 9,         /* of a duration, at least; three more with nanoseconds */
	T2X_COLUMNS_CATEGORY = 12,    /* of the category; what is longer loses its end */
	T2X_COLUMNS_ROOM = 2048,      /* more than the columns and names of a template, and T2X_COLUMNS_SPARE, take */
	T2X_COLUMNS_SPARE = 512,      /* bytes that are free behind them */
};

/* Which times an event has; the other columns are blank, as is that of a time that is not known. */
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
enum { T2X_NAMES_TOO_LONG = UINT16_MAX };      /* names that do not fit: they are put together for each line */

/*
 * Begin a line: all columns, the dots for the regions around the event, and what its scope says of the payload:
 * "label:x", "key:", "name:x".  What the event itself has to say is next.
 * times     T2X_COLUMNS_...
 * category  what stands in that column; NULL: the category of the scope
 * Return    the byte behind, T2X_COLUMNS_SPARE of them free; the caller moves out->pos
 */
char *t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times, const char *category);

/* The number by which the template of the event's scope is found. */
static inline uint64_t t2x_columns_scope(const struct t2x_event *ev)
{
	return ev->scope ? ev->scope->number : 0;
}

/* Two for each region around the event, the thread's own excepted. */
static inline size_t t2x_columns_dots(const struct t2x_event *ev)
{
	return ev->open > 1 ? 2 * ((size_t)ev->open - 1) : 0;
}

#endif

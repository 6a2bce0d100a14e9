/* SPDX-License-Identifier: MIT */
/*
 * t2x_columns.h - the columns of a perf line: time, place, depth, thread, event, repository, two times, category.
 *
 * Perf is the format of most lines.  A line is put together from templates (t2x_template.h) in copies of fixed size,
 * each of which may write more than it has to say: the next one goes over it.  What is done for most lines stands here,
 * inline in a caller that knows which times its kind has.  First it is seen whether everything is there, and nothing is
 * long; then no function is called, so nothing has to be saved from being lost in one: that alone was 40 of 150
 * instructions.  All other lines begin in the .c file.
 */
#ifndef T2X_COLUMNS_H
#define T2X_COLUMNS_H

#include "t2x_text.h"

enum {
	T2X_COLUMNS_PLACE = 28,       /* bytes of "file:line"; what is longer loses its beginning */
	T2X_COLUMNS_TIME = 9,         /* of a duration, at least */
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
	T2X_DOTS_COPY = 16,           /* for up to nine open regions */
	T2X_NAMES_COPY = 32,          /* of names that are not longer */
};
enum { T2X_EVENT_LENGTH, T2X_NAMES_LENGTH };   /* of a scope's template; a thread's has one length */
enum { T2X_NAMES_TOO_LONG = UINT16_MAX };      /* names that do not fit: they are put together for each line */

static inline uint64_t t2x_columns_scope(const struct t2x_event *ev)
{
	return ev->scope ? ev->scope->number : 0;
}

/*
 * Begin a line: all columns, the dots for the regions around the event, and what its scope says of the payload:
 * "label:x", "key:", "name:x".  What the event itself has to say is next.
 * times     T2X_COLUMNS_...
 * category  what stands in that column; NULL: the category of the scope
 * Return    the byte behind, T2X_COLUMNS_SPARE of them free; the caller moves out->pos
 */
char *t2x_columns_begin_any(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
			    const char *category);

/* Two for each region around the event, the thread's own excepted. */
static inline size_t t2x_columns_dots(const struct t2x_event *ev)
{
	return ev->open > 1 ? 2 * ((size_t)ev->open - 1) : 0;
}

/*
 * t2x_event_us() of a usual time elapsed, for an event of the microsecond that is kept: less than T2X_MOST_SECONDS,
 * and the division is a short one.
 */
enum { T2X_USUAL_NS = (T2X_MOST_SECONDS - 1) * 1000 };
static inline unsigned t2x_columns_usual_us(const struct t2x_printer *printer, const struct t2x_event *ev)
{
	unsigned into = (unsigned)(ev->ns - printer->time.ns);

	return ((unsigned)ev->rel_ns + 999 - into) / 1000;
}

/* Templates and times are those of the event, and nothing in the line is longer than usual. */
static inline int t2x_columns_are_usual(const struct t2x_printer *printer, const struct t2x_event *ev,
					const struct t2x_template *scope, const struct t2x_template *thread,
					unsigned times)
{
	const struct t2x_out *out = printer->out;

	/* with nanoseconds no time is known */
	return t2x_template_is_of(scope, t2x_columns_scope(ev)) && t2x_template_is_of(thread, ev->thread->number) &&
	       out->end - out->pos >= T2X_COLUMNS_ROOM && t2x_text_knows_time(printer, ev) &&
	       t2x_columns_dots(ev) <= T2X_DOTS_COPY && scope->length[T2X_NAMES_LENGTH] <= T2X_NAMES_COPY &&
	       (!(times & T2X_COLUMNS_RELATIVE) || ev->rel_ns < T2X_USUAL_NS);
}

/* "  0.000123 |  0.000045 | " */
static inline char *t2x_columns_put_times(const struct t2x_printer *printer, char *p, const struct t2x_event *ev,
					  unsigned times, int is_usual)
{
	static const char none[16] = "          |    ";

	if (times & T2X_COLUMNS_ABSOLUTE) {
		memcpy(p, printer->elapsed.text, T2X_KEPT_BYTES);
		p += printer->elapsed.length;
	} else {
		memcpy(p, none, sizeof(none));
		p += T2X_COLUMNS_TIME + 3;
	}
	if (times & T2X_COLUMNS_RELATIVE) {
		p = is_usual ? t2x_put_most_seconds(p, t2x_columns_usual_us(printer, ev))
			     : t2x_put_seconds(p, t2x_event_us(ev, ev->rel_ns));
		memcpy(p, " | ", 4);
		return p + 3;
	}
	memcpy(p, none, sizeof(none));
	return p + T2X_COLUMNS_TIME + 3;
}

/* The columns up to the category, that of the scope included. */
static inline __attribute__((always_inline)) char *
t2x_columns_put(const struct t2x_printer *printer, const struct t2x_event *ev, const struct t2x_template *scope,
		const struct t2x_template *thread, unsigned times, int is_usual)
{
	char *p = printer->out->pos;

	if (!printer->options.brief) {
		memcpy(p, printer->time.text, 16);
		p += T2X_LOCAL_TIME;
		memcpy(p, scope->text + T2X_PLACE_AT, T2X_PLACE_COPY);
		p += T2X_PLACE_COPY;
	}
	memcpy(p, thread->text, T2X_THREAD_COPY);
	p += thread->length[0];
	memcpy(p, scope->text + T2X_EVENT_AT, T2X_EVENT_COPY);
	p = t2x_columns_put_times(printer, p + scope->length[T2X_EVENT_LENGTH], ev, times, is_usual);
	memcpy(p, scope->text + T2X_CATEGORY_AT, T2X_CATEGORY_COPY);
	return p + T2X_COLUMNS_CATEGORY + 3;
}

/*
 * As t2x_columns_begin_any(), for kinds of which there are many, with the category of the scope.  Dots are one copy,
 * and no loop of copies: gcc makes one `rep stos` of that, which takes as long as all the rest of a line.
 */
static inline __attribute__((always_inline)) char *
t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	const struct t2x_template *scope = t2x_template_of_scope(printer->templates, t2x_columns_scope(ev));
	const struct t2x_template *thread = t2x_template_of_thread(printer->templates, ev->thread->number);
	char *p;

	if (!t2x_columns_are_usual(printer, ev, scope, thread, times))
		return t2x_columns_begin_any(printer, ev, times, NULL);
	p = t2x_columns_put(printer, ev, scope, thread, times, 1);
	memcpy(p, "................", T2X_DOTS_COPY);
	p += t2x_columns_dots(ev);
	memcpy(p, scope->text + T2X_NAMES_AT, T2X_NAMES_COPY);
	return p + scope->length[T2X_NAMES_LENGTH];
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_color.h - which parts of a line get a colour.
 *
 * The writers know nothing of colours, and cost nothing more for them: the columns of a finished line show what it is.
 * Text of a trace that looks like a column may so get a wrong colour, and nothing worse.
 */
#ifndef T2X_COLOR_H
#define T2X_COLOR_H

#include "t2x_options.h"

enum t2x_color {
	T2X_COLOR_EVENT,          /* the name of an event, the program of a process */
	T2X_COLOR_CATEGORY,
	T2X_COLOR_ERROR,          /* errors, and what failed */
	T2X_COLOR_MISSING,        /* dropped events, processes without an end */
};

enum { T2X_MAX_SPANS = 4 };

struct t2x_color_span {
	size_t at, n;             /* bytes of the line */
	enum t2x_color color;
};

/* Find the parts of a line of n bytes, in their order.  Return  how many spans there are */
typedef unsigned t2x_color_fn(struct t2x_color_span *spans, const char *line, size_t n);

/* Return  NULL: lines of this format have no colours */
t2x_color_fn *t2x_color_find(const struct t2x_format *format);

/* What NO_COLOR and TERM say about an output that is a terminal, unless the user has said it. */
int t2x_color_is_wanted(enum t2x_when when, int is_terminal);

/* What to write in front of a span, behind one. */
const char *t2x_color_begin(enum t2x_color color);
#define T2X_COLOR_END "\033[m"

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_terminal.h - output for people: escaped, so that it cannot upset a terminal, and coloured.
 */
#ifndef T2X_TERMINAL_H
#define T2X_TERMINAL_H

#include "t2x_color.h"
#include "base/t2x_escape.h"
#include "base/t2x_out.h"

struct t2x_terminal {
	struct t2x_escape escape;
	struct t2x_out out;            /* to the descriptor */
	int is_raw;                    /* nothing is escaped */
	int is_seen;                   /* somebody looks at it: text ends the line of progress */
	const char *pager;             /* to be started with the first text; NULL: none */
	t2x_color_fn *color;           /* NULL: no colours */
	int is_broken;                 /* what comes next goes on with a line, which is too long for colours */
};

/* is_json  see struct t2x_escape     Return  0 or -ENOMEM */
int t2x_terminal_init(struct t2x_terminal *terminal, int fd, int is_json);

/* The t2x_write_fn for the t2x_out in front; the target is the terminal. */
int t2x_terminal_write(void *terminal, const char *text, size_t n);

/* All of the text was written; free it.  Return  0 or an errno */
int t2x_terminal_finish(struct t2x_terminal *terminal);

#endif

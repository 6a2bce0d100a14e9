/* SPDX-License-Identifier: MIT */
/*
 * t2x_terminal.h - output to a terminal, escaped.
 */
#ifndef T2X_TERMINAL_H
#define T2X_TERMINAL_H

#include "base/t2x_escape.h"
#include "base/t2x_out.h"

struct t2x_terminal {
	struct t2x_escape escape;
	struct t2x_out out;            /* to the descriptor */
};

/* is_json  see struct t2x_escape     Return  0 or -ENOMEM */
int t2x_terminal_init(struct t2x_terminal *terminal, int fd, int is_json);

/* The t2x_write_fn for the t2x_out in front; the target is the terminal. */
int t2x_terminal_write(void *terminal, const char *text, size_t n);

/* All text has come: write what is left, free the memory.  Return  0 or the errno of the first failed write */
int t2x_terminal_finish(struct t2x_terminal *terminal);

#endif

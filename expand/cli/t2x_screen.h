/* SPDX-License-Identifier: MIT */
/*
 * t2x_screen.h - output to a terminal: the text of a t2x_out, escaped on its way.
 */
#ifndef T2X_SCREEN_H
#define T2X_SCREEN_H

#include "base/t2x_escape.h"
#include "base/t2x_out.h"

struct t2x_screen {
	struct t2x_escape escape;
	struct t2x_out out;            /* to the descriptor */
};

/* is_json  see struct t2x_escape     Return  0 or -ENOMEM */
int t2x_screen_init(struct t2x_screen *screen, int fd, int is_json);

/* The t2x_write_fn for the t2x_out in front; the target is the screen. */
int t2x_screen_write(void *screen, const char *text, size_t n);

/* All text has come: write what is left, free the memory.  Return  0 or the errno of the first failed write */
int t2x_screen_finish(struct t2x_screen *screen);

#endif

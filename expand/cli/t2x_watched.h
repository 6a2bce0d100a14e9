/* SPDX-License-Identifier: MIT */
/*
 * t2x_watched.h - the operand of `t2 follow', `t2 top' and `t2 state': a process id, a file, a directory, or all.
 */
#ifndef T2X_WATCHED_H
#define T2X_WATCHED_H

#include <stdint.h>

#include "t2x_commands.h"
#include "text/t2x_formats.h"

struct t2x_watched {
	const char *what;                 /* NULL: the command is another one */
	uint32_t pid;                     /* 0: it is no process id */
	int is_state, is_top;             /* else t2 follow */
};

static inline int t2x_watched_is_meant(enum t2x_takes takes)
{
	return takes == T2X_TAKES_FOLLOWED || takes == T2X_TAKES_STATE || takes == T2X_TAKES_TOP;
}

/* Refuse what makes no sense.  format, options  of the command line; n operands */
struct t2x_watched t2x_watched_take(enum t2x_takes takes, const struct t2x_format *format,
				    const struct t2x_options *options, char **operands, unsigned n);

#endif

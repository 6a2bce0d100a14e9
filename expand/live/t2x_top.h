/* SPDX-License-Identifier: MIT */
/*
 * t2x_top.h - the writer of `t2 top': labels, threads and functions of what runs, as a table that is drawn anew.
 *
 * It adds up from the moment it begins.  What is open, and since when, it knows from the regions that a process repeats
 * (OPEN).  It draws in rounds of t2x_follow.h, with plain escape sequences: a few lines of text need no curses, which
 * would be one more library, one more thread-unsafe state, and a start of 5 ms.
 */
#ifndef T2X_TOP_H
#define T2X_TOP_H

#include "model/t2x_writer.h"

enum { T2X_TOP_INTERVAL_MS = 1000 };

struct t2x_top_settings {
	int is_once;                      /* one table, behind the first interval, and that is all */
	int is_terminal;                  /* fd is one: it is drawn on, and its keys are read from standard input */
	int fd;
	const char *what;                 /* is followed, for the head line */
};

/* What the writer shows; it is one at a time.  Valid until the writer has finished. */
void t2x_top_set(const struct t2x_top_settings *settings);

/* A t2x_follow_round_fn: reads keys, draws if that is due.  Return  1: it is to end */
int t2x_top_round(uint64_t now_ns);

extern const struct t2x_writer t2x_writer_top;

#endif

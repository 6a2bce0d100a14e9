/* SPDX-License-Identifier: MIT */
/*
 * t2x_open_files.h - how many inputs of a run are open at once.
 *
 * Processes that ran at the same time are read at the same time, and there may be more of them than a process may have
 * files open.  So at most T2X_OPEN_FILES inputs are open, or half as many as the soft limit allows.  For one more, the
 * input that was read least recently is parked: it is closed, its memory is freed, and it goes on where it stood when
 * its next block is asked for.  That costs opening it and decoding one LZ4 frame again.
 *
 * An input that cannot be parked (t2x_input.h) stays open beyond that number.  All inputs of one list are read by
 * one thread; t2x_read_ahead.c takes those out that a task reads.
 */
#ifndef T2X_OPEN_FILES_H
#define T2X_OPEN_FILES_H

enum { T2X_OPEN_FILES = 512 };

/* A member of what can be in a list. */
struct t2x_open_file {
	struct t2x_open_file *newer, *older;
	int is_listed;
	int (*park)(struct t2x_open_file *file);   /* Return  0: it cannot be parked */
};

/* All zero: none is open. */
struct t2x_open_files {
	struct t2x_open_file *newest, *oldest;   /* by their latest blocks */
	unsigned n, max;                     /* max 0: not known yet */
};

/* The input is open, or about to be: it is the newest, and others are parked where there are too many. */
void t2x_open_files_use(struct t2x_open_files *files, struct t2x_open_file *file);

/* The input is closed, or not to be parked; if it is in no list nothing happens. */
void t2x_open_files_leave(struct t2x_open_files *files, struct t2x_open_file *file);

/* No more could be opened: park another input than this.  Return  0: there is none that can be */
int t2x_open_files_park_one(struct t2x_open_files *files, const struct t2x_open_file *file);

#endif

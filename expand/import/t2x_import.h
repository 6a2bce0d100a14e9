/* SPDX-License-Identifier: MIT */
/*
 * t2x_import.h - turns git's event JSON into a .tlg file: lines go in, streams of raw events come out.
 *
 * Lines of many processes may be mixed; a session id makes one process.  A line that is no event is counted and left
 * out, and so is an event of a kind that git does not have.
 */
#ifndef T2X_IMPORT_H
#define T2X_IMPORT_H

#include "t2x_raw_stream.h"

enum {
	T2X_IMPORT_LINE = 64 * 1024 * 1024,     /* bytes of a line at most */
	T2X_IMPORT_BYTES = 64 * 1024 * 1024,    /* of lines that wait for their times */
};

/* How much of a process goes into the trace; each has what the one before it has. */
enum t2x_import_detail {
	T2X_IMPORT_DROP,          /* nothing: lines are only checked and counted */
	T2X_IMPORT_SUMMARY,       /* what the process was, how it ended, its errors, parameters, timers, counters */
	T2X_IMPORT_PROCESS,       /* children, programs that it executed, repositories */
	T2X_IMPORT_VERBOSE,       /* regions, data, messages, threads */
};

struct t2x_import_counts {
	uint64_t lines;           /* in all, but for empty ones */
	uint64_t broken;          /* no event, or without a session id or thread */
	uint64_t long_lines;      /* above T2X_IMPORT_LINE; they are broken, too */
	uint64_t unknown;         /* events of other kinds */
	uint64_t left_out;        /* by the detail */
	uint64_t others;          /* members of events that the format has no place for */
	uint64_t processes;
};

struct t2x_import;

/* Return  NULL: no memory */
struct t2x_import *t2x_import_new(struct t2x_raw_sink *sink, enum t2x_import_detail detail);

/* A line of n bytes, without its end.  Return  0 or -ENOMEM */
int t2x_import_line(struct t2x_import *import, const char *line, size_t n);

/* What is written. */
enum t2x_import_until {
	T2X_IMPORT_ENDED,         /* the processes that have ended; small ones may wait for others, for their frame */
	T2X_IMPORT_NOW,           /* these, and nothing waits */
	T2X_IMPORT_ALL,           /* everything: no more lines come */
};

/* Return  0 or -ENOMEM */
int t2x_import_flush(struct t2x_import *import, enum t2x_import_until until);

const struct t2x_import_counts *t2x_import_counts(const struct t2x_import *import);

void t2x_import_free(struct t2x_import *import);

/* ---- pieces of lines ---------------------------------------------------------------------------- */

/* The begin of a line whose end has not come.  All zero: none. */
struct t2x_import_rest {
	char *text;
	size_t n, max;
	int is_too_long;
};

/* Take n bytes of a file or connection, whose lines may go on from one call to the next.  Return  0 or -ENOMEM */
int t2x_import_bytes(struct t2x_import *import, struct t2x_import_rest *rest, const char *bytes, size_t n);

/* The file or connection has ended: an unfinished last line is a line, too.  Frees the rest.  Return  0 or -ENOMEM */
int t2x_import_end(struct t2x_import *import, struct t2x_import_rest *rest);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_report.h - reports on stderr, one line each, what the user has to know about the input.
 *
 * A damage makes the exit status 3.  The first T2X_REPORT_LINES damages are shown, the others counted, so that a file
 * of noise does not fill the terminal.  A note does not change the exit status.  Names and texts are escaped
 * (t2x_escape.h): they can neither add lines nor control the terminal.
 */
#ifndef T2X_REPORT_H
#define T2X_REPORT_H

#include <stdint.h>
#include <stdio.h>

enum { T2X_REPORT_LINES = 10 };

/* Lines begin with a name, "t2expand", unless main() sets another one, such as "t2 show", before it starts threads. */
void t2x_report_set_name(const char *name);
const char *t2x_report_name(void);

struct t2x_report {
	FILE *to;                 /* NULL: count only */
	uint64_t damages;
	uint64_t skipped_blocks;  /* blocks in an encoding that this version does not know ... */
	uint64_t skipped_events;  /* ... and events in them */
};

/* "raw.tlg: byte 8192: checksum wrong, skipped 72 bytes"; unit is "byte", or whatever else offset counts. */
void t2x_report_damage(struct t2x_report *report, const char *input, const char *unit, uint64_t offset,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "raw.tlg: no end mark" */
void t2x_report_note(struct t2x_report *report, const char *input, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Count a block of so many events in an unknown encoding.  It is not damaged: a later version wrote it. */
void t2x_report_skipped(struct t2x_report *report, unsigned events);

/* Add what another report has counted, and print its messages, if they are not NULL, as if they were reported here. */
void t2x_report_repeat(struct t2x_report *report, const char *messages, const struct t2x_report *counts);

/* Report how many damages were not shown, and what was skipped. */
void t2x_report_finish(struct t2x_report *report);

#endif

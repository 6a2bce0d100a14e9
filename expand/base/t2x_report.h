/* SPDX-License-Identifier: MIT */
/*
 * t2x_report.h - what the user has to know about the input, one line each, on stderr.
 *
 * Damage costs exit status 3; the first T2X_REPORT_LINES of it are shown, the rest is counted, so that a file
 * of noise does not fill the terminal.  A note costs nothing.  Names and texts are escaped (t2x_escape.h), so
 * that a line stays one and a terminal harmless.
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
	uint64_t skipped_blocks;  /* in an encoding that is not known here, and the events in them */
	uint64_t skipped_events;
};

/* "raw.tlg: byte 8192: checksum wrong, skipped 72 bytes"; unit is "byte", or what else offset counts. */
void t2x_report_damage(struct t2x_report *report, const char *input, const char *unit, uint64_t offset,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "raw.tlg: no end mark" */
void t2x_report_note(struct t2x_report *report, const char *input, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Count a block of so many events whose encoding is not known.  It is not damaged: a later version wrote it. */
void t2x_report_skipped(struct t2x_report *report, unsigned events);

/* What another report has counted, and said, unless said is NULL: as if it had happened here, now. */
void t2x_report_repeat(struct t2x_report *report, const char *said, const struct t2x_report *counts);

/* Say how many damages were not shown, and what was skipped. */
void t2x_report_finish(struct t2x_report *report);

#endif

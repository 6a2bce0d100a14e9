/* SPDX-License-Identifier: MIT */
/*
 * t2x_when.h - durations and points in time as they are given on the command line.
 *
 *   +1.5s                  behind the first event
 *   -200ms                 before the end
 *   12:34:56.5             a time of day where the traced program ran, within 12 hours of the first event
 *   2026-11-21T12:34:56Z   ISO 8601; without a zone as a time of day, without a time midnight
 *   1795425779.284908244   seconds since 1970-01-01 UTC
 *   1795425779284908244    nanoseconds since then, as in a column of csv or ndjson: 17 digits or more
 *
 * Which point that is, is known when the first event is there.
 */
#ifndef T2X_WHEN_H
#define T2X_WHEN_H

#include <stdint.h>

struct t2x_instant {
	enum t2x_when_kind {
		T2X_WHEN_NOT_GIVEN,
		T2X_WHEN_FROM_START,
		T2X_WHEN_FROM_END,
		T2X_WHEN_OF_DAY,
		T2X_WHEN_LOCAL,        /* a date without a zone */
		T2X_WHEN_UTC,
	} kind;
	uint64_t ns;               /* from there, since midnight, or since 1970-01-01 */
};

/* "1.5s"; s, m, h, d, ms, us, ns, without a unit seconds.  Return  0 or -EINVAL */
int t2x_when_parse_duration(uint64_t *ns, const char *text);

/* Return  0 or -EINVAL */
int t2x_when_parse(struct t2x_instant *when, const char *text);

/*
 * The point in time, since 1970-01-01 UTC.
 * first_ns, utcoff  of the first event: its time, and seconds that its process was east of UTC
 * end_ns            of the last one; needed for T2X_WHEN_FROM_END only
 */
uint64_t t2x_when_resolve(const struct t2x_instant *when, uint64_t first_ns, int32_t utcoff, uint64_t end_ns);

#endif

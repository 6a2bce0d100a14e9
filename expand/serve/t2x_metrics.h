/* SPDX-License-Identifier: MIT */
/*
 * t2x_metrics.h - /metrics: the traced processes and the server itself, in Prometheus's text format 0.0.4.
 *
 * Each process that runs is asked for its state by its control page, for a moment: one that is stopped does not delay
 * the others.  A label's value is escaped; it is no text of a trace.
 */
#ifndef T2X_METRICS_H
#define T2X_METRICS_H

#include "t2x_reply.h"
#include "t2x_traced.h"

/* What the server counts of itself.  From any thread, by t2x_metrics_count() */
struct t2x_counts {
	uint64_t requests[6];             /* answered, by the first digit of the status; 0: none was sent */
	uint64_t refused;                 /* connections above the limit, and those too slow */
	uint64_t connections;             /* open now */
	uint64_t started;                 /* when, in seconds since 1970 */
};

#define T2X_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

void t2x_metrics_write(struct t2x_out *out, const struct t2x_traced_list *list, const struct t2x_counts *counts);

#endif

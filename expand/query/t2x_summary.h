/* SPDX-License-Identifier: MIT */
/*
 * t2x_summary.h - totals as a table for people, as JSON or CSV.
 */
#ifndef T2X_SUMMARY_H
#define T2X_SUMMARY_H

#include "t2x_totals.h"

/* How a summary looks. */
struct t2x_summary_look {
	enum { T2X_SUMMARY_TABLE, T2X_SUMMARY_JSON, T2X_SUMMARY_CSV } form;
	enum t2x_summary_key {
		T2X_SORT_total, T2X_SORT_self, T2X_SORT_count, T2X_SORT_mean, T2X_SORT_p50, T2X_SORT_p90, T2X_SORT_p99,
		T2X_SORT_max, T2X_SORT_name,
	} sort;
	unsigned top;                 /* rows of a kind; 0: all */
};

/* How rows are kept apart, as the options have it. */
enum t2x_by t2x_summary_by(const struct t2x_options *options);

/* An average, rounded down; 0 of nothing. */
static inline uint64_t t2x_row_mean(const struct t2x_row *row)
{
	return row->count ? row->total / row->count : 0;
}

/* Sorted rows for programs. */
void t2x_summary_json(struct t2x_totals *totals, const struct t2x_summary_look *look, struct t2x_out *out);
void t2x_summary_csv(struct t2x_totals *totals, const struct t2x_summary_look *look, struct t2x_out *out);

#endif

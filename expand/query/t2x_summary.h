/* SPDX-License-Identifier: MIT */
/*
 * t2x_summary.h - totals as a table for people, as JSON or CSV.
 */
#ifndef T2X_SUMMARY_H
#define T2X_SUMMARY_H

#include "t2x_totals.h"

/* How rows are kept apart, as the options have it. */
enum t2x_by t2x_summary_by(const struct t2x_options *options);

/* Whether that is by values, which parts of a trace do not have: t2x_totals_values.h. */
int t2x_summary_has_values(const struct t2x_options *options);

/* The writer; if the options keep regions apart by values, the one that gets all events one by one. */
const struct t2x_writer *t2x_summary_writer(const struct t2x_writer *writer, const struct t2x_options *options);

#endif

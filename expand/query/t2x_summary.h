/* SPDX-License-Identifier: MIT */
/*
 * t2x_summary.h - totals as a table for people, as JSON or CSV.
 */
#ifndef T2X_SUMMARY_H
#define T2X_SUMMARY_H

#include "t2x_totals.h"

/* How rows are kept apart, as the options have it. */
enum t2x_by t2x_summary_by(const struct t2x_options *options);

#endif

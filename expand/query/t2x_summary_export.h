/* SPDX-License-Identifier: MIT */
/* t2x_summary_export.h - totals as JSON or CSV: sorted rows for programs. */
#ifndef T2X_SUMMARY_EXPORT_H
#define T2X_SUMMARY_EXPORT_H

#include "t2x_totals.h"

/* top  rows of a kind; 0: all */
void t2x_summary_json(struct t2x_totals *totals, unsigned top, struct t2x_out *out);
void t2x_summary_csv(struct t2x_totals *totals, unsigned top, struct t2x_out *out);

#endif

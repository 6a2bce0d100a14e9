/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_open.h - the regions that are never left, counted where they were entered.
 *
 * Of a part of a trace they are open at its end; whether they are never left only a later part knows.
 */
#ifndef T2X_TOTALS_OPEN_H
#define T2X_TOTALS_OPEN_H

#include "t2x_totals.h"

/* Of a part: the thread's regions that are open are never left, as nothing comes that could. */
void t2x_totals_count_open(struct t2x_totals_thread *thread);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_values.h - regions of a category and label, kept apart by a value that each of them has.
 *
 * The value is the message of the region's enter, or what was recorded as data of a category and key while the region
 * was the innermost one: the latest, if there were several.  A region without one has the value "".  Of a value the
 * first T2X_VALUE_MAX bytes count.
 *
 * A region gets the row of its value when that is known, which is at the latest when it is left.  A part of a trace
 * does not know the values of regions that it finds open: so such totals are not joined of parts.
 */
#ifndef T2X_TOTALS_VALUES_H
#define T2X_TOTALS_VALUES_H

#include "t2x_totals.h"

enum { T2X_VALUE_MAX = 255 };

/* Keep regions apart by "message" or "data:CATEGORY/KEY", which stays valid.  Another text, NULL: by nothing */
void t2x_totals_keep_values(struct t2x_totals *totals, const char *by);

/* Whether the text asks for that. */
int t2x_totals_are_values(const char *by);

/* The row of a region that is entered, or left.  Return  NULL: no room */
struct t2x_row *t2x_totals_value_enter(struct t2x_totals *totals, const struct t2x_event *ev);
struct t2x_row *t2x_totals_value_leave(struct t2x_totals *totals, const struct t2x_event *ev);

/* The region around the data gets the row of its value, if they are the data that regions are kept apart by. */
void t2x_totals_value_data(struct t2x_totals *totals, const struct t2x_event *ev);

#endif

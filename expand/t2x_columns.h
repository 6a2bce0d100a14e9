/* SPDX-License-Identifier: MIT */
/*
 * t2x_columns.h - the columns of a perf line: time, place, depth, thread, event, repository, two times, category.
 */
#ifndef T2X_COLUMNS_H
#define T2X_COLUMNS_H

#include "t2x_writer.h"

enum { T2X_COLUMNS_CATEGORY = 12 };       /* bytes of that column; what is longer loses its end */

/* Which times an event has; the other columns are blank. */
enum { T2X_COLUMNS_ABSOLUTE = 1, T2X_COLUMNS_RELATIVE = 2 };

/*
 * All columns, the dots for the regions around the event, and what its scope says of the payload: "label:x",
 * "key:", "name:x".  What the event itself has to say is next.
 * category  what stands in that column; NULL: the category of the scope
 */
void t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
		       const char *category);

#endif

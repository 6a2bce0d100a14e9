/* SPDX-License-Identifier: MIT */
/*
 * t2x_chrome_instants.h - elements of the chrome format that are no regions: instants, numbers, gaps.
 */
#ifndef T2X_CHROME_INSTANTS_H
#define T2X_CHROME_INSTANTS_H

#include "t2x_chrome_element.h"

/* An instant, named by its label, or by its kind, with the event's arguments by their names. */
void t2x_chrome_instant(struct t2x_printer *printer, const struct t2x_event *ev);

/* A sample is an instant as well, named by the innermost function; the category is the profile. */
void t2x_chrome_sample(struct t2x_printer *printer, const struct t2x_event *ev);

void t2x_chrome_unresolved(struct t2x_printer *printer, const struct t2x_event *ev);

/* A number over time: a counter track.  Several labels of a category are several tracks.  A gap is a slice. */
void t2x_chrome_number(struct t2x_printer *printer, const struct t2x_event *ev);

#endif

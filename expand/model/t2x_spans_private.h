/* SPDX-License-Identifier: MIT */
/* t2x_spans_private.h - what the files of the spans share, and nobody else includes. */
#ifndef T2X_SPANS_PRIVATE_H
#define T2X_SPANS_PRIVATE_H

#include <stdint.h>

struct t2x_event;
struct t2x_spans;
struct t2x_spans_table;

enum { T2X_SPANS_FIRST = 1 };           /* most of very many threads have no regions */

/* Room for so many spans of the thread.  Return  0: there is none */
int t2x_spans_make_room(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open);

/* What is open around and was not seen to be entered has a place.  Return  0: there is no room */
int t2x_spans_fill_up_to(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open);

/* Apply an event to the spans of its thread, and return these. */
struct t2x_spans *t2x_spans_apply(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev);

#endif

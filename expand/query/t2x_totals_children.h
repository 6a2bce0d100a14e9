/* SPDX-License-Identifier: MIT */
/* t2x_totals_children.h - what the children of processes add to totals. */
#ifndef T2X_TOTALS_CHILDREN_H
#define T2X_TOTALS_CHILDREN_H

#include "t2x_totals.h"

/* A child was started; one has ended.  active_ns  of the event in front of it in the thread; 0: none */
void t2x_totals_start_child(struct t2x_totals *totals, const struct t2x_event *ev);
void t2x_totals_end_child(struct t2x_totals *totals, const struct t2x_event *ev, uint64_t active_ns);

/* A process says that it ends, by atexit or signal. */
void t2x_totals_end_process(struct t2x_totals *totals, const struct t2x_event *ev);

/* What is remembered of a child until it has ended, of a process that has ended until its parent knows. */
size_t t2x_totals_child_bytes(void);
size_t t2x_totals_ended_bytes(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_object.h - the members of an event's JSON object that all events have, or all that have names.
 */
#ifndef T2X_OBJECT_H
#define T2X_OBJECT_H

#include "model/t2x_writer.h"

/* The brace, the common members: event, sid, thread, time, file, line, repo. */
void t2x_object_begin(struct t2x_printer *printer, const struct t2x_event *ev);

/* category, and the label, or what it is called for the kind. */
void t2x_object_names(struct t2x_printer *printer, const struct t2x_event *ev);

/* The brace, the end of the line. */
void t2x_object_end(struct t2x_printer *printer);

#endif

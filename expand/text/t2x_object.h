/* SPDX-License-Identifier: MIT */
/*
 * t2x_object.h - prints the members of an event's JSON object that all events have, or all events with names.
 */
#ifndef T2X_OBJECT_H
#define T2X_OBJECT_H

#include "model/t2x_writer.h"

/* Append the opening brace and the common members: event, sid, thread, time, file, line, repo. */
void t2x_object_begin(struct t2x_printer *printer, const struct t2x_event *ev);

/* Append the category and the label, under the key that the kind has for it. */
void t2x_object_names(struct t2x_printer *printer, const struct t2x_event *ev);

/* Append the closing brace and the end of the line. */
void t2x_object_end(struct t2x_printer *printer);

#endif

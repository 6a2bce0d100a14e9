/* SPDX-License-Identifier: MIT */
/*
 * t2x_payload.h - what an event says besides its names and numbers, as one text: as the perf format shows it.
 *
 * For formats of which the readers take texts as they are.
 */
#ifndef T2X_PAYLOAD_H
#define T2X_PAYLOAD_H

#include "model/t2x_writer.h"

/* Append it to out; nothing if it says nothing.  ev->scope is not NULL; options: the printer's */
void t2x_payload(struct t2x_out *out, const struct t2x_event *ev, const struct t2x_options *options);

#endif

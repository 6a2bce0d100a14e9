/* SPDX-License-Identifier: MIT */
/*
 * t2x_define.h - definitions: FLOC, SLOC and THREAD, each with the text behind it.
 *
 * A definition comes before the first event in the file that needs it, not before the first in time:
 * another thread's events may be older and lie behind it.  So definitions hold as soon as they are read.
 */
#ifndef T2X_DEFINE_H
#define T2X_DEFINE_H

#include "t2x_chain.h"

/* Follow the definitions in n events that have just been read. */
void t2x_define_read(struct t2x_stream *stream, const struct tlg_event *events, unsigned n);

/* Forget definitions whose text has not come. */
void t2x_define_forget(struct t2x_stream *stream);

#endif

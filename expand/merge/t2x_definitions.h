/* SPDX-License-Identifier: MIT */
/*
 * t2x_definitions.h - definitions: FLOC, SLOC and THREAD, each with the text behind it.
 *
 * A definition comes before the first event in the file that needs it, not before the first in time:
 * another thread's events may be older and lie behind it.  So definitions hold as soon as they are read.
 */
#ifndef T2X_DEFINITIONS_H
#define T2X_DEFINITIONS_H

#include "t2x_chain.h"

/* Those of a stream.  All zero: none. */
struct t2x_definitions {
	struct t2x_chains unfinished;     /* whose text has not all come */
};

/* Follow the definitions in n events of the stream that have just been read. */
void t2x_definitions_read(struct t2x_definitions *definitions, struct t2x_stream *stream,
			  const struct tlg_event *events, unsigned n);

/* Forget those whose text has not come. */
void t2x_definitions_forget(struct t2x_definitions *definitions, struct t2x_context *context);

#endif

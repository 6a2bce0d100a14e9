/* SPDX-License-Identifier: MIT */
/*
 * t2x_owner.h - whose a sample is: FORMAT.md section 8.
 *
 * The thread that records a sample of another one, which is blocked, says so by the sample's first label.
 */
#ifndef T2X_OWNER_H
#define T2X_OWNER_H

#include "t2x_arguments.h"
#include "t2x_stream.h"

/*
 * Return  the track of the thread that a sample is of: the one that recorded it, or the one that its first label names,
 *         which is no label of it any more
 */
struct t2x_track *t2x_owner_of(struct t2x_stream *stream, struct t2x_track *track, const struct t2x_scope *scope,
			       struct t2x_arguments *arguments);

#endif

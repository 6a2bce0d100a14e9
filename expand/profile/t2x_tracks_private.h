/* SPDX-License-Identifier: MIT */
/* t2x_tracks_private.h - what the files of the tracks share, and nobody else includes. */
#ifndef T2X_TRACKS_PRIVATE_H
#define T2X_TRACKS_PRIVATE_H

#include <stdint.h>

struct t2x_span;
struct t2x_track;
struct t2x_track_process;
struct t2x_tracks;

enum { T2X_TRACKS_FREE_PID = 1 << 22 };      /* from here on: Linux has no process id that is as large */

/* Room for so many spans.  Return  0: there is none */
int t2x_tracks_make_room(struct t2x_track *track, uint32_t open);

/* A new thread.  own: its level.  Return  NULL: no memory */
struct t2x_track *t2x_tracks_new_track(struct t2x_tracks *tracks, struct t2x_track_process *process, uint32_t tid,
				       const char *name, const struct t2x_span *own);

#endif

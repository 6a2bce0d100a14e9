/* SPDX-License-Identifier: MIT */
/*
 * t2x_seek.h - finds where to begin in a .tlg file to read all events from a moment on, and few before it.
 *
 * A cycle can be read by itself.  It repeats the regions that are open, and everything that its stream has in front of
 * it is older than CYCLE.when.  So the search finds, by bisection, the last cycle of each stream that is not younger
 * than the moment.  Reading begins at the first of these cycles.  A stream that had ended by then does not count.
 *
 * The mark in front of an LZ4 frame names its stream.  The search steps from header to header: that reads 60 bytes of
 * a frame of up to 192 KiB and decompresses nothing.  A step of the bisection decompresses a few frames.  A file that
 * has no marks, or something else between two frames, is read as a whole.  The end of the file may be incomplete,
 * because a process is still writing or died while it wrote.
 */
#ifndef T2X_SEEK_H
#define T2X_SEEK_H

#include <stdint.h>

#include "t2x_layout.h"

/* Begin at the first of all streams' last cycles, whether the streams ended or not: so the last event is read. */
#define T2X_SEEK_END UINT64_MAX

/*
 * ns  since 1970, or T2X_SEEK_END.  Older events may be left out, others not
 * Return  the offset of a frame in the file; 0: read all of it
 */
uint64_t t2x_seek(const char *path, const struct t2x_layout *layout, uint64_t ns);

/* The same; *streams becomes how many streams the file has, as far as its frames could be followed. */
uint64_t t2x_seek_counting(const char *path, const struct t2x_layout *layout, uint64_t ns, unsigned *streams);

#endif

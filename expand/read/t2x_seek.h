/* SPDX-License-Identifier: MIT */
/*
 * t2x_seek.h - where in a .tlg file to begin, to read all from a moment on and little before.
 *
 * A cycle can be read by itself, repeats the regions that are open, and what its stream has in front of it is older
 * than CYCLE.when.  So for each stream the last cycle that is not younger than the moment is looked for, by bisection,
 * and reading begins at the first of these.  A stream that had ended by then does not count.
 *
 * The marks in front of LZ4 frames say whose they are.  They are found by stepping from header to header, which reads
 * 60 bytes of a frame of up to 192 KiB and decompresses nothing.  A step of the bisection decompresses a few frames.
 * Of a file without marks, or with anything between two frames that is none, nothing is known: it is read as a whole.
 * What a writer was still writing, or had not finished when it died, may end anywhere.
 */
#ifndef T2X_SEEK_H
#define T2X_SEEK_H

#include <stdint.h>

#include "t2x_layout.h"

/* Every stream's last cycle, whether it ended or not: so the last event is read. */
#define T2X_SEEK_END UINT64_MAX

/*
 * ns  since 1970: of what is older some may be left out, of what is not nothing is; or T2X_SEEK_END
 * Return  the offset of a frame in the file; 0: read all of it
 */
uint64_t t2x_seek(const char *path, const struct t2x_layout *layout, uint64_t ns);

#endif

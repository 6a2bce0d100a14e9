/* SPDX-License-Identifier: MIT */
/*
 * t2x_lz4_unit.h - steps from frame to frame of a file by their headers, without decompressing anything.
 */
#ifndef T2X_LZ4_UNIT_H
#define T2X_LZ4_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* A mark and the frame behind it, which is whole as far as its headers say. */
struct t2x_lz4_unit {
	uint32_t stream;
	uint64_t bytes;           /* in the file, the mark included */
	uint32_t plain_bytes;     /* of the frame's content, as the mark says */
};

/*
 * The state of stepping through a file; the caller sets fd, the rest is zero.  Each read(2) fetches more bytes than are
 * needed, because the next headers mostly follow: one read fetches all headers of a small file.
 */
enum { T2X_LZ4_STEP_BYTES = 1024 };
struct t2x_lz4_steps {
	int fd;
	uint64_t at;              /* bytes[0] in the file */
	size_t n;                 /* bytes that are there; fewer than T2X_LZ4_STEP_BYTES: the file ends behind them */
	unsigned char bytes[T2X_LZ4_STEP_BYTES];
};

/* Find the unit at this offset.  Return  1; 0: the file ends here, or inside of it; -1: no unit, or an error */
int t2x_lz4_unit_at(struct t2x_lz4_steps *steps, uint64_t offset, struct t2x_lz4_unit *unit);

/* Return  1: the file ends at this offset or before */
int t2x_lz4_is_end(struct t2x_lz4_steps *steps, uint64_t offset);

#endif

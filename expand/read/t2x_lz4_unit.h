/* SPDX-License-Identifier: MIT */
/*
 * t2x_lz4_unit.h - steps from frame to frame of a file by their headers; nothing is unpacked.
 */
#ifndef T2X_LZ4_UNIT_H
#define T2X_LZ4_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* A mark and the frame behind it, which is whole as far as its headers say. */
struct t2x_lz4_unit {
	uint32_t stream;
	uint64_t bytes;           /* in the file, the mark included */
	uint32_t plain_bytes;     /* of what is in the frame, as the mark says */
};

/*
 * Who steps from unit to unit of a file: fd, the rest zero.  Each read brings more than is asked for, since what is
 * asked for next mostly follows: the headers of a small file come with one read.
 */
enum { T2X_LZ4_STEP_BYTES = 1024 };
struct t2x_lz4_steps {
	int fd;
	uint64_t at;              /* bytes[0] in the file */
	size_t n;                 /* bytes that are there; fewer than T2X_LZ4_STEP_BYTES: the file ends behind them */
	unsigned char bytes[T2X_LZ4_STEP_BYTES];
};

/* What begins at this offset.  Return  1; 0: the file ends here, or inside of one; -1: something else, or an error */
int t2x_lz4_unit_at(struct t2x_lz4_steps *steps, uint64_t offset, struct t2x_lz4_unit *unit);

/* 1: the file ends at this offset or before. */
int t2x_lz4_is_end(struct t2x_lz4_steps *steps, uint64_t offset);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_frame.h - LZ4: one standard frame for each buffer of blocks, behind a mark by which readers find it.
 *
 * liblz4 compresses, and this module makes the frame around the result.  liblz4's own frame API allocates memory, which
 * neither a signal handler nor the child of a process with threads may do, and costs a short process 30 us.
 */
#ifndef TR2_FRAME_H
#define TR2_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { TR2_FRAME_STORED = 1024 };     /* a shorter buffer is not compressed: it would save 50 bytes */

/* 1 if a file that begins with these four bytes consists of frames, marked or not. */
int tr2_frame_is(const unsigned char begin[4]);

/*
 * Reserve the addresses that compression needs; the kernel adds memory when they are used.  0 or -errno.  Signal unsafe
 */
int tr2_frame_init(void);

/*
 * Frame one buffer of whole blocks.
 * plain, bytes  1 to TLG_FRAME_BYTES    stream, number  for the mark: id, number of the frame from 1
 * is_fast    1: fast mode, for rings that are filling up: compress less, in less time
 * Return  mark and frame, *framed bytes, valid until the next call
 * Alloc  none    Signal safe, one at a time    Cost  1.4 ns a byte
 */
const void *tr2_frame_make(const void *plain, size_t bytes, uint32_t stream, uint32_t number, int is_fast,
			   size_t *framed);

#endif

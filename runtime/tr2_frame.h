/* SPDX-License-Identifier: MIT */
/*
 * tr2_frame.h - LZ4: one standard frame for each buffer of blocks, with a mark in front to find it by.
 */
#ifndef TR2_FRAME_H
#define TR2_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* Allocate all that compression will need.  0 or -errno.  Signal unsafe */
int tr2_frame_init(void);

/*
 * Compress one buffer of whole blocks.
 * plain, bytes  at most TLG_FRAME_BYTES    stream, number  for the mark: id, number of the frame from 1
 * is_hurried    1: rings are filling up: compress less, but sooner
 * Return  mark and frame, *framed bytes, valid until the next call; NULL: not possible, write it plain
 * Alloc  none    Cost  1.4 ns a byte
 */
const void *tr2_frame_make(const void *plain, size_t bytes, uint32_t stream, uint32_t number, int is_hurried,
			   size_t *framed);

#endif

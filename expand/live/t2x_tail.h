/* SPDX-License-Identifier: MIT */
/*
 * t2x_tail.h - reads what is appended to a .tlg file while processes write it.
 *
 * A round reads the frames, or plain blocks, that are complete when it begins, and stops in front of the first that is
 * not: the next round reads that one.  The tail keeps the file open, so a rename or a removal does not matter.
 */
#ifndef T2X_TAIL_H
#define T2X_TAIL_H

#include "read/t2x_blocks.h"

struct t2x_tail {
	struct t2x_blocks blocks;
	struct t2x_in in;
	char *path;                       /* for messages */
	int fd;                           /* of the file; the reader has a descriptor of its own */
	dev_t device;
	ino_t inode;
	uint64_t at;                      /* everything in front was read ... */
	uint64_t plain;                   /* ... and so many plain bytes were in it */
	uint64_t round_bytes;             /* that a round reads at most, and a frame; 0: all */
	int is_lz4;
	int is_open;                      /* blocks and in are in use */
	int is_over;                      /* 1: what is in it is no trace that can be followed */
};

/* Follow this file from an offset on, at which a frame begins.  Return  0 or -errno */
int t2x_tail_open(struct t2x_tail *tail, const char *path, uint64_t at);
void t2x_tail_close(struct t2x_tail *tail);

/* The file has this name now.  Without memory it keeps the old one. */
void t2x_tail_rename(struct t2x_tail *tail, const char *path);

/* Begin a round.  Return  1: there is something to read; 0: not */
int t2x_tail_begin(struct t2x_tail *tail, struct t2x_report *report);

/* The next block of the round, valid until the next call.  Return  1; 0: the round is over */
int t2x_tail_next(struct t2x_tail *tail, struct t2x_block *block);

/* Bytes of the file behind what was read: an incomplete frame. */
uint64_t t2x_tail_rest(const struct t2x_tail *tail);

#endif

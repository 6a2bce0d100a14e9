/* SPDX-License-Identifier: MIT */
/*
 * t2x_in.h - an input, file or standard input, LZ4 or plain, as plain bytes.
 *
 * The bytes come in pieces: at a damaged LZ4 frame one ends, and what follows does not continue it.
 */
#ifndef T2X_IN_H
#define T2X_IN_H

#include "t2x_lz4.h"

struct t2x_in {
	const char *name;         /* for messages */
	struct t2x_report *report;
	int fd;
	dev_t device;             /* which file it is */
	ino_t inode;
	uint64_t left;            /* bytes that may be read of the file, see t2x_in_go() */
	int is_ring;              /* a ring file: nothing of it is read */
	struct t2x_window file;
	struct t2x_window plain;  /* used if lz4 */
	struct t2x_lz4 *lz4;      /* NULL: the file is plain */
	struct t2x_window *bytes; /* the one of the two that holds the plain bytes */
};

/*
 * Open path, "-" for standard input, of which seen plain bytes must be visible at once.
 * A FIFO is waited for until somebody writes to it.
 * Return  0 or -errno; -EISDIR for a directory
 */
int t2x_in_open(struct t2x_in *in, const char *path, size_t seen, struct t2x_report *report);

/*
 * The same of a regular file, from an offset on, as if it began there.  It waits for nobody, whatever the path has
 * become.  Return  also -ESTALE: the path names no regular file
 */
int t2x_in_open_file(struct t2x_in *in, const char *path, uint64_t offset, size_t seen, struct t2x_report *report);

void t2x_in_close(struct t2x_in *in);

/*
 * Go to an offset of the file, at which the plain bytes are at another, and read so many bytes: then the input is at
 * its end.  What was seen of it and not read is dropped.  Only for a file.
 */
void t2x_in_go(struct t2x_in *in, uint64_t offset, uint64_t plain, uint64_t bytes);

/* From now on report damage there. */
void t2x_in_report_to(struct t2x_in *in, struct t2x_report *report);

/* See t2x_window_peek(): fewer than want only at the end of a piece. */
size_t t2x_in_peek(struct t2x_in *in, size_t want, const unsigned char **bytes);
void t2x_in_skip(struct t2x_in *in, size_t n);

/* Go on to the piece behind a break.  Return  0: there is none */
int t2x_in_next_piece(struct t2x_in *in);

/* 1: the piece ends because of damage that has been reported. */
int t2x_in_is_break(const struct t2x_in *in);

/* How many bytes all inputs together have been read so far; any thread. */
uint64_t t2x_in_bytes_read(void);

/* errno of what ended the reading, or 0. */
int t2x_in_error(const struct t2x_in *in);

/* Offset in the plain bytes, and what to call it: "byte", "uncompressed byte". */
uint64_t t2x_in_offset(const struct t2x_in *in);
const char *t2x_in_unit(const struct t2x_in *in);

#endif

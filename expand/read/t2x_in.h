/* SPDX-License-Identifier: MIT */
/*
 * t2x_in.h - delivers the plain bytes of an input: of a file or standard input, LZ4 or plain.
 *
 * The bytes come in pieces.  A piece ends at a damaged LZ4 frame, and the next piece does not continue it.  The caller
 * takes the bytes of a piece from the window *bytes, and goes to the next piece with t2x_in_next_piece().
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
	uint64_t base;            /* offset in the file that counts as its beginning */
	uint64_t left;            /* bytes of the file that may still be read, see t2x_in_go() */
	size_t again;             /* parked: so many plain bytes come again and have been read */
	int is_ring;              /* it is a ring file, which is not read */
	struct t2x_window file;
	struct t2x_window plain;  /* unused if the file is plain */
	struct t2x_lz4 *lz4;      /* NULL: the file is plain */
	struct t2x_window *bytes; /* the one of the two that holds the plain bytes, which ends where a piece does */
};

/*
 * Open path, "-" for standard input.  seen  plain bytes that the window must have
 * If path is a FIFO, the call blocks until somebody writes to it.
 * Return  0 or -errno; -EISDIR for a directory
 */
int t2x_in_open(struct t2x_in *in, const char *path, size_t seen, struct t2x_report *report);

/*
 * Open a regular file as if it began at this offset.  The call never blocks, even if the path names a FIFO by now.
 * Return  also -ESTALE: the path names no regular file
 */
int t2x_in_open_file(struct t2x_in *in, const char *path, uint64_t offset, size_t seen, struct t2x_report *report);

void t2x_in_close(struct t2x_in *in);

/*
 * Continue at an offset of the file, drop what the window has, and end the input after so many bytes of the file.
 * plain  the offset of the plain bytes there.  Only for a regular file
 */
void t2x_in_go(struct t2x_in *in, uint64_t offset, uint64_t plain, uint64_t bytes);

/*
 * Close a regular file and free its memory until t2x_in_restore(), which continues where the input stands.
 * Return  0: the input cannot find this place again, so it stays open
 */
int t2x_in_park(struct t2x_in *in);

/* Open it again.  Return  0 or -errno; -ESTALE: the path names another file, or what is in it has changed */
int t2x_in_restore(struct t2x_in *in);

/* Report damage to this report from now on. */
void t2x_in_report_to(struct t2x_in *in, struct t2x_report *report);

/* Messages call the input so from now on; the name outlives it. */
void t2x_in_set_name(struct t2x_in *in, const char *name);

/* Continue with the next piece.  Return  0: there is none */
int t2x_in_next_piece(struct t2x_in *in);

/* 1: the piece ends because of damage that has been reported. */
int t2x_in_is_break(const struct t2x_in *in);

/* Bytes that have been read from all inputs so far.  Any thread may call it. */
uint64_t t2x_in_bytes_read(void);

/* errno of the failed read that ended the input, or 0. */
int t2x_in_error(const struct t2x_in *in);

/* What to call an offset in the plain bytes: "byte", "uncompressed byte". */
const char *t2x_in_unit(const struct t2x_in *in);

#endif

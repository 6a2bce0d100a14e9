/* SPDX-License-Identifier: MIT */
/*
 * t2x_stored.h - the two files of a stream in a store, see t2x_store.h.
 *
 * Whoever calls functions of this header holds the lock of the host.
 */
#ifndef T2X_STORED_H
#define T2X_STORED_H

#include <sys/types.h>

#include "t2x_envelope.h"

enum { T2X_STORED_NAME = 40 };            /* of a file without its suffix, with the NUL */

struct t2x_stored_file {
	int blocks, gaps;                 /* descriptors; -1: there is no such file yet */
	uint32_t stream, pid;
	char name[T2X_STORED_NAME];
	uint64_t bytes, gap_bytes;        /* of both files, all of them good */
	uint64_t synced, gap_synced;      /* that are on the disk, or somebody else's to sync */
	uint32_t frames;                  /* number of the last frame */
	uint32_t last;                    /* number of the last block, or of the last one of a gap */
	int is_new;                       /* a file was made: the directory has to be synced */
};

/* The files of a stream, of which nothing is known yet. */
void t2x_stored_init(struct t2x_stored_file *file, const struct t2x_envelope *head);
void t2x_stored_close(struct t2x_stored_file *file);

/*
 * Open the files, as far as they are there and not open, and read what is new in them: all of it the first time, later
 * what another collector has appended.  Return  0 or -errno; then nothing is known any more
 */
int t2x_stored_refresh(struct t2x_stored_file *file, int directory);

/* Append a frame with a mark in front of it: the blocks up to last.  Return  0 or -errno: the file is as before */
int t2x_stored_append(struct t2x_stored_file *file, int directory, const unsigned char *frame, size_t n,
		      size_t plain_bytes, uint32_t last);

/* Append a line that says which blocks will never come.  Return  0 or -errno: the file is as before */
int t2x_stored_gap(struct t2x_stored_file *file, int directory, const struct t2x_envelope *head);

/* Sync both files; this needs no lock.  Return  0 or -errno */
int t2x_stored_sync(struct t2x_stored_file *file, int directory);

/* After that has failed: remove what was appended since it was last synced. */
void t2x_stored_take_back(const struct t2x_stored_file *file);

#endif

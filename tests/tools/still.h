/* SPDX-License-Identifier: MIT */
/*
 * still.h - for harnesses: what would be left of a process if it died now, without killing it.
 *
 * Of a recording process that is stopped, what outlives it is its ring file and its .tlg file.  So a copy of the ring
 * file is what a recovering reader would find, and between two instructions that change neither, death makes no
 * difference: the copy is made anew only if something has changed.  The process has to have no other thread that runs.
 */
#ifndef STILL_H
#define STILL_H

#include <stddef.h>
#include <sys/types.h>

struct still {
	const unsigned char *ring;        /* the process's, mapped */
	unsigned char *copy;
	size_t bytes;
	int fd;                           /* of the process's */
	const char *raw;                  /* its .tlg file: the caller's */
	off_t raw_bytes;
	nlink_t links;
	int is_taken;
};

/* ring: a process's ring file; copy: a new file, to be removed by the caller.  Return  0: they cannot be mapped */
int still_open(struct still *still, const char *ring, const char *copy, const char *raw);

/* Return  1: the copy has changed, or one of the files has; 0: everything is as it was */
int still_take(struct still *still);

/* 1: the process has removed its ring file. */
int still_is_removed(const struct still *still);

/* How many chunks are in use. */
unsigned still_chunks(const struct still *still);

void still_close(struct still *still);

#endif

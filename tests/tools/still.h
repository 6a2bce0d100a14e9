/* SPDX-License-Identifier: MIT */
/*
 * still.h - for harnesses: shows what a stopped process would leave if it died now, without killing it.
 *
 * Only the ring file and the .tlg file outlive a process.  So a copy of the ring file is what a recovering reader would
 * find.  An instruction that changes neither file makes no difference, so the copy is updated only if something has
 * changed.  No other thread of the process may run.
 */
#ifndef STILL_H
#define STILL_H

#include <stddef.h>
#include <sys/types.h>

struct still {
	const unsigned char *ring;        /* the process's ring file, mapped */
	unsigned char *copy;
	size_t bytes;
	int fd;                           /* the process's ring file */
	const char *raw;                  /* its .tlg file: the caller's */
	off_t raw_bytes;
	nlink_t links;
	int is_copied;
};

/* ring: the process's ring file; copy: a new file, which the caller removes.  Return  0: they cannot be mapped */
int still_open(struct still *still, const char *ring, const char *copy, const char *raw);

/* Return  1: the copy has changed, or one of the files has; 0: everything is as it was */
int still_update(struct still *still);

/* 1: the process has removed its ring file. */
int still_is_removed(const struct still *still);

/* How many chunks are in use. */
unsigned still_chunks(const struct still *still);

void still_close(struct still *still);

#endif

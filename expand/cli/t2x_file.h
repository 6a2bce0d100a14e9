/* SPDX-License-Identifier: MIT */
/*
 * t2x_file.h - output to a regular file of our own, for which room is reserved ahead.
 *
 * A page of a file that grows costs the kernel a look for room on the disk each time.  With room reserved in large
 * steps beyond the file's end (fallocate(2)) writing takes 21 ns for 190 bytes instead of 34 (ext4); the disk is not
 * fuller at the end, for what was not needed is given back.  Where it cannot be reserved - another kind of file
 * system, a full one, a quota - the file grows as any other.  If the program is killed, a step stays reserved.
 */
#ifndef T2X_FILE_H
#define T2X_FILE_H

#include <stddef.h>
#include <stdint.h>

/* All zero but for fd: an empty file, open for writing, into which nobody else writes. */
struct t2x_file {
	int fd;
	int is_off;               /* nothing is reserved any more */
	uint64_t written;         /* bytes so far */
	uint64_t reserved;        /* room, from the beginning of the file; 0: none yet */
};

/* A t2x_write_fn; the target is the file. */
int t2x_file_write(void *file, const char *text, size_t n);

/* Everything has been written: give back what was not needed.  Return  0 or an errno */
int t2x_file_finish(struct t2x_file *file);

#endif

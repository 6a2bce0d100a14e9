/* SPDX-License-Identifier: MIT */
/*
 * t2x_unpack.h - an archive that a format has written becomes files of a directory, as they come, and not a tar file.
 *
 * The directory is new or empty: what lies there already would be taken for a part of the trace.  The file
 * "metadata" of the archive gets its name last, so readers, who look for that one, find either all or nothing.
 */
#ifndef T2X_UNPACK_H
#define T2X_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum { T2X_UNPACK_BLOCK = 512, T2X_UNPACK_NAME = 100 };   /* of tar */

struct t2x_unpack {
	int directory;
	int fd;                           /* of the file that is being written; -1: none */
	uint64_t left;                    /* bytes of it that are still to come */
	size_t padding;                   /* bytes behind it up to the next block */
	size_t n;                         /* bytes of head */
	char head[T2X_UNPACK_BLOCK];
	int has_metadata;                 /* they have come, and have a name with a dot in front */
};

/* Make the directory, or take the empty one.  Return  descriptor, or -errno: -ENOTEMPTY */
int t2x_unpack_open(const char *path);

/* Files go into the directory. */
void t2x_unpack_init(struct t2x_unpack *unpack, int directory);

/* Take n bytes of the archive.  For t2x_out_init_fn().  Return  0 or an errno */
int t2x_unpack_write(void *unpack, const char *text, size_t n);

/* is_whole 0: something is missing, the metadata get no name.  The descriptor stays open.  Return  0 or an errno */
int t2x_unpack_finish(struct t2x_unpack *unpack, int is_whole);

#endif

/* SPDX-License-Identifier: MIT */
/* t2x_found_private.h - what t2x_found_look.c, which has the processes, wants of t2x_found_files.c. */
#ifndef T2X_FOUND_PRIVATE_H
#define T2X_FOUND_PRIVATE_H

#include "t2x_found.h"

#define T2X_FOUND_SINCE UINT64_MAX        /* an offset that has to be found, by --since */

/* New files in this directory end a wait. */
void t2x_found_watch(struct t2x_found *found, const char *directory);

/* Look for new .tlg files in this directory, or in that of a file, from now on. */
void t2x_found_add_directory(struct t2x_found *found, const char *path);
void t2x_found_add_directory_of(struct t2x_found *found, const char *path);

/* The tail of a file.  Return  NULL: it has none */
struct t2x_found_tail *t2x_found_tail(const struct t2x_found *found, dev_t device, ino_t inode);

/* at  an offset at which a frame begins, or T2X_FOUND_SINCE.  Return  0 or -errno */
int t2x_found_add_tail(struct t2x_found *found, const char *path, uint64_t at, int is_guess);

/* Follow the file that a wanted process writes. */
void t2x_found_add_file_of(struct t2x_found *found, const struct t2x_tap *tap);

/* Search all directories.  Return  0 or -ENOMEM */
int t2x_found_search(struct t2x_found *found);

/* Close files to which nobody writes any more. */
void t2x_found_close_idle(struct t2x_found *found);

#endif

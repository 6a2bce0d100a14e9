/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_files.h - finds ring files in $XDG_RUNTIME_DIR and /dev/shm, and those of another user in /run/user/UID.
 */
#ifndef T2X_RING_FILES_H
#define T2X_RING_FILES_H

#include <stdint.h>
#include <sys/types.h>

struct t2x_ring_files {
	char **paths;                     /* sorted */
	unsigned n, space;
};

/*
 * Find the ring files of a user.  pid not 0: only those of processes with this id, but also those of root and of the
 * user as whom the process runs now.
 * Return  0 or -ENOMEM; the caller frees files in both cases
 */
int t2x_ring_files_find(struct t2x_ring_files *files, uint32_t pid, uid_t user);
void t2x_ring_files_free(struct t2x_ring_files *files);

#endif

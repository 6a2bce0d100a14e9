/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_files.h - finds ring files: in $XDG_RUNTIME_DIR and /dev/shm; those of another user in /run/user/UID, too.
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
 * The ring files of a user; pid not 0: of processes with this id, then also root's, and those of whom it runs as now.
 * Return  0 or -ENOMEM; to be freed in any case
 */
int t2x_ring_files_find(struct t2x_ring_files *files, uint32_t pid, uid_t user);
void t2x_ring_files_free(struct t2x_ring_files *files);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_leftover.h - where ring files lie: $XDG_RUNTIME_DIR and /dev/shm.
 */
#ifndef T2X_LEFTOVER_H
#define T2X_LEFTOVER_H

#include <stdint.h>

enum { T2X_LEFTOVERS = 128 };     /* that are listed: more are left for another run */

struct t2x_leftovers {
	char *paths[T2X_LEFTOVERS];       /* sorted */
	unsigned n;
	unsigned left_out;
};

/* The ring files of this user; pid not 0: of processes with this id.  Return  0 or -ENOMEM; to be freed in any case */
int t2x_leftovers_find(struct t2x_leftovers *leftovers, uint32_t pid);
void t2x_leftovers_free(struct t2x_leftovers *leftovers);

#endif

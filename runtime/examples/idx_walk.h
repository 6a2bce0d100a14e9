/* SPDX-License-Identifier: MIT */
/*
 * idx_walk.h - finds the files of a tree and hands them to the readers.
 */
#ifndef IDX_WALK_H
#define IDX_WALK_H

#include <stdint.h>

#include "idx_reader.h"

struct idx_walk_counts {
	uint64_t directories;
	uint64_t unreadable;         /* entries that could not be looked at, each reported */
};

/*
 * Put the path of every regular file below `root` into the job's queue; symbolic links are not followed.
 * Return  0, or an errno value when the walk ended early, which is reported
 */
int idx_walk(struct idx_job *job, const char *root, struct idx_walk_counts *counts);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * collect.h - for tests: reads what a process left, its ring file joined with its .tlg file, without t2expand.
 */
#ifndef COLLECT_H
#define COLLECT_H

#include "cli/t2x_recover.h"

typedef void collect_fn(void *data, const struct t2x_block *block);

/*
 * Call fn for each block.  ring: the ring file; live: id of its process if that still runs, else 0
 * Return  the totals of the ring; hits UINT64_MAX: it cannot be read
 */
struct t2x_salvage_totals collect(const char *ring, uint32_t live, collect_fn *fn, void *data);

/* Call fn for each block of a .tlg file.  Return  0: it cannot be read */
int collect_file(const char *path, collect_fn *fn, void *data);

/* Find the only ring file in $XDG_RUNTIME_DIR; pid not 0: of that process.  Return  0: there is none, or several */
int collect_find(uint32_t pid, char *path, size_t room);

#endif

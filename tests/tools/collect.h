/* SPDX-License-Identifier: MIT */
/*
 * collect.h - for tests: what a process left, its ring file joined with its .tlg file, without starting t2expand.
 */
#ifndef COLLECT_H
#define COLLECT_H

#include "cli/t2x_recover.h"

typedef void collect_fn(void *data, const struct t2x_block *block);

/*
 * Hand all blocks to fn.  ring: the ring file; live: id of its process if that still runs, else 0
 * Return  what came out of the ring; hits UINT64_MAX: it cannot be read
 */
struct t2x_salvage_totals collect(const char *ring, uint32_t live, collect_fn *fn, void *data);

/* Hand all blocks of a .tlg file to fn.  Return  0: it cannot be read */
int collect_file(const char *path, collect_fn *fn, void *data);

/* The only ring file in $XDG_RUNTIME_DIR; pid not 0: of that process.  Return  0: there is none, or several */
int collect_find(uint32_t pid, char *path, size_t room);

#endif

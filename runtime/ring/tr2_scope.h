/* SPDX-License-Identifier: MIT */
/*
 * tr2_scope.h - the scope table: each checkpoint's place and names, once per process, append-only.
 *
 * An index keeps its strings for the life of the process, so the drain can post a definition whenever a reader may need
 * it.  Lookup and insertion take no lock and allocate nothing; they work in a signal handler that interrupted an
 * insertion.  A table that never forgets needs no read-side protection; an RCU hash table would, and registering a
 * reader takes a lock.
 */
#ifndef TR2_SCOPE_H
#define TR2_SCOPE_H

#include <stdint.h>

#include "tr2_shm.h"

/* What identifies a scope.  NULL names are not the same as empty ones; file NULL or "": no file. */
struct tr2_scope_key {
	const char *file, *category, *label, *format;
	int32_t line;
	uint16_t repo;
	uint8_t style;
};

/* The key of a checkpoint without names.  file NULL: no call site */
static inline struct tr2_scope_key tr2_scope_key_at(int style, const char *file, int line)
{
	return (struct tr2_scope_key){ .file = file, .line = line, .style = (uint8_t)style };
}

/*
 * Prepare the table; after tr2_shm_create().
 * parent  NULL, or in a forked child the memory of its parent, whose scopes keep their numbers
 * Return  0 or -errno
 */
int tr2_scope_init(const struct tr2_shm *parent);

/*
 * The index of the scope with this content, a new one if need be.
 * Return  1..TLG_MAX_SCOPES-1; 0: the table is full, or a name is longer than TLG_NAME_MAX: the checkpoint then brings
 *         its names along
 * Thread  any, no lock    Signal safe    Orders [M4]    Cost  about 20 ns when known, 300 ns when new
 */
uint32_t tr2_scope_intern(const struct tr2_scope_key *key);

/* 1: half of the table, or of the memory for its texts, is used. */
int tr2_scope_is_crowded(void);

/* The scope with this index for a reader, or NULL while its writer is not done.  Orders [M4] */
const struct tlg_ring_scope *tr2_scope_get(uint32_t index);

/* The name of file filenum, or NULL. */
const char *tr2_scope_file(unsigned filenum);

#endif

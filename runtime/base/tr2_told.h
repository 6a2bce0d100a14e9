/* SPDX-License-Identifier: MIT */
/*
 * tr2_told.h - what a thread tells of itself, for others to read at any time: how the trace calls it.
 *
 * The memory stays when the thread has gone.  One writes: the thread itself, signals blocked.
 */
#ifndef TR2_TOLD_H
#define TR2_TOLD_H

#include <stdint.h>
#include <string.h>

#include "tr2_atomic.h"

enum { TR2_TOLD_NAME = 32 };

struct tr2_told {
	uint32_t tid;                 /* the Trace2 thread id, plus 1; 0: none */
	uint32_t version;             /* of the name; odd: it is being written */
	uint64_t name[TR2_TOLD_NAME / 8];     /* ended by NULs; "": the thread has recorded nothing yet */
};

static inline void tr2_told_set(struct tr2_told *told, uint32_t tid, const char *name)
{
	uint64_t words[TR2_TOLD_NAME / 8] = { 0 };
	uint32_t version = tr2_load_rlx(&told->version); /* relaxed: only this thread changes it */

	memcpy(words, name, strnlen(name, TR2_TOLD_NAME - 1));
	tr2_store_rlx(&told->tid, tid); /* relaxed: a number by itself */
	tr2_exchange_acq_rel(&told->version, version + 1); /* [M20] acquire: that it is odd, before the name changes */
	for (unsigned i = 0; i < TR2_TOLD_NAME / 8; i++)
		tr2_store_rlx(&told->name[i], words[i]); /* relaxed: ordered by the version */
	tr2_store_rel(&told->version, version + 2); /* [M20] release: the name.  Pairs with tr2_told_name() */
}

/* Return  0: it changes just now */
static inline int tr2_told_name(struct tr2_told *told, char name[TR2_TOLD_NAME])
{
	uint32_t version = tr2_load_acq(&told->version); /* [M20] acquire: the name.  Pairs with tr2_told_set() */
	uint64_t words[TR2_TOLD_NAME / 8];

	for (unsigned i = 0; i < TR2_TOLD_NAME / 8; i++)
		words[i] = tr2_load_rlx(&told->name[i]); /* relaxed: ordered by the version */
	memcpy(name, words, sizeof(words));
	name[TR2_TOLD_NAME - 1] = '\0';
	/* [M20] release: that the name was read.  Pairs with tr2_told_set(), whose next name comes later */
	return !(version & 1) && tr2_read_acq_rel(&told->version) == version;
}

#endif

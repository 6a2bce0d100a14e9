/* SPDX-License-Identifier: MIT */
/*
 * tr2_reported.h - a thread reports its id and its name in the trace, and other threads read these at any time.
 *
 * Only the thread itself writes, with signals blocked.  The memory stays after the thread has ended.
 */
#ifndef TR2_REPORTED_H
#define TR2_REPORTED_H

#include <stdint.h>
#include <string.h>

#include "tr2_atomic.h"

enum { TR2_REPORTED_NAME = 32 };

struct tr2_reported {
	uint32_t tid;                 /* the Trace2 thread id, plus 1; 0: none */
	uint32_t version;             /* of the name; odd: it is being written */
	uint64_t name[TR2_REPORTED_NAME / 8];     /* ended by NULs; "": the thread has recorded nothing yet */
};

static inline void tr2_reported_set(struct tr2_reported *reported, uint32_t tid, const char *name)
{
	uint64_t words[TR2_REPORTED_NAME / 8] = { 0 };
	uint32_t version = tr2_load_rlx(&reported->version); /* relaxed: only this thread changes it */

	memcpy(words, name, strnlen(name, TR2_REPORTED_NAME - 1));
	tr2_store_rlx(&reported->tid, tid); /* relaxed: a number by itself */
	/* [M20] acquire: that the version is odd, before the name changes */
	tr2_exchange_acq_rel(&reported->version, version + 1);
	for (unsigned i = 0; i < TR2_REPORTED_NAME / 8; i++)
		tr2_store_rlx(&reported->name[i], words[i]); /* relaxed: ordered by the version */
	tr2_store_rel(&reported->version, version + 2); /* [M20] release: the name.  Pairs with tr2_reported_name() */
}

/* Return  0: it changes just now */
static inline int tr2_reported_name(struct tr2_reported *reported, char name[TR2_REPORTED_NAME])
{
	/* [M20] acquire: the name.  Pairs with tr2_reported_set() */
	uint32_t version = tr2_load_acq(&reported->version);
	uint64_t words[TR2_REPORTED_NAME / 8];

	for (unsigned i = 0; i < TR2_REPORTED_NAME / 8; i++)
		words[i] = tr2_load_rlx(&reported->name[i]); /* relaxed: ordered by the version */
	memcpy(name, words, sizeof(words));
	name[TR2_REPORTED_NAME - 1] = '\0';
	/* [M20] release: that the name was read.  Pairs with tr2_reported_set(), whose next name comes later */
	return !(version & 1) && tr2_read_acq_rel(&reported->version) == version;
}

#endif

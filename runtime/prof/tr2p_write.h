/* SPDX-License-Identifier: MIT */
/*
 * tr2p_write.h - a profile as it is now, or what has come to it since a moment, written by a function.
 */
#ifndef TR2P_WRITE_H
#define TR2P_WRITE_H

#include "base/t2x_out.h"
#include "tr2p_bucket.h"

struct trace2_profile;

/* The totals of a profile at a moment.  Buckets are never freed: those that come later stand in front. */
struct tr2p_since {
	const struct tr2p_bucket *first;  /* the newest at that moment; NULL: there was none */
	struct tr2p_totals *totals;       /* of it, and of all behind it */
	uint64_t ns;                      /* when, since 1970 */
};

/* Note the moment.  Return  0 or ENOMEM.  The caller frees it in both cases */
int tr2p_since_take(struct tr2p_since *since, unsigned profile);
void tr2p_since_free(struct tr2p_since *since);

/*
 * Write the profile, as trace2_prof_write_to() says.
 * since   only what has come since then; NULL: all.  Not of "threads"
 * Return  0, the errno of write, ENOMEM, EBUSY
 * Thread  inside the profiler (tr2p_enter()), not cancelled
 */
int tr2p_write(const struct trace2_profile *profile, int debug, const struct tr2p_since *since, t2x_write_fn *write,
	       void *target);

#endif

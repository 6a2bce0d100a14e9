/* SPDX-License-Identifier: MIT */
/*
 * tr2_registry.h - the set of rings of the process.
 *
 * A lock-free stack (liburcu) that only grows: a new thread, even in a signal handler, adds itself with one
 * compare-and-exchange; the drain walks it without a lock.  Nobody removes a ring: when its thread has ended,
 * it serves the next thread.  So no reader needs protection against reclamation.
 *
 * It holds links; tr2_thread.h says whose they are.
 */
#ifndef TR2_REGISTRY_H
#define TR2_REGISTRY_H

#include <stdint.h>

struct tr2_registry_link {
	void *node[1];                    /* liburcu's */
	uint32_t is_member;               /* [M6] */
};

/* Forget all: a forked child begins with none of its parent's.  Thread  alone */
void tr2_registry_reset(void);

/* Add a ring's link.  Once for each ring.  Thread any, signals masked. */
void tr2_registry_add(struct tr2_registry_link *link);

/* The newest; the one before it.  NULL: there is none.  A walk may miss links that are added during it. */
struct tr2_registry_link *tr2_registry_first(void);
struct tr2_registry_link *tr2_registry_next(struct tr2_registry_link *link);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2p_profile.h - the profiles by number and by name: those that exist always, and the program's own.
 */
#ifndef TR2P_PROFILE_H
#define TR2P_PROFILE_H

#include "tr2p_bucket.h"

struct trace2_profile {
	const char *name;
	unsigned number;          /* enum tr2p_kind; of a view that of its kind */
};

/* Profiles there are, by number 0..: those of enum tr2p_kind, the views of them, then the program's own. */
struct trace2_profile *tr2p_profile_at(unsigned i);
unsigned tr2p_profile_total(void);

/* The name that samples have.  Signal safe */
const char *tr2p_profile_name(unsigned number);

/* Around a fork: if another thread had the lock then, the child could never acquire it. */
void tr2p_profile_lock(void);
void tr2p_profile_unlock(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_profile_join.h - profiles of consecutive parts of a trace, each read by itself, become that of the whole.
 *
 * A part does not know in which regions its own ones lie that were entered in front of it.  So its stacks begin at a
 * base, which the join replaces by the stack that was open there; and the ends of such regions are notes, which it
 * takes as if their events came only now.  What is certain there: t2x_totals_join.h says it.
 */
#ifndef T2X_PROFILE_JOIN_H
#define T2X_PROFILE_JOIN_H

#include "t2x_profile.h"

/*
 * Add the profile of the part behind what has been joined.  from stays the caller's, for nothing but
 * t2x_profile_free().  Return  0: they cannot be joined, and to is of no use any more
 */
int t2x_profile_join(struct t2x_profile *to, struct t2x_profile *from);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_detach.h - the ring file loses its name before exec(), and gets one again if exec fails.
 *
 * exec() runs none of our code, so the ring file would stay behind, though all of it is written.  So its name is
 * removed first: the mapping is detached.  exec() then ends the mapping, and the kernel frees the memory.
 *
 * If the program is still there afterwards, what it records next has to outlive it again.  A file without a name cannot
 * get one back.  So the mapping is attached to a new file of the same name, with the same content at the same
 * addresses.  Nothing may be recorded in between: every position is away from its chunk (tr2_ring_park(),
 * tr2_ring_set_aside()), and the slow path attaches first.  No descriptor stays open for that.
 *
 * Thread  the holder of the drain's lock, while no other thread of the process records    Signals masked
 */
#ifndef TR2_DETACH_H
#define TR2_DETACH_H

#include "base/tr2_atomic.h"

/* 1 between tr2_detach() and the next tr2_attach(). */
extern int tr2_g_is_detached;

static inline int tr2_is_detached(void)
{
	return tr2_load_rlx(&tr2_g_is_detached); /* relaxed: set while the calling thread, or its parent, is alone */
}

/*
 * Detach, if the file holds nothing that is not written.  Outside of tmpfs, and when the file is large, it keeps its
 * name.  Not in a sandbox that may have begun after tracing: it may end the process for one of the system calls.
 * Return  1: detached    Cost  20 us
 */
int tr2_detach(void);

/*
 * Attach again.  Where that is impossible the process goes on in the memory that it has, which ends with it.
 * Return  0 or -errno; tr2_is_detached() is 0 in any case    Cost  200 us
 */
int tr2_attach(void);

/* In a forked child: its parent may be detached. */
void tr2_detach_reset(void);

#endif

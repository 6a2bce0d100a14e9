/* SPDX-License-Identifier: MIT */
/*
 * tr2_idle.h - the drain's thread sleeps for as long as nothing is recorded.
 *
 * A call that records tells nobody: it writes to its thread's ring alone.  So before the drain's thread sleeps without
 * a bound, it puts the position of each ring out of bounds; the next call then takes the slow path, which puts it back
 * (tr2_ring_unpark()) and wakes the thread.  An add that is under way while the position is changed may undo that, for
 * it is not locked: so whether all positions are away is asked again, a millisecond later at the earliest.
 *
 * Thread  the drain's
 */
#ifndef TR2_IDLE_H
#define TR2_IDLE_H

/* Put the positions away of all rings that have been read to their ends. */
void tr2_idle_park(void);

/* 1: nothing can be recorded, in no thread, without waking the drain's; and all that was recorded is written. */
int tr2_idle_is_parked(void);

#endif

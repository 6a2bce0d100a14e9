/* SPDX-License-Identifier: MIT */
/*
 * tr2_collect.h - the drain's work on one ring: it copies chains into the stream's buffer, writes the buffer, and only
 * then releases the chunks to the pool.
 *
 * Thread  one at a time, under the drain's lock, signals masked; tr2_collect_progress() any
 */
#ifndef TR2_COLLECT_H
#define TR2_COLLECT_H

#include <stdint.h>

#include "ring/tr2_thread.h"

/*
 * Move what is committed in one ring, at most a quota.
 * now  raw clock    timeout  ticks before an unfinished chain is passed by
 * Return  the raw clock below which nothing more will come from it
 */
uint64_t tr2_collect_ring(struct tr2_thread *thread, uint64_t now, uint64_t timeout);

/* Events that have been moved so far. */
uint64_t tr2_collect_moved(void);

/* 1 if a ring had more than its quota since this was last asked: there is more to do at once. */
int tr2_collect_was_behind(void);

/*
 * For a snapshot: move what one ring has from since up to until, times of the raw clock.  The context of a thread with
 * open regions comes first.  Blocks  while the ring's thread overwrites, some 10 us; 2 ms for an unfinished chain
 * Return  until; 0: the thread is stopped while it overwrites, and the next snapshot has its events
 */
uint64_t tr2_collect_snapshot(struct tr2_thread *thread, uint64_t since, uint64_t until);

/* If the ring's thread has ended: release the ring for the next thread, and its chunks for any thread. */
void tr2_collect_retire(struct tr2_thread *thread);

/* Count as dropped the ring's abandoned reservations that will not be committed. */
void tr2_collect_abandoned(struct tr2_thread *thread);

/*
 * Write the buffer, and release what was read for it.
 * Return  0; -errno: what could not be written is lost, and counted
 */
int tr2_collect_write(void);

/* The same with END in the buffer: it may use the room that other writes leave for it. */
int tr2_collect_write_end(void);

/* The same if there is enough to write, or if it is older than age_ms, or than 50 ms. */
void tr2_collect_write_if_due(uint64_t now, unsigned age_ms);

/* 1: nothing waits to be written, or to be released behind a write. */
int tr2_collect_has_written(void);

/* Changes whenever chunks have been freed. */
uint32_t tr2_collect_progress(void);

/*
 * Wait until that is no longer `seen`, at most ms.  What has been read is written without delay.
 * Thread  any, without the drain's lock    Signal safe; a handler may end it early
 */
void tr2_collect_await(uint32_t seen, unsigned ms);

/* 1 if a thread has begun to wait so since the last tr2_collect_write_if_due(). */
int tr2_collect_is_awaited(void);

/* The drain cannot write now: it does not hurry for those who wait. */
void tr2_collect_let_wait(void);

/* In a forked child: forget the parent's state. */
void tr2_collect_reset(void);

#endif

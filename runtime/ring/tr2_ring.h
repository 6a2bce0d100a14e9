/* SPDX-License-Identifier: MIT */
/*
 * tr2_ring.h - one thread's ring: a chain of chunks in shared memory, with one writer and one reader.
 *
 * This is the writer's side: all that a recording thread touches.  tr2_ring_read.h is the reader's side.
 *
 * The writer reserves events with one unlocked add on its position, and publishes a chain by storing its first event's
 * header word last: an event is committed when its header carries its chunk's number.  Everything else happens once a
 * chunk, when it is full: the thread acquires the next chunk, wakes the drain, or decides to drop.
 *
 * The add is made even if the chunk is full, and only the slow path takes it back.  Handlers that interrupt each
 * other between the two, each for another of 64 signals, add up to less than the gap between two chunks.  Chains too
 * long for that are reserved by compare-and-exchange, which never leaves the chunk.
 *
 * Who may run at the same time (X: excluded by the means named)
 *                        owner    handler on owner   drain               forked child
 *   reserve, commit      -        yes (one add)      yes                 own ring: position reads as 0
 *   next chunk           -        X signals masked   yes                 "
 *   peek, consume        yes      yes                X the drain's lock  reads nothing of its parent's
 *   overwrite            -        X signals masked   X the reader's lock "
 *
 * Memory ordering: release side, acquire side, what is ordered
 *   [M1]  writer commits the header word    tr2_ring_peek()           the event's bytes before it is seen
 *   [M2]  tr2_stack_push() gives back       tr2_stack_pop()           the drain's reads before reuse
 *   [M3]  tr2_ring_open_chunk() links       tr2_ring_peek()           the chunk's head before it is followed
 *   [M4]  tr2_scope_intern() publishes      tr2_scope_get(), lookups  an entry before its index is used
 *   [M5]  tr2_lock_release()                tr2_lock_try()            one drain's state before the next one's
 *   [M6]  tr2_registry_add()                skip_unready()            a ring before it is in the set
 *   [M7]  remember() in tr2_site.c          tr2_site_of(), _learn()   a call site before it is compared with;
 *         learn_message()                   tr2_message_v1()          a format's arguments before its scope
 *   [M8]  tr2_recovery_written()            the next one, t2expand    state and tails before they hold
 *   [M9]  tr2_losses_add()                  tr2_losses_begin()        a count of drops before it is reported as new
 *   [M10] tr2_ring_open_chunk() opens       catch_up(), ring file     a chunk's head before it counts
 *   [M11] add_total() in tr2_losses.c       is_set()                  whose drops they are before they are counted
 *   [M12] unlock_tail() in tr2_overwrite.c  lock_tail()               one reader of a ring before the next one
 *   [M13] tr2_ring_open_chunk()'s fence     copy_chunk(), copy_event()  a chunk's number before its new events
 *   [M14] tr2_thread_ready(), map_wiped()   tr2_is_forked_child()     a forked child's rings before they are used
 *   [M15] tr2_ring_park()                   tr2_ring_unpark()         where a position was before it is back there
 *   [M16] tr2_wake_now(), _opened()         sleep_for()               a call before the sleep that it is to end
 *   [M17] tr2_sample_asked_v1(), answered   t2x_ring_copy_stacks()    who is asked, samples before they are counted
 *   [M18] tr2_timer_end_thread()            tr2_timer_end_process()   a timer's name and total before their number
 *   [M19] tr2_ring_set_aside()              position_of()             a position before it is looked for aside
 *   [M20] tr2_reported_set()                tr2_reported_name()       the name of a thread
 *   [M21] tr2_leftover_collect()            tr2_leftover_collect()    what one look has noted before the next one
 *   [M22] tr2_owner_release() with musl    tr2_owner_take()          what a ring's owner did before the next one
 *   [M23] t2x_ctl.c in expand/ asks        tr2_page_take()           a command before its number
 *   [M24] tr2_page_answer()                t2x_ctl.c in expand/      an answer before its number
 *   [M25] tr2_dormant_session()            tr2_dormant_await()       a session that begins late, before it is drained
 *   [M26] begin_late() in tr2_session.c    tr2_session_is_begun()    the same before another thread records in it
 *   [M27] tr2_leave_now()                  tr2_leave_has_left()      what the consumer has noted before the next one
 *   [M28] tr2_leave_end()                  tr2_leave_is()            the same, if another thread creates that one
 *   [M29] tr2_wake_start()                 tr2_wake_start()          that a thread runs, before the next one is started
 *   [M30] give() in tr2_extent.c           take()                   where the mapping ends, before it grows on
 */
#ifndef TR2_RING_H
#define TR2_RING_H

#include <stdint.h>

#include "tr2_pool.h"
#include "trace2.h"
#include "base/tr2_atomic.h"

enum {
	TR2_CHAIN_EVENTS = 512,           /* of one chain at most: longer arguments go on in MORE */
	TR2_ADDED_EVENTS = 40,            /* of one that is reserved by an add */
	TR2_SHORT_EVENTS = 170,           /* events of the shortest chunk: one page, and one with the head */
};

/* The first cache line is the recording thread's; the second is what the reader leaves there for it. */
struct tr2_ring {
	struct tlg_ring *head;            /* shared part */
	struct trace2_hot *hot;           /* the position, in a page wiped on fork */
	uintptr_t *aside_at;              /* the position while it is set aside, in the same page.  [M19] */
	uint32_t index;
	uint32_t chunk;                   /* current one, index + 1; 0: none.  The drain closes it if it has no owner */
	uint32_t max_pages;               /* that it may hold; 0: the pool is the bound */
	uint32_t opened;                  /* chunks so far */
	uint32_t pages_opened;            /* of all these; may wrap */
	uint32_t dead_upto;               /* chunk number up to which its owner commits nothing more */

	_Alignas(64) uintptr_t parked_at; /* where the position was when the drain parked it.  [M15] */
	uint32_t pages_released;          /* of all that were opened */
	uint32_t nheld;                   /* finished chunks that are held for abandoned reservations */
};

/* 1 if more is recorded here than the first chunk, a short one, and another have space for. */
static inline int tr2_ring_is_busy(const struct tr2_ring *ring)
{
	return ring->opened > 2;
}

/* The current chunk, index + 1; 0: none. */
static inline uint32_t tr2_ring_current(const struct tr2_ring *ring)
{
	return tr2_load_rlx(&ring->chunk); /* relaxed: the drain takes it away only from a ring without an owner */
}

/* Pages that the ring has of the pool. */
static inline uint32_t tr2_ring_pages(const struct tr2_ring *ring)
{
	return ring->pages_opened - tr2_load_rlx(&ring->pages_released); /* relaxed: a stale one is too many */
}

static inline int tr2_in_chunk(uintptr_t position, size_t bytes)
{
	return ((position + TLG_CHUNK_BYTES) & (TLG_CHUNK_STRIDE - 1)) <= TLG_CHUNK_BYTES - bytes;
}

/*
 * The drain parks the position of an idle ring, see tr2_wake.h.  A parked position is out of bounds, and stays in this
 * range whatever is added to it before the thread takes it back.
 */
#define TR2_PARKED ((uintptr_t)TLG_CHUNK_STRIDE)

static inline int tr2_is_parked(uintptr_t position)
{
	return position - TR2_PARKED < TLG_CHUNK_STRIDE - TLG_CHUNK_BYTES;
}

/*
 * While each of its calls has to take the slow path, the ring's owner sets its own position aside, see tr2_reserve.c.
 * The slow path then reserves at *aside_at.  The value in hot is in the range that begins here, and stays in it
 * whatever is added.
 */
#define TR2_ASIDE (2 * (uintptr_t)TLG_CHUNK_STRIDE)

static inline int tr2_is_aside(uintptr_t position)
{
	return position - TR2_ASIDE < TLG_CHUNK_STRIDE - TLG_CHUNK_BYTES;
}

static inline struct tlg_chunk *tr2_chunk_of(uintptr_t position)
{
	return (struct tlg_chunk *)(position & ~(uintptr_t)(TLG_CHUNK_BYTES - 1));
}

static_assert((64 + 1) * TR2_ADDED_EVENTS * TLG_EVENT_SIZE < TLG_CHUNK_STRIDE - TLG_CHUNK_BYTES, "any signal may come");

/* Commit the chain at event: its header word, last.  flags: type and HAS_INFO, HAS_MORE, RENDERED. */
static inline void tr2_ring_commit(struct tlg_event *event, unsigned flags)
{
	uint64_t head = tr2_chunk_of((uintptr_t)event)->head | tlg_head(flags, 0, 0);

	tr2_store_rel((uint64_t *)(void *)event, head); /* [M1] release: the chain.  Pairs with tr2_ring_peek() */
}

/*
 * Signals masked: go to the next chunk and set the position.
 * pages   that it should have, see tr2_pool_acquire()
 * Return  0, or -ENOSPC: the ring may not have more, or there is none; the position is then out of bounds
 */
int tr2_ring_open_chunk(struct tr2_ring *ring, uint32_t tid, unsigned pages);

/*
 * Reserve so many bytes by an exchange; if they do not fit, what is left of the chunk.
 * Return  1; 0: *position is where the rest begins, or out of bounds    Signal safe
 */
int tr2_ring_reserve_long(struct trace2_hot *hot, size_t bytes, uintptr_t *position);

/* Signals masked: take a parked position back.  Return  0: it was not parked    Orders [M15] */
int tr2_ring_unpark(struct tr2_ring *ring);

/*
 * Signals masked, by the ring's owner: set the position aside, unless it is out of bounds; take it back.
 * Return  0: it was not aside    Orders [M19]
 */
void tr2_ring_set_aside(struct tr2_ring *ring);
int tr2_ring_take_back(struct tr2_ring *ring);

/*
 * The owner has found its position aside.  Reserve so many bytes there.
 * Return  the first event's address; 0: they do not fit, or it is not aside any more    Signal safe
 */
uintptr_t tr2_ring_reserve_aside(struct tr2_ring *ring, size_t bytes);

/* 1 if so much of the ring is held for abandoned reservations that it pays to find out whether they are dead. */
int tr2_ring_is_fragmented(const struct tr2_ring *ring);

/*
 * No reservation made so far will be committed any more.  Signals masked, and no interrupted call has to commit yet.
 * but_last  1: the chunk that was just opened is left out
 */
void tr2_ring_abandon(struct tr2_ring *ring, int but_last);

/* The number of the chunk that was opened last, by whatever thread. */
uint32_t tr2_ring_latest(void);

/* The events from this reserved position to the chunk's end stay unused. */
void tr2_ring_pad(uintptr_t position);

/* A chain of so many events is dropped.  Signal safe. */
void tr2_ring_drop(struct tr2_ring *ring, unsigned events);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_ring.h - one thread's ring: a chain of chunks in shared memory, one writer, one reader.
 *
 * The writer reserves events with one unlocked add on its position and publishes a chain by storing its
 * first event's header word last.  An event is committed when its header carries its chunk's number; the
 * reader adds the sequence.  Chunks are the unit of everything else: room is looked for, drains are looked
 * at and losses are decided only when one is full.
 *
 * An add is made whether or not there is room, and is taken back only in the slow path.  Handlers that interrupt each
 * other just between the two, each of another signal, of which there are 64, add up to less than what lies free between
 * two chunks; chains for which that would not hold are reserved by an exchange, which leaves the position in its chunk.
 *
 * Who may run at the same time (X: excluded by the means named)
 *                        owner    handler on owner   drain              forked child
 *   reserve, commit      -        yes (one add)      yes                own ring: position reads as 0
 *   next chunk           -        X signals masked   yes                "
 *   peek, consume        yes      yes                X the drain's lock reads nothing of its parent's
 *   overwrite            -        X signals masked   X the tail's lock  "
 *
 * Orders: release side, acquire side, what is ordered
 *   [M1] writer commits the header word         tr2_ring_peek()            the event's bytes before it is seen
 *   [M2] tr2_stack_push() gives back            tr2_stack_pop()            the drain's reads before reuse
 *   [M3] tr2_ring_open_chunk() links            tr2_ring_peek()            the chunk's head before it is followed
 *   [M4] tr2_scope_intern() publishes           tr2_scope_get(), lookups   an entry before its index is used
 *   [M5] tr2_lock_release()                      tr2_lock_try()             one drain's state before the next one's
 *   [M6] tr2_registry_add()                          skip_unready()             a ring before it is in the set
 *   [M7] remember() in tr2_site.c               tr2_site_of(), _learn()    a call site before it is compared with;
 *        learn_message()                        tr2_message_v1()           a format's arguments before its scope
 *   [M8] tr2_recovery_written()                     the next one, t2expand     state and tails before they hold
 *   [M9] tr2_losses_add()                       tr2_losses_begin()         a loss before it is said to be new
 *   [M10] tr2_ring_open_chunk() opens          readers of the ring file   a chunk's head before it counts
 *   [M11] add_total() in tr2_losses.c           is_set()                   whose loss it is before it is counted
 *   [M12] unlock_tail() in tr2_overwrite.c      lock_tail()                one reader of a ring before the next one
 *   [M13] tr2_ring_open_chunk()'s fence         copy_chunk() in expand/     a chunk's number before its new events
 *   [M14] tr2_thread_ready(), map_wiped()      tr2_is_forked_child()       a forked child's rings before they are used
 *   [M15] tr2_ring_park()                       tr2_ring_unpark()          where a position was before it is back there
 *   [M16] tr2_wake_now(), _opened()             sleep_for()                a call before the sleep that it is to end
 */
#ifndef TR2_RING_H
#define TR2_RING_H

#include <stdint.h>

#include "tr2_pool.h"
#include "trace2.h"
#include "base/tr2_atomic.h"

enum {
	TR2_CHAIN_EVENTS = 512,           /* most events of one chain: longer arguments go on in MORE */
	TR2_ADDED_EVENTS = 40,            /* most of one that is reserved by an add */
	TR2_SHORT_EVENTS = 170,           /* events of the shortest chunk: one page, and one with the head */
};

/* Reserved events that their thread has not committed while it went on behind them. */
struct tr2_hole {
	uint32_t chunk, event, end;       /* chunk index; first event, and the one behind the last */
};

/* This process's side of a ring.  The reader's part begins on its own cache line. */
struct tr2_ring {
	struct tlg_ring *head;            /* shared part */
	struct trace2_hot *hot;           /* the writer's position, in a page wiped on fork */
	uint32_t index;
	uint32_t chunk;                   /* the writer's current chunk, index + 1; 0: none */
	uint32_t max_pages;              /* that it may hold; 0: the pool is the bound */
	uint32_t opened;                  /* chunks so far */
	uint32_t pages_opened;            /* of all these; may wrap */
	uintptr_t parked_at;              /* where the position was when the drain has put it away.  [M15] */
	uint32_t dead_upto;               /* chunk number up to which no hole will be filled: the owner says so */

	_Alignas(64) uint32_t rd_chunk;   /* reader: chunk index + 1; 0: none yet, or none any more */
	uint32_t rd_event;                /* next event in it */
	uint32_t rd_number;               /* of the chunk that was read last; 0: none yet */
	int rd_is_new;                    /* nothing has been taken from it yet */
	uint64_t rd_since;                /* raw clock since when it waits at an uncommitted event; 0: it does not */
	uint32_t nholes;
	uint32_t forgotten_upto;          /* what dead_upto was when last looked at */
	uint64_t seen_events;             /* losses the reader has accounted for */
	uint32_t pages_released;          /* of all that were opened */
	uint32_t held, nheld;             /* finished chunks with holes: the first one's index + 1; how many */
	int has_lost_hole;                /* one of them is not in holes[]: its chunk is held until it is abandoned */
	uint64_t abandoned;               /* holes that were given up, to be counted by the drain */
	struct tr2_hole holes[TLG_MAX_HOLES];
};

/* What tr2_ring_peek() found. */
enum tr2_peek {
	TR2_PEEK_EMPTY,                   /* nothing committed behind what was read */
	TR2_PEEK_CHAIN,                   /* a committed chain */
	TR2_PEEK_BUSY,                    /* reserved, not committed yet: later events wait */
	TR2_PEEK_CHUNK,                   /* the chunk is finished and there is a next: leave it, then peek again */
};

struct tr2_chain {
	const struct tlg_event *events;
	unsigned count;
	unsigned skipped;                 /* events of a hole that was gone around just before it */
	int is_first;                     /* nothing of its chunk has been taken before it */
};

/* 1 if more is recorded here than fits the first chunk, a short one, and another. */
static inline int tr2_ring_is_busy(const struct tr2_ring *ring)
{
	return ring->opened > 2;
}

/* The writer's current chunk, index + 1; 0: none. */
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
 * The drain has put the position away, see tr2_wake.c.  It is out of bounds then, and stays in this range whatever is
 * added to it before the thread puts it back.
 */
#define TR2_PARKED ((uintptr_t)TLG_CHUNK_STRIDE)

static inline int tr2_is_parked(uintptr_t position)
{
	return position - TR2_PARKED < TLG_CHUNK_STRIDE - TLG_CHUNK_BYTES;
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
 * Writer, signals masked: go to the next chunk and set the position.
 * pages   that it should have, see tr2_pool_take()
 * Return  0, or -ENOSPC: the ring may not have more, or there is none; the position is then out of bounds
 */
int tr2_ring_open_chunk(struct tr2_ring *ring, uint32_t tid, unsigned pages);

/*
 * Writer: reserve so many bytes by an exchange; if they do not fit, what is left of the chunk.
 * Return  1; 0: *position is where the rest begins, or out of bounds    Signal safe
 */
int tr2_ring_take_room(struct trace2_hot *hot, size_t bytes, uintptr_t *position);

/* Writer, signals masked: put the position back.  Return  0: it was not put away    Orders [M15] */
int tr2_ring_unpark(struct tr2_ring *ring);

/* Writer: 1 if holes have so much of what the ring has that it pays to find out whether anybody will fill them. */
int tr2_ring_is_fragmented(const struct tr2_ring *ring);

/*
 * Writer, signals masked, where no call of the thread is interrupted that still has to commit: nobody will fill the
 * holes there are.  but_last  1: the chunk that was just opened is not spoken of
 */
void tr2_ring_abandon(struct tr2_ring *ring, int but_last);

/* The number of the chunk that was opened last, by whatever thread. */
uint32_t tr2_ring_latest(void);

/* Reader: the number of the chunk that is read next, 0 if there is none. */
uint32_t tr2_ring_oldest(const struct tr2_ring *ring);

/* Writer: the events from this reserved position to the chunk's end stay unused. */
void tr2_ring_pad(uintptr_t position);

/* Writer: a chain of so many events is dropped, and with it so many checkpoints, 1 or 0.  Signal safe. */
void tr2_ring_drop(struct tr2_ring *ring, unsigned hits, unsigned events);

/*
 * Reader: the next chain, or why there is none.
 * now       raw clock    timeout  ticks to wait at an uncommitted event before going around it
 */
enum tr2_peek tr2_ring_peek(struct tr2_ring *ring, uint64_t now, uint64_t timeout, struct tr2_chain *chain);

/*
 * Reader: committed chains, HIT or MORE, that lie one behind the other at the reading position.
 * most    events, about; the last chain is whole nevertheless
 * Return  events in all; 0: whatever comes there is for tr2_ring_peek(), as is always the first chain of a chunk
 */
unsigned tr2_ring_run(const struct tr2_ring *ring, unsigned most, const struct tlg_event **events);

/* Reader: so many events of what was seen are copied. */
void tr2_ring_consume(struct tr2_ring *ring, unsigned events);

/*
 * Reader: ring events that were dropped since the last call, up to where the reading stands in its chunk; with
 * up_to_now all that were dropped.
 */
uint64_t tr2_ring_lost(struct tr2_ring *ring, int up_to_now);

/* Reader: step from a finished chunk to the next.  Return  the finished one's index + 1 to be released, 0: not. */
uint32_t tr2_ring_leave_chunk(struct tr2_ring *ring);

/* Reader: a chain that has been committed late, in a hole.  0 when none; else to be ended by tr2_ring_late_taken(). */
int tr2_ring_late(struct tr2_ring *ring, struct tr2_chain *chain);

/* Reader: that chain is copied.  Return  index + 1 of a chunk that has no hole any more, to be released; 0: none */
uint32_t tr2_ring_late_taken(struct tr2_ring *ring, const struct tr2_chain *chain);

/*
 * Reader: nobody fills holes any more: those that the owner has abandoned, or all of them, for it is gone.  Counts
 * them.  Return  index + 1 of the chunks to be released, the first of a list of tr2_pool_link(); 0: none
 */
uint32_t tr2_ring_forget_abandoned(struct tr2_ring *ring);
uint32_t tr2_ring_forget_holes(struct tr2_ring *ring);

/* Reader: what was read from the chunk is safe elsewhere, another thread may have it. */
void tr2_ring_release_chunk(struct tr2_ring *ring, uint32_t chunk);

/* Reader: it stays as it is, though it has been left, and is not counted; it is to be released like another one. */
void tr2_ring_pin_chunk(struct tr2_ring *ring, uint32_t chunk);
void tr2_ring_unpin_chunk(struct tr2_ring *ring, uint32_t chunk);

/* Reader: the first chain of a pinned chunk from event on.  Return  the event behind it; 0: there is none */
uint32_t tr2_ring_read_pinned(uint32_t chunk, uint32_t event, struct tr2_chain *chain);

/*
 * Reader: take the last chunk away from a ring that has no owner, if all of it has been read.
 * is_dead  the owner will not commit what it has reserved at its end: these events are passed over, a hole
 * skipped  is set to how many that were
 * Return   index + 1 of the chunk to be released; 0: there is none, or something is left in it
 */
uint32_t tr2_ring_close(struct tr2_ring *ring, int is_dead, unsigned *skipped);

/*
 * Reader: put the position of a ring away that has been read to its end.  An add of its thread may undo that just then.
 * 1 if the position is out of bounds, for that reason or another.
 */
void tr2_ring_park(struct tr2_ring *ring);
int tr2_ring_is_away(const struct tr2_ring *ring);

/* Reader: 1 if there is nothing to do for it, at the cost of two cache lines. */
int tr2_ring_is_quiet(const struct tr2_ring *ring);

#endif

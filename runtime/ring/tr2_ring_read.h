/* SPDX-License-Identifier: MIT */
/*
 * tr2_ring_read.h - the reading side of a ring: it follows chunks, reads them and releases them.
 *
 * The reader is the drain.  Under the policy overwrite the ring's owner reads, too, before it overwrites its oldest
 * chunk; then the two take turns by the reader's lock.  No other recording code touches anything here.
 */
#ifndef TR2_RING_READ_H
#define TR2_RING_READ_H

#include "tr2_ring.h"

/*
 * An abandoned reservation: its thread has gone on behind it without a commit.  The commit may still come.  So the
 * drain holds the chunk until the thread ends, or reports that its reservations are dead.
 */
struct tr2_abandoned {
	uint32_t chunk, event, end;       /* chunk index; first event, and the one behind the last */
};

/*
 * A flight recorder's first chunk has the start of the process and its arguments.  Nobody overwrites it, and the next
 * snapshot writes it.
 */
struct tr2_pinned {
	uint32_t chunk;                   /* index + 1; 0: there is none, or it is in the file */
	int is_passing, is_passed;
	uint32_t tid;                     /* whose checkpoints these are, and how many */
	uint64_t hits;
};

struct tr2_track;
struct tr2_watch;

struct tr2_reader {
	struct tr2_ring *ring;            /* what it reads */
	uint32_t chunk;                   /* index + 1; 0: none yet, or none any more */
	uint32_t event;                   /* next event in it */
	uint32_t number;                  /* of the chunk that was read last; 0: none yet */
	int is_new;                       /* nothing of it has been consumed yet */
	uint64_t since;                   /* raw clock since when an uncommitted event has stopped it; 0: none does */
	uint32_t nabandoned;              /* reservations in abandoned[] */
	uint32_t forgotten_upto;          /* what dead_upto was when last looked at */
	uint64_t seen_events;             /* dropped events that it has accounted for */
	uint32_t held;                    /* finished chunks that are held, a list: the first one's index + 1 */
	int has_unlisted;                 /* one of them is held for a reservation that abandoned[] had no place for */
	uint64_t ndead;                   /* reservations that will not be committed, for the drain to count */
	struct tr2_abandoned abandoned[TLG_MAX_ABANDONED];

	uint32_t lock;                    /* [M12] of all this: the owner may read, too */
	int holds;                        /* of the lock by the drain, one in the other */
	struct tr2_pinned pinned;
	struct tr2_track *track;          /* the drain's: what the stream knows about the thread */
	struct tr2_watch *watch;          /* the drain's: what triggers know about it, see drain/tr2_watch.h */

	int is_noted;                     /* the next write has to store its tail */
	struct tr2_thread *next_noted;
	struct tlg_ring_tail seen;        /* how far the drain has read, under the policy overwrite */
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
	unsigned skipped;                 /* events of an abandoned reservation just before it */
	int is_first;                     /* it is the first that is consumed of its chunk */
};

/*
 * The next chain, or why there is none.
 * now  raw clock    timeout  ticks to wait for an uncommitted event: then its reservation is abandoned
 */
enum tr2_peek tr2_ring_peek(struct tr2_reader *reader, uint64_t now, uint64_t timeout, struct tr2_chain *chain);

/*
 * Committed chains, HIT or MORE, that lie one behind the other at the reading position.
 * max     events, about; the last chain is whole nevertheless
 * Return  events in all; 0: what comes next is for tr2_ring_peek(), as the first chain of a chunk always is
 */
unsigned tr2_ring_run(const struct tr2_reader *reader, unsigned max, const struct tlg_event **events);

/* The number of the chunk that is read next, 0 if there is none. */
uint32_t tr2_ring_oldest(const struct tr2_reader *reader);

/* Step over so many events of the chain that tr2_ring_peek() has found: they are copied. */
void tr2_ring_consume(struct tr2_reader *reader, unsigned events);

/*
 * How many ring events were dropped since the last call: those before the present chunk was opened; all with up_to_now.
 */
uint64_t tr2_ring_lost(struct tr2_reader *reader, int up_to_now);

/* Step from a finished chunk to the next.  Return  the finished one's index + 1, to be released; 0: it is held */
uint32_t tr2_ring_leave_chunk(struct tr2_reader *reader);

/*
 * Look at what comes next: the first committed chain at a copy of the reader, which passes over events that are not
 * committed.  This changes nothing but the copy: the reader itself decides which reservations are abandoned, and which
 * chunks are held.
 * Return  1: tr2_ring_consume() of the copy comes next; 0: there is none
 * Thread  the ring's owner, signals masked, so that nobody commits; it keeps the reader out
 */
int tr2_ring_look(struct tr2_reader *copy, struct tr2_chain *chain);

/* Find a chain that was committed late, in an abandoned reservation.  0: none; 1: call tr2_ring_late_taken() next */
int tr2_ring_late(struct tr2_reader *reader, struct tr2_chain *chain);

/* That chain is copied.  Return  index + 1 of a chunk to be released, which was held for it; 0: none */
uint32_t tr2_ring_late_taken(struct tr2_reader *reader, const struct tr2_chain *chain);

/*
 * Forget the abandoned reservations that the owner has reported dead; all of them, as the owner has ended.  Count them.
 * Return  index + 1 of the chunks to be released, the first of a list, see tr2_pool_next(); 0: none
 */
uint32_t tr2_ring_forget_dead(struct tr2_reader *reader);
uint32_t tr2_ring_forget_all(struct tr2_reader *reader);

/* Release a chunk to the pool: what was read of it is written. */
void tr2_ring_release_chunk(struct tr2_reader *reader, uint32_t chunk);

/* A pinned chunk stays as it is and is not counted.  Once unpinned it is released like any other. */
void tr2_ring_pin_chunk(struct tr2_reader *reader, uint32_t chunk);
void tr2_ring_unpin_chunk(struct tr2_reader *reader, uint32_t chunk);

/* The first chain of a pinned chunk from event on.  Return  the event behind it; 0: there is none */
uint32_t tr2_ring_read_pinned(uint32_t chunk, uint32_t event, struct tr2_chain *chain);

/*
 * Remove the last chunk from a ring that has no owner, if all of it has been read.
 * is_dead  the owner has ended without committing its last reservation: skip these events
 * skipped  is set to how many that were
 * Return   index + 1 of the chunk to be released; 0: there is none, or something is left in it
 */
uint32_t tr2_ring_close(struct tr2_reader *reader, int is_dead, unsigned *skipped);

/*
 * tr2_ring_park()     park the position of a ring that has been read to its end.  An add of its thread may undo that
 *                     just then
 * tr2_ring_is_away()  1: the position is out of bounds, so that the next call takes the slow path; if it is aside, only
 *                     if the ring has been read to its end
 */
void tr2_ring_park(struct tr2_reader *reader);
int tr2_ring_is_away(const struct tr2_reader *reader);

/* 1 if the drain has nothing to do for the ring.  Reads two cache lines */
int tr2_ring_is_quiet(const struct tr2_reader *reader);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_reblock.h - chains from a ring file, in blocks as the drain would have made them: with the context they need.
 *
 * Blocks are numbered on from those of the stream in the .tlg file.  Each call that appends is followed by
 * t2x_reblock_take() when a block is wanted; a block has events of one thread, or of the process.
 */
#ifndef T2X_REBLOCK_H
#define T2X_REBLOCK_H

#include "t2x_ring.h"
#include "read/t2x_blocks.h"

enum { T2X_RETHREAD_OPEN = 256 };

/* Whose events a ring holds at some point. */
struct t2x_rethread {
	uint32_t tid, ostid;
	uint64_t start;
	char name[TLG_THREAD_NAME];
	uint32_t position;                /* events of the thread so far: the next chain's sequence - 1 */
	/* regions that were open when a forked child began, or at the oldest event that was not overwritten */
	unsigned nopen;
	int is_renamed;                   /* its name has to be written, though the thread is known */
	int is_repeated;                  /* they have to be written, though the thread is known */
	struct { uint64_t when; uint32_t scope; } open[T2X_RETHREAD_OPEN];   /* scope 0: not known */
};

struct t2x_reblock;

/* Return  NULL: no memory */
struct t2x_reblock *t2x_reblock_new(const struct t2x_ring *ring);
void t2x_reblock_free(struct t2x_reblock *reblock);

/* A block of the stream in the file. */
void t2x_reblock_follow(struct t2x_reblock *reblock, const struct t2x_block *block);

/* The raw clock and the time, read together: the later, the better the clock's rate is known. */
void t2x_reblock_know_clock(struct t2x_reblock *reblock, uint64_t raw, uint64_t ns);

/* Begin: a cycle if the file has none, and RECOVERED. */
void t2x_reblock_open(struct t2x_reblock *reblock);

/* A chain of n events, HIT or MORE.  Return  0: the block is full, take it and call again */
int t2x_reblock_chain(struct t2x_reblock *reblock, struct t2x_rethread *thread, const struct tlg_event *events,
		      unsigned n);

/* GAP: what the thread has dropped in front of what comes next.  Return  0: as above */
int t2x_reblock_gap(struct t2x_reblock *reblock, const struct t2x_rethread *thread, const struct tlg_event *event);

/* Nothing older comes.  Return  0: that is nothing new */
int t2x_reblock_mark(struct t2x_reblock *reblock, uint64_t when);

/* The totals of dropped events in the ring file; one of a thread that is not there yet. */
void t2x_reblock_losses(struct t2x_reblock *reblock);
void t2x_reblock_loss(struct t2x_reblock *reblock, uint32_t tid, unsigned reason, uint64_t total);

/* End: MARK, RECOVERED. */
void t2x_reblock_close(struct t2x_reblock *reblock, uint64_t hits, uint64_t in_flight);

/* The block that has been made, valid until the next append.  Return  0: there is none */
int t2x_reblock_take(struct t2x_reblock *reblock, struct t2x_block *block);

#endif

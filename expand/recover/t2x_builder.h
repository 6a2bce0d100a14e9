/* SPDX-License-Identifier: MIT */
/*
 * t2x_builder.h - builds blocks from the chains of a ring file, with the context that the drain would have written.
 *
 * The builder continues the block numbers of the stream in the .tlg file.  The caller appends chains or events of the
 * process and calls t2x_builder_finish() to get them as a block.  A block has events of one thread, or of the process.
 */
#ifndef T2X_BUILDER_H
#define T2X_BUILDER_H

#include "t2x_ring.h"
#include "read/t2x_blocks.h"

enum { T2X_RING_THREAD_OPEN = 256 };

/* The thread that owned a ring at some point, and how far its events have been read. */
struct t2x_ring_thread {
	uint32_t tid, ostid;
	uint64_t start;
	char name[TLG_THREAD_NAME];
	uint32_t position;                /* events of the thread so far: the next chain's sequence - 1 */
	int is_renamed;                   /* write its name again, even if readers know the thread */
	int is_repeated;                  /* write the open regions again, even if readers know the thread */
	/* regions that were open when a forked child began, or at the oldest event that was not overwritten */
	unsigned nopen;
	struct { uint64_t when; uint32_t scope; } open[T2X_RING_THREAD_OPEN];   /* scope 0: not known */
};

struct t2x_builder;

/* Return  NULL: no memory */
struct t2x_builder *t2x_builder_new(const struct t2x_ring *ring);
void t2x_builder_free(struct t2x_builder *builder);

/* Follow a block of the stream in the .tlg file: the builder need not repeat the threads that it defines. */
void t2x_builder_follow(struct t2x_builder *builder, const struct t2x_block *block);

/* A pair of raw clock and time, read together.  The latest pair counts, because it gives the most exact rate. */
void t2x_builder_set_clock(struct t2x_builder *builder, uint64_t raw, uint64_t ns);

/*
 * The same for a process that lives and has taken no pair for more than a second after its start: two pairs that lie
 * microseconds apart give a rate that is wrong by per cents.  The reader reads both clocks itself.
 */
void t2x_builder_set_now(struct t2x_builder *builder);

/* Append what begins the recovered events: PROLOGUE and CYCLE if the file has no block of the stream, and RECOVERED. */
void t2x_builder_open(struct t2x_builder *builder);

/* Append a chain of n events, HIT or MORE.  Return  0: the block is full, finish it and call again */
int t2x_builder_chain(struct t2x_builder *builder, struct t2x_ring_thread *thread, const struct tlg_event *events,
		      unsigned n);

/* Append a GAP: events that the thread dropped in front of its next chain.  Return  0: as above */
int t2x_builder_gap(struct t2x_builder *builder, const struct t2x_ring_thread *thread, const struct tlg_event *event);

/* Append a MARK: no older event follows.  Return  0: an earlier MARK said so already, nothing was appended */
int t2x_builder_mark(struct t2x_builder *builder, uint64_t when);

/* Append the totals of dropped events in the ring file; one total that is not in the file's table yet. */
void t2x_builder_losses(struct t2x_builder *builder);
void t2x_builder_loss(struct t2x_builder *builder, uint32_t tid, unsigned reason, uint64_t total);

/* Append what ends the recovered events: MARK, RECOVERED. */
void t2x_builder_close(struct t2x_builder *builder, uint64_t hits, uint64_t in_flight);

/* Complete the block and return it in *block, valid until the next append.  Return  0: nothing was appended */
int t2x_builder_finish(struct t2x_builder *builder, struct t2x_block *block);

#endif

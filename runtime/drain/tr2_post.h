/* SPDX-License-Identifier: MIT */
/*
 * tr2_post.h - from rings to the stream: puts chains into blocks, and the context that a reader needs in
 * front of them.
 *
 * Owns the stream's numbers (id, blocks, cycle) and the buffer in which blocks gather.  Knows neither threads'
 * rings nor files: tr2_drain.c feeds it, and takes the full buffer away.  Only the holder of the drain's lock
 * calls anything here.
 */
#ifndef TR2_POST_H
#define TR2_POST_H

#include <stddef.h>
#include <stdint.h>

#include "tlg_ring.h"

enum { TR2_OPEN_REGIONS = 256 };   /* of a thread, that a new cycle repeats */

/* What the stream knows about a thread. */
struct tr2_post_thread {
	uint32_t tid, ostid;
	uint64_t start;
	char name[32];
	uint32_t position;        /* events so far, lost ones included: the next chain's sequence - 1 */
	uint64_t overwritten;     /* checkpoints passed over, not counted as lost yet */
	uint32_t cycle;           /* cycle in which THREAD was last posted; 0: never */
	uint64_t last_when;
	uint64_t waits_since;     /* raw clock since when its next chain's scope is missing; 0: it is not */
	uint32_t depth;           /* open regions; the first TR2_OPEN_REGIONS are kept */
	uint32_t is_below_root;         /* it has left even its outermost level, see OPEN */
	uint32_t missing;         /* events in front of the next one of which nobody knows what they were */
	uint32_t doubt;           /* one more than are only assumed to be open, the outermost; 0: all is known */
	struct { uint64_t when; uint32_t scope; } open[TR2_OPEN_REGIONS];
};

/* Allocate the buffers.  0 or -errno.  Before anything else; again in a forked child. */
int tr2_post_init(void);

/* Begin a new stream with this id: the next event opens a cycle. */
void tr2_post_new_stream(uint32_t stream);

/* What every cycle says of the process.  utcoff: seconds east of UTC */
void tr2_post_set_process(const char *sid, int32_t utcoff);
const char *tr2_post_process(int32_t *utcoff);

/* Begin a new cycle with the next event. */
void tr2_post_next_cycle(void);

/* The thread of this ring is now another one: its numbers start afresh, without open regions. */
void tr2_post_thread(struct tr2_post_thread *thread, uint32_t tid, uint32_t ostid, uint64_t start, const char *name);

/* The thread has a region open that was entered at this time, inside those so far.  scope 0: it is not known */
static inline void tr2_post_enter_region(struct tr2_post_thread *thread, uint64_t when, uint32_t scope)
{
	if (thread->depth < TR2_OPEN_REGIONS) {
		thread->open[thread->depth].when = when;
		thread->open[thread->depth].scope = scope;
	}
	thread->depth++;
}

/*
 * Append a committed chain, HIT or MORE.
 * Return  1; 0: not enough room, take the buffer away and call again; -1: its scope cannot be read yet
 */
int tr2_post_chain(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned count);

/*
 * Append the first of these whole chains, HIT or MORE, as many as need no context and fit into the open block: the
 * drain's innermost loop.  The next one is for tr2_post_chain().
 * n       events in all    Return  events appended    Cost  3 ns an event
 */
unsigned tr2_post_run(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned n);

/*
 * The thread's definition and its open regions, with their names, ahead of its next chain, if this cycle does not
 * have them yet.  Return  1; 0: not enough room
 */
int tr2_post_context(struct tr2_post_thread *thread);

/*
 * These whole chains, n events in all, are passed over: the thread's state follows them, the stream does not have them.
 * Return  events, up to the first chain of another thread    Signal safe    Cost  3 ns each
 */
unsigned tr2_post_skip(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned n);

/* So many events of the thread are missing here. */
void tr2_post_gap(struct tr2_post_thread *thread, uint64_t events);

/*
 * GAP: what some of these were.  Return  1; 0: not enough room, take the buffer away and call again
 * tr2_post_skip_lost()  the same of a ring that is passed over    Signal safe
 */
int tr2_post_lost(struct tr2_post_thread *thread, const struct tlg_event *event);
void tr2_post_skip_lost(struct tr2_post_thread *thread, const struct tlg_event *event);

/* The thread's open regions as OPEN has them, the one at `at` of at most so many.  Return  0: there is none */
int tr2_post_open_region(const struct tr2_post_thread *thread, unsigned at, unsigned most, struct tlg_open *open);

/* Count a loss; it is posted with the next tr2_post_losses(). */
void tr2_post_loss(uint32_t tid, unsigned reason, uint64_t count);

/* HITs in the stream so far; its id; its last block that is sealed, and the cycle. */
uint64_t tr2_post_stored(void);
uint32_t tr2_post_stream(void);
uint32_t tr2_post_blocks(uint32_t *cycle);

/* Append what is due: the losses that have changed; MARK; END.  Return as tr2_post_chain(). */
int tr2_post_losses(void);
int tr2_post_mark(uint64_t when);
int tr2_post_end(unsigned reason);

/* The buffer: whole plain blocks without checksums, bytes of them; empty it with tr2_post_taken(). */
struct tlg_event *tr2_post_buffer(size_t *bytes);
void tr2_post_taken(void);

/* Of the buffer only so many bytes, whole blocks, were written: count what is lost, and post all context again. */
void tr2_post_failed(size_t written);

#endif

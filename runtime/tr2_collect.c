/* SPDX-License-Identifier: MIT */
/* tr2_collect.c - one ring's chains into the stream's buffer, the buffer into the sink. */
#include "tr2_collect.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "tr2_clock.h"
#include "tr2_env.h"
#include "tr2_futex.h"
#include "tr2_keep.h"
#include "tr2_memory.h"
#include "tr2_overwrite.h"
#include "tr2_post.h"
#include "tr2_reader.h"
#include "tr2_sink.h"

enum {
	QUOTA_EVENTS = 2 * TLG_CHUNK_EVENTS,   /* of one ring in one pass: a reader can then merge with little memory */
	RUN_EVENTS = 256,                      /* looked at, then copied: they stay in the nearest cache */
	HURRY = 4,                             /* so many times behind: half a millisecond at full speed is less */
	WRITE_BYTES = 65536,                   /* worth a write */
	WRITE_AGE_MS = 50,                     /* of what is worth less */
	SNAPSHOT_PATIENCE_US = 2000,           /* with an unfinished event, before going around it */
	SNAPSHOT_PAUSES = 50,                  /* of 100 us, while there is nothing but unfinished events */
};

static struct collect {
	uint64_t unwritten_since;              /* raw clock: events have been in the buffer; 0: none */
	uint32_t progress;                     /* a futex */
	int is_awaited;                        /* a thread has begun to wait for it since the last pass */
	int is_behind;                         /* a ring had more than its quota since the last question */
	unsigned times_behind;                 /* questions in a row to which the answer was yes */
	unsigned nfreed;
} g_collect;

TR2_LARGE static uint32_t g_freed[TLG_MAX_CHUNKS];   /* chunks read, to be released after the write */

void tr2_collect_reset(void)
{
	memset(&g_collect, 0, sizeof(g_collect));
}

uint32_t tr2_collect_progress(void)
{
	return tr2_load_rlx(&g_collect.progress); /* relaxed: a hint to look again */
}

void tr2_collect_await(uint32_t seen, unsigned ms)
{
	const struct timespec timeout = { ms / 1000, (long)(ms % 1000) * 1000000 };

	tr2_store_rlx(&g_collect.is_awaited, 1); /* relaxed: a hint; the timeout is the guarantee */
	tr2_futex_wait(&g_collect.progress, seen, &timeout);
}

int tr2_collect_is_awaited(void)
{
	return tr2_load_rlx(&g_collect.is_awaited); /* relaxed: a hint */
}

int tr2_collect_was_behind(void)
{
	int was = g_collect.is_behind;

	g_collect.is_behind = 0;
	g_collect.times_behind = was ? g_collect.times_behind + 1 : 0;
	return was;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void release_chunks(void)
{
	for (unsigned i = 0; i < g_collect.nfreed; i++)
		tr2_ring_release_chunk(g_freed[i] - 1);
	if (g_collect.nfreed)
		tr2_add_rlx(&g_collect.progress, 1); /* relaxed: only says that looking again may help */
	if (g_collect.nfreed && tr2_g_settings.policy == TR2_POLICY_BLOCK)
		tr2_futex_wake(&g_collect.progress, INT_MAX);
	g_collect.nfreed = 0;
}

int tr2_collect_write(void)
{
	size_t bytes, stored;
	struct tlg_event *blocks = tr2_post_buffer(&bytes);
	int error;

	error = tr2_sink_write(blocks, bytes, g_collect.times_behind >= HURRY, &stored);
	if (error)
		tr2_post_failed(stored);
	else
		tr2_post_taken();
	g_collect.unwritten_since = 0;
	tr2_keep_written();
	release_chunks();
	return error;
}

/* Chunks wait for their release though there is nothing to write, or they are much of what a thread may have. */
static int is_short_of_chunks(size_t bytes)
{
	return g_collect.nfreed && (!bytes || g_collect.nfreed >= tr2_g_settings.ring_chunks / 4);
}

void tr2_collect_write_if_due(uint64_t now)
{
	int is_awaited = tr2_exchange_rlx(&g_collect.is_awaited, 0); /* relaxed: a hint */
	size_t bytes;

	tr2_post_buffer(&bytes);
	if (bytes && !g_collect.unwritten_since)
		g_collect.unwritten_since = now;
	if (bytes >= WRITE_BYTES || is_short_of_chunks(bytes) || (g_collect.nfreed && is_awaited) ||
	    (bytes && now - g_collect.unwritten_since > tr2_clock_ticks(WRITE_AGE_MS * UINT64_C(1000000))))
		tr2_collect_write();
}

/* ---- one ring ----------------------------------------------------------------------------------- */

/*
 * A chain whose scope is not in the table: its writer is about to be done, so wait for it, but not for ever: the
 * memory may be damaged, the writer forked away.  0: it has to wait.
 */
static int give_up_chain(struct tr2_post_thread *post, const struct tr2_chain *chain, uint64_t now, uint64_t patience)
{
	if (!post->waits_since)
		post->waits_since = now;
	if (now - post->waits_since <= patience)
		return 0;
	post->waits_since = 0;
	tr2_post_loss(post->tid, TLG_LOSS_ABANDONED, 1);
	tr2_post_gap(post, chain->count);
	return 1;
}

static int post_chain(struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	if (tlg_event_type(chain->events) == TLG_GAP)
		return tr2_post_lost(post, chain->events);
	return tr2_post_chain(post, chain->events, chain->count);
}

/* Post one chain.  0: it has to wait. */
static int take_chain(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain,
		      uint64_t now, uint64_t patience)
{
	int posted;

	if (tlg_event_type(chain->events) == TLG_THREAD) {
		tr2_reader_change_thread(thread, post, chain);
		return 1;
	}
	if (tlg_event_type(chain->events) != TLG_GAP)
		tr2_reader_check_thread(post, chain->events->u.hit.tid);
	posted = post_chain(post, chain);
	if (!posted) {
		tr2_collect_write();
		posted = post_chain(post, chain);
	}
	if (posted < 0)
		return give_up_chain(post, chain, now, patience);
	post->waits_since = 0;
	return posted;
}

/* A chunk that has been read, to be released after the write that holds its events. */
static void free_chunk(uint32_t finished)
{
	if (finished && g_collect.nfreed == TLG_MAX_CHUNKS)
		tr2_collect_write();
	if (finished)
		g_freed[g_collect.nfreed++] = finished;
}

static void free_chunks(const struct tr2_ring *ring, uint64_t chunks)
{
	for (; chunks; chunks &= chunks - 1)
		free_chunk(ring->chunks[__builtin_ctzll(chunks)] + 1);
}

/* What committed late, in a hole: better out of order than never. */
static void take_late(struct tr2_thread *thread, struct tr2_post_thread *post, uint64_t now)
{
	struct tr2_chain chain;

	while (tr2_ring_late(&thread->ring, &chain)) {
		take_chain(thread, post, &chain, now, 0);
		free_chunk(tr2_ring_late_taken(&thread->ring, &chain));
	}
}

/* 1 if what the ring drops now is dropped by this thread. */
static int is_owned_by(const struct tr2_ring *ring, uint32_t tid)
{
	return tr2_load_rlx(&ring->head->tid) == tid; /* relaxed: a new owner's losses are counted once it is known */
}

/* The usual case, in one go: chains that only have to be copied.  Return  events */
static unsigned take_run(struct tr2_ring *ring, struct tr2_post_thread *post)
{
	const struct tlg_event *events;
	unsigned n = tr2_ring_run(ring, RUN_EVENTS, &events);

	if (n)
		n = tr2_post_run(post, events, n);
	if (n)
		tr2_ring_consume(ring, n);
	return n;
}

static int is_younger(const struct tr2_chain *chain, uint64_t until)
{
	return tlg_event_type(chain->events) != TLG_THREAD && chain->events->u.hit.when > until;
}

/*
 * One step of any kind, to nothing that is younger than until.  *taken grows by the events that went into the stream.
 * Return  0: the ring gives no more in this pass
 */
static int take_step(struct tr2_thread *thread, uint64_t now, uint64_t patience, uint64_t until, enum tr2_peek *peek,
		     unsigned *taken)
{
	struct tr2_ring *ring = &thread->ring;
	struct tr2_post_thread *post = thread->post;
	struct tr2_chain chain;

	*peek = tr2_ring_peek(ring, now, patience, &chain);
	tr2_post_gap(post, chain.skipped);
	if (*peek == TR2_PEEK_CHUNK) {
		free_chunk(tr2_ring_leave_chunk(ring));
		return 1;
	}
	if (*peek != TR2_PEEK_CHAIN || is_younger(&chain, until))
		return 0;
	tr2_reader_count_gap(thread, post, &chain);
	if (!take_chain(thread, post, &chain, now, patience)) {
		*peek = TR2_PEEK_BUSY;
		return 0;
	}
	tr2_ring_consume(ring, chain.count);
	*taken += chain.count;
	return 1;
}

uint64_t tr2_collect_ring(struct tr2_thread *thread, uint64_t now, uint64_t patience)
{
	struct tr2_ring *ring = &thread->ring;
	struct tr2_post_thread *post = tr2_reader_post(thread);
	enum tr2_peek peek = TR2_PEEK_EMPTY;
	unsigned taken = 0, run;

	if (!post)
		return now;
	take_late(thread, post, now);
	free_chunks(ring, tr2_ring_forget_renounced(ring));
	do {
		run = take_run(ring, post);
		taken += run;
	} while (taken < QUOTA_EVENTS && (run || take_step(thread, now, patience, UINT64_MAX, &peek, &taken)));
	if (taken >= QUOTA_EVENTS) {
		g_collect.is_behind = 1;
		return post->last_when;
	}
	if (peek == TR2_PEEK_EMPTY && is_owned_by(&thread->ring, post->tid))
		tr2_post_gap(post, tr2_ring_lost(ring, 1));
	return peek == TR2_PEEK_EMPTY ? now : post->last_when;
}

void tr2_collect_retire(struct tr2_thread *thread)
{
	struct tlg_ring *head = thread->ring.head;
	int error;

	if (!tr2_load_rlx(&head->has_owner)) /* relaxed: a hint; the mutex decides */
		return;
	error = pthread_mutex_trylock(tr2_shm_owner(head));
	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(tr2_shm_owner(head));
	if (error)
		return;
	free_chunks(&thread->ring, tr2_ring_forget_holes(&thread->ring));
	tr2_store_rlx(&head->has_owner, 0); /* relaxed: as above */
	pthread_mutex_unlock(tr2_shm_owner(head));
}

void tr2_collect_abandoned(struct tr2_thread *thread)
{
	struct tr2_post_thread *post = thread->post;

	if (post && thread->ring.abandoned) {
		tr2_post_loss(post->tid, TLG_LOSS_ABANDONED, thread->ring.abandoned);
		thread->ring.abandoned = 0;
	}
}

/* ---- snapshots ----------------------------------------------------------------------------------- */

/* Context goes first: regions that were entered long ago are open all the same. */
static void post_context(struct tr2_thread *thread, struct tr2_post_thread *post)
{
	int is_alive = (int)tr2_load_rlx(&thread->ring.head->has_owner); /* relaxed: a hint */

	if (!post->start || !(post->depth || post->is_bare) || !is_alive || tr2_post_context(post))
		return;
	tr2_collect_write();
	tr2_post_context(post);
}

/* All that the ring has up to then.  Return  why it ends */
static enum tr2_peek collect_until(struct tr2_thread *thread, uint64_t until)
{
	const uint64_t patience = tr2_clock_ticks(SNAPSHOT_PATIENCE_US * UINT64_C(1000)), now = tr2_clock_raw();
	struct tr2_post_thread *post = thread->post;
	enum tr2_peek peek = TR2_PEEK_EMPTY;
	unsigned taken = 0;

	take_late(thread, post, now);
	free_chunks(&thread->ring, tr2_ring_forget_renounced(&thread->ring));
	while (take_step(thread, now, patience, until, &peek, &taken))
		;
	if (peek == TR2_PEEK_EMPTY && is_owned_by(&thread->ring, post->tid))
		tr2_post_gap(post, tr2_ring_lost(&thread->ring, 1));
	return peek;
}

void tr2_collect_snapshot(struct tr2_thread *thread, uint64_t until)
{
	const struct timespec pause = { 0, 100000 };

	tr2_overwrite_hold(thread);
	if (tr2_reader_post(thread)) {
		post_context(thread, thread->post);
		for (int i = 0; i < SNAPSHOT_PAUSES && collect_until(thread, until) == TR2_PEEK_BUSY; i++)
			nanosleep(&pause, NULL);
	}
	tr2_collect_retire(thread);
	tr2_collect_abandoned(thread);
	tr2_overwrite_let_go(thread);
}

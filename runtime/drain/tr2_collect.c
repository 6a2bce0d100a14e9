/* SPDX-License-Identifier: MIT */
/* tr2_collect.c - one ring's chains into the stream's buffer, the buffer into the sink. */
#include "tr2_collect.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "tr2_blocks.h"
#include "tr2_cycle.h"
#include "tr2_overwrite.h"
#include "tr2_recovery.h"
#include "tr2_stream.h"
#include "base/tr2_clock.h"
#include "base/tr2_futex.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "output/tr2_sink.h"
#include "ring/tr2_losses.h"
#include "settings/tr2_env.h"

enum {
	QUOTA_EVENTS = 2 * TLG_CHUNK_EVENTS,   /* of one ring in one pass: so readers merge with little memory */
	RUN_EVENTS = 256,                      /* looked at, then copied: they stay in the nearest cache */
	END_BYTES = 1024,                      /* of END and a cycle in front of it, but for counts of dropped events */
	FAST_MODE = 4,                         /* from so many times behind: half a millisecond at full speed is less */
	WRITE_BYTES = 65536,                   /* worth a write */
	WRITE_AGE_MS = 50,                     /* of what is worth less */
	SNAPSHOT_TIMEOUT_US = 2000,            /* with an unfinished event, before it is passed by */
	SNAPSHOT_PAUSES = 50, PAUSE_NS = 100000,   /* while there is nothing but unfinished events */
	MAX_FREED = 256,
	CACHE_LINE = 64,
};

static struct collect {
	uint64_t unwritten_since;              /* raw clock: events have been in the buffer; 0: none */
	uint32_t progress;                     /* a futex */
	uint32_t waiting;                      /* threads that do */
	int is_awaited;                        /* a thread has begun to wait for it since the last pass */
	uint64_t moved;                        /* events that went from rings into the stream, so far */
	int is_behind;                         /* a ring had more than its quota since the last question */
	unsigned times_behind;                 /* questions in a row to which the answer was yes */
	unsigned nfreed;
} g_collect;

/* Chunks read, to be released after the write. */
TR2_LARGE static struct freed { struct tr2_reader *reader; uint32_t chunk; } g_freed[MAX_FREED];

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
	tr2_add_rlx(&g_collect.waiting, 1); /* relaxed: as above */
	tr2_futex_wait(&g_collect.progress, seen, &timeout);
	tr2_add_rlx(&g_collect.waiting, -1u); /* relaxed: as above */
}

void tr2_collect_let_wait(void)
{
	tr2_store_rlx(&g_collect.is_awaited, 0); /* relaxed: a hint */
}

int tr2_collect_is_awaited(void)
{
	return tr2_load_rlx(&g_collect.is_awaited); /* relaxed: a hint */
}

uint64_t tr2_collect_moved(void)
{
	return g_collect.moved;
}

int tr2_collect_was_behind(void)
{
	int was = g_collect.is_behind;

	g_collect.is_behind = 0;
	g_collect.times_behind = was ? g_collect.times_behind + 1 : 0;
	return was;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* Any thread may take what is freed, within its own bound. */
static void release_chunks(void)
{
	for (unsigned i = 0; i < g_collect.nfreed; i++)
		tr2_ring_release_chunk(g_freed[i].reader, g_freed[i].chunk - 1);
	if (g_collect.nfreed)
		tr2_add_rlx(&g_collect.progress, 1); /* relaxed: only says that looking again may help */
	if (g_collect.nfreed && tr2_load_rlx(&g_collect.waiting)) /* relaxed: a hint, the timeout is the guarantee */
		tr2_futex_wake(&g_collect.progress, tr2_g_settings.ring_bytes ? INT_MAX : (int)g_collect.nfreed);
	g_collect.nfreed = 0;
}

static int write_buffer(size_t room)
{
	size_t bytes, stored;
	struct tlg_event *blocks = tr2_blocks_buffer(&bytes);
	int error;

	error = tr2_sink_write(blocks, bytes, room, g_collect.times_behind >= FAST_MODE, &stored);
	if (error)
		tr2_cycle_write_failed(stored);
	else
		tr2_blocks_clear();
	g_collect.unwritten_since = 0;
	tr2_recovery_written();
	release_chunks();
	return error;
}

/* END has to find room, with a cycle of its own in front of it and twice the counts of what was dropped. */
int tr2_collect_write(void)
{
	return write_buffer(END_BYTES + 2 * TLG_EVENT_SIZE * (size_t)tr2_losses_bound());
}

int tr2_collect_write_end(void)
{
	return write_buffer(0);
}

/* Chunks wait for their release and there is nothing to write, or they are much of what threads may have. */
static int is_short_of_chunks(size_t bytes)
{
	size_t freed = (size_t)g_collect.nfreed * TLG_CHUNK_BYTES;

	return g_collect.nfreed && (!bytes || (tr2_g_settings.ring_bytes && freed >= tr2_g_settings.ring_bytes / 4) ||
				    tr2_pool_is_short());
}

void tr2_collect_write_if_due(uint64_t now, unsigned age_ms)
{
	const uint64_t age = tr2_clock_ticks((age_ms < WRITE_AGE_MS ? age_ms : WRITE_AGE_MS) * UINT64_C(1000000));
	int is_awaited = tr2_exchange_rlx(&g_collect.is_awaited, 0); /* relaxed: a hint */
	size_t bytes;

	tr2_blocks_buffer(&bytes);
	if (bytes && !g_collect.unwritten_since)
		g_collect.unwritten_since = now;
	if (bytes >= WRITE_BYTES || is_short_of_chunks(bytes) || (g_collect.nfreed && is_awaited) ||
	    (bytes && now - g_collect.unwritten_since >= age))
		tr2_collect_write();
}

int tr2_collect_has_written(void)
{
	size_t bytes;

	tr2_blocks_buffer(&bytes);
	return !bytes && !g_collect.nfreed;
}

/* ---- one ring ----------------------------------------------------------------------------------- */

/*
 * A chain whose scope is not in the table yet: its writer is about to be done.  But the memory may be damaged, or the
 * writer left behind by a fork, so time out.  0: it has to wait.
 */
static int give_up_chain(struct tr2_track *track, const struct tr2_chain *chain, uint64_t now, uint64_t timeout)
{
	if (!track->waits_since)
		track->waits_since = now;
	if (now - track->waits_since <= timeout)
		return 0;
	track->waits_since = 0;
	tr2_losses_add(track->tid, TLG_LOSS_ABANDONED, 1);
	tr2_track_skip_missing(track, chain->count);
	return 1;
}

/* Append one chain to the stream.  0: it has to wait. */
static int take_chain(struct tr2_thread *thread, struct tr2_track *track, const struct tr2_chain *chain,
		      uint64_t now, uint64_t timeout)
{
	int appended;

	switch (tlg_event_type(chain->events)) {
	case TLG_THREAD:
		if (!tr2_track_change_thread(thread, track, chain))
			tr2_stream_append_context(track);   /* a name: nothing else of the thread may follow */
		return 1;
	case TLG_GAP:
		appended = tr2_stream_append_gap(track, &chain->events->u.gap);
		break;
	default:
		tr2_track_check_thread(track, chain->events->u.hit.tid);
		appended = tr2_stream_append(track, chain->events, chain->count);
	}
	if (appended < 0)
		return give_up_chain(track, chain, now, timeout);
	track->waits_since = 0;
	return appended;
}

/* A chunk that has been read, to be released after the write that holds its events. */
static void free_chunk(struct tr2_reader *reader, uint32_t finished)
{
	if (finished && g_collect.nfreed == MAX_FREED)
		tr2_collect_write();
	if (finished)
		g_freed[g_collect.nfreed++] = (struct freed){ reader, finished };
}

static void free_chunks(struct tr2_reader *reader, uint32_t first)
{
	for (uint32_t chunk = first, next; chunk; chunk = next) {
		next = tr2_pool_next(chunk - 1);
		free_chunk(reader, chunk);
	}
}

/* What was abandoned and then committed, late: better out of order than never. */
static void take_late(struct tr2_thread *thread, struct tr2_track *track, uint64_t now)
{
	struct tr2_chain chain;

	while (tr2_ring_late(&thread->reader, &chain)) {
		take_chain(thread, track, &chain, now, 0);
		free_chunk(&thread->reader, tr2_ring_late_taken(&thread->reader, &chain));
	}
}

/* 1 if what the ring drops now is dropped by this thread. */
static int is_owned_by(const struct tr2_ring *ring, uint32_t tid)
{
	return tr2_load_rlx(&ring->head->tid) == tid; /* relaxed: a new owner's drops are counted once it is known */
}

/* The next run is in the caches of the processor that recorded it: have it come while this one is copied. */
static void prefetch(const struct tlg_event *run)
{
	const char *line = (const char *)run;

	for (unsigned i = 0; i < RUN_EVENTS * TLG_EVENT_SIZE / CACHE_LINE; i++, line += CACHE_LINE)
		__builtin_prefetch(line);
}

/* The usual case: chains that only have to be copied.  Return  events */
static unsigned take_run(struct tr2_reader *reader, struct tr2_track *track)
{
	const struct tlg_event *events;
	unsigned n = tr2_ring_run(reader, RUN_EVENTS, &events);

	if (n >= RUN_EVENTS)
		prefetch(events + n);
	if (n)
		n = tr2_stream_append_run(track, events, n);
	if (n)
		tr2_ring_consume(reader, n);
	return n;
}

static int is_younger(const struct tr2_chain *chain, uint64_t until)
{
	return tlg_event_type(chain->events) != TLG_THREAD && chain->events->u.hit.when > until;
}

/*
 * What is in the next chunk is younger than that, also where no event tells its time.  A flight recorder's first chunk
 * is in the file now, if it is this one: nothing has to stay.
 */
static void leave_chunk(struct tr2_thread *thread)
{
	struct tr2_track *track = thread->reader.track;
	uint32_t left = thread->reader.chunk, next;

	free_chunk(&thread->reader, tr2_ring_leave_chunk(&thread->reader));
	next = thread->reader.chunk;
	if (next && tr2_shm_chunk(next - 1)->opened > track->last_when)
		track->last_when = tr2_shm_chunk(next - 1)->opened;
	if (left && left == thread->reader.pinned.chunk)
		thread->reader.pinned.chunk = 0;
}

/*
 * One step of any kind, to nothing that is younger than until.  *taken grows by the events that went into the stream.
 * Return  0: the ring gives no more in this pass
 */
static int take_step(struct tr2_thread *thread, uint64_t now, uint64_t timeout, uint64_t until, enum tr2_peek *peek,
		     unsigned *taken)
{
	struct tr2_reader *reader = &thread->reader;
	struct tr2_track *track = thread->reader.track;
	struct tr2_chain chain;

	*peek = tr2_ring_peek(reader, now, timeout, &chain);
	tr2_track_skip_missing(track, chain.skipped);
	if (*peek == TR2_PEEK_CHUNK) {
		leave_chunk(thread);
		return 1;
	}
	if (*peek != TR2_PEEK_CHAIN || is_younger(&chain, until))
		return 0;
	tr2_track_count_missing(thread, track, &chain);
	if (!take_chain(thread, track, &chain, now, timeout)) {
		*peek = TR2_PEEK_BUSY;
		return 0;
	}
	tr2_ring_consume(reader, chain.count);
	*taken += chain.count;
	return 1;
}

uint64_t tr2_collect_ring(struct tr2_thread *thread, uint64_t now, uint64_t timeout)
{
	struct tr2_reader *reader = &thread->reader;
	struct tr2_track *track = tr2_track_of(thread);
	enum tr2_peek peek = TR2_PEEK_EMPTY;
	unsigned taken = 0, run;

	if (!track || tr2_ring_is_quiet(reader))
		return now;
	tr2_recovery_note(thread);
	take_late(thread, track, now);
	free_chunks(reader, tr2_ring_forget_dead(reader));
	do {
		run = take_run(reader, track);
		taken += run;
	} while (taken < QUOTA_EVENTS && (run || take_step(thread, now, timeout, UINT64_MAX, &peek, &taken)));
	g_collect.moved += taken;
	if (taken >= QUOTA_EVENTS) {
		g_collect.is_behind = 1;
		return track->last_when;
	}
	if (peek == TR2_PEEK_EMPTY && is_owned_by(&thread->ring, track->tid))
		tr2_track_skip_missing(track, tr2_ring_lost(reader, 1));
	return peek == TR2_PEEK_EMPTY ? now : track->last_when;
}

/* All that it has given is in the stream: the ring needs no chunk before somebody records in it again. */
static void take_last_chunk(struct tr2_thread *thread, int is_dead)
{
	unsigned skipped;
	uint32_t closed = tr2_ring_close(&thread->reader, is_dead, &skipped);

	if (closed && thread->reader.track)
		tr2_track_skip_missing(thread->reader.track, skipped);
	free_chunk(&thread->reader, closed);
}

void tr2_collect_retire(struct tr2_thread *thread)
{
	enum tr2_owner owner = tr2_thread_seize(thread);

	if (owner == TR2_OWNER_ALIVE)
		return;
	tr2_recovery_note(thread);
	free_chunks(&thread->reader, tr2_ring_forget_all(&thread->reader));
	take_last_chunk(thread, owner == TR2_OWNER_DEAD);
	tr2_thread_release(thread);
}

void tr2_collect_abandoned(struct tr2_thread *thread)
{
	struct tr2_track *track = thread->reader.track;

	if (track && thread->reader.ndead) {
		tr2_losses_add(track->tid, TLG_LOSS_ABANDONED, thread->reader.ndead);
		thread->reader.ndead = 0;
	}
}

/* ---- snapshots ----------------------------------------------------------------------------------- */

/* Context goes first: regions that were entered long ago are open all the same. */
static void append_context(struct tr2_thread *thread, struct tr2_track *track)
{
	int is_alive = (int)tr2_load_rlx(&thread->ring.head->has_owner); /* relaxed: a hint */

	if (track->start && (track->depth || track->is_below_root) && is_alive)
		tr2_stream_append_context(track);
}

TR2_LARGE static struct tr2_track g_start;   /* whose the pinned chunk is, followed through it */

/* *is_identity: of the present checkpoint, also for its arguments, which follow in chains of their own */
static void append_pinned_chain(const struct tr2_chain *chain, int *is_identity)
{
	tr2_track_skip_missing(&g_start, chain->skipped);
	if (tlg_event_type(chain->events) == TLG_THREAD) {
		tr2_track_meet_thread(&g_start, chain);
		return;
	}
	if (tlg_event_type(chain->events) == TLG_HIT)
		*is_identity = tr2_overwrite_is_identity(chain);
	if (!*is_identity) {
		tr2_track_skip_missing(&g_start, chain->count);
		return;
	}
	tr2_track_check_thread(&g_start, chain->events->u.hit.tid);
	tr2_stream_append(&g_start, chain->events, chain->count);
}

/* How the process began: the pinned chunk, if it was passed over to overwrite what is behind it. */
static void append_start(struct tr2_thread *thread)
{
	struct tr2_pinned *pinned = &thread->reader.pinned;
	struct tr2_chain chain;
	uint32_t event;
	int is_identity = 0;

	if (!pinned->chunk || !pinned->is_passed)
		return;
	memset(&g_start, 0, sizeof(g_start));
	event = tr2_shm_chunk(pinned->chunk - 1)->first;
	while ((event = tr2_ring_read_pinned(pinned->chunk - 1, event, &chain)))
		append_pinned_chain(&chain, &is_identity);
	tr2_ring_unpin_chunk(&thread->reader, pinned->chunk - 1);
	free_chunk(&thread->reader, pinned->chunk);
	*pinned = (struct tr2_pinned){ .chunk = 0 };
}

/* All that the ring has up to then.  Return  why it ends */
static enum tr2_peek collect_until(struct tr2_thread *thread, uint64_t until)
{
	const uint64_t timeout = tr2_clock_ticks(SNAPSHOT_TIMEOUT_US * UINT64_C(1000)), now = tr2_clock_raw();
	struct tr2_track *track = thread->reader.track;
	enum tr2_peek peek = TR2_PEEK_EMPTY;
	unsigned taken = 0;

	tr2_recovery_note(thread);
	take_late(thread, track, now);
	free_chunks(&thread->reader, tr2_ring_forget_dead(&thread->reader));
	while (take_step(thread, now, timeout, until, &peek, &taken))
		;
	if (peek == TR2_PEEK_EMPTY && is_owned_by(&thread->ring, track->tid))
		tr2_track_skip_missing(track, tr2_ring_lost(&thread->reader, 1));
	return peek;
}

uint64_t tr2_collect_snapshot(struct tr2_thread *thread, uint64_t since, uint64_t until)
{
	if (!tr2_overwrite_hold(thread))
		return 0;
	if (tr2_track_of(thread)) {
		tr2_overwrite_skip_until(thread, since);
		append_start(thread);
		append_context(thread, thread->reader.track);
		for (int i = 0; i < SNAPSHOT_PAUSES && collect_until(thread, until) == TR2_PEEK_BUSY; i++)
			tr2_sys_sleep(PAUSE_NS);
	}
	tr2_collect_retire(thread);
	tr2_collect_abandoned(thread);
	tr2_recovery_see(thread);
	tr2_overwrite_release(thread);
	return until;
}

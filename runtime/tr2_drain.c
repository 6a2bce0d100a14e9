/* SPDX-License-Identifier: MIT */
/* tr2_drain.c - passes over the rings. */
#include "tr2_drain.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tr2_clock.h"
#include "tr2_losses.h"
#include "tr2_post.h"
#include "tr2_reg.h"
#include "tr2_sid.h"
#include "tr2_sink.h"

enum {
	QUOTA_EVENTS = 2 * TR2_CHUNK_EVENTS,   /* of one ring in one pass: a reader can then merge with little memory */
	PATIENCE_US = 10000,                   /* with an unfinished event, before going around it */
	LAST_PATIENCE_US = 2000,               /* the same when the process ends */
	FLUSH_PASSES = 2 * TR2_RING_CHUNKS,    /* of a flush: a busy thread must not keep it for ever */
	FLUSH_PAUSES = 50,                     /* of 100 us, while there is nothing but unfinished events */
	WRITE_BYTES = 65536,                   /* worth a write */
	WRITE_AGE_MS = 50,                     /* of what is worth less */
	FLUSH_WAIT_MS = 1000,
};

static struct drain {
	uint32_t lock;                         /* [M5] */
	int finished;
	uint64_t unwritten_since;              /* raw clock of the oldest unwritten event; 0: none */
	uint64_t progress;
	unsigned nfreed;
	uint32_t freed[TR2_MAX_CHUNKS];        /* chunks read, to be released after the write */
} g_drain;

/* ---- the lock ----------------------------------------------------------------------------------- */

static int lock_drain(void)
{
	/* [M5] acquire: the last pass's state.  Pairs with unlock_drain() */
	return tr2_cas_acq_rel(&g_drain.lock, 0, 1);
}

static void unlock_drain(void)
{
	tr2_store_rel(&g_drain.lock, 0); /* [M5] release: this pass's state.  Pairs with lock_drain() */
}

static int lock_within(int wait_ms)
{
	const struct timespec pause = { 0, 100000 };

	for (int i = 0; !lock_drain(); i++) {
		if (i >= wait_ms * 10)
			return 0;
		nanosleep(&pause, NULL);
	}
	return 1;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void release_chunks(void)
{
	for (unsigned i = 0; i < g_drain.nfreed; i++)
		tr2_ring_release_chunk(g_drain.freed[i] - 1);
	if (g_drain.nfreed)
		tr2_add_rlx(&g_drain.progress, 1); /* relaxed: only says that looking again may help */
	g_drain.nfreed = 0;
}

/* Write the buffer; what cannot be written is lost, and counted. */
static void write_buffer(void)
{
	size_t bytes;
	const struct tlg_event *blocks = tr2_post_buffer(&bytes);

	if (tr2_sink_write(blocks, bytes))
		tr2_post_failed();
	else
		tr2_post_taken();
	g_drain.unwritten_since = 0;
	release_chunks();
}

/* ---- one ring ----------------------------------------------------------------------------------- */

static struct tr2_post_thread *post_of(struct tr2_thread *thread)
{
	void *memory = thread->post;

	if (!memory) {
		memory = mmap(NULL, sizeof(struct tr2_post_thread), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		thread->post = memory == MAP_FAILED ? NULL : memory;
	}
	return thread->post;
}

static void count_lost(struct tr2_thread *thread, struct tr2_post_thread *post, int up_to_now)
{
	uint64_t events, hits = tr2_ring_lost(&thread->ring, up_to_now, &events);

	tr2_post_loss(post->tid, TLG_LOSS_FULL, hits);
	tr2_post_gap(post, events);
}

/* THREAD in a ring: whose events follow, what the one before lost, which regions are open. */
static void change_thread(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	const struct tlg_event *event = chain->events;
	char name[32] = "";
	uint64_t seen = thread->ring.seen_hits, hits = (uint64_t)event[1].u.value.value;
	unsigned first_text = 3, i;
	size_t at = 0;

	if (hits > seen) {
		tr2_post_loss(post->tid, TLG_LOSS_FULL, hits - seen);
		thread->ring.seen_hits = hits;
	}
	if ((uint64_t)event[2].u.value.value > thread->ring.seen_events)
		thread->ring.seen_events = (uint64_t)event[2].u.value.value;
	while (first_text < chain->count && tlg_event_type(&event[first_text]) == TLG_VALUE)
		first_text++;
	for (i = first_text; i < chain->count && at + TLG_TEXT_SIZE <= sizeof(name); i++, at += TLG_TEXT_SIZE)
		memcpy(name + at, event[i].u.info.text.c, TLG_TEXT_SIZE);
	name[sizeof(name) - 1] = '\0';
	tr2_post_thread(post, event->u.thread.tid, event->u.thread.ostid, event->u.thread.start, name);
	for (i = 3; i < first_text; i++)
		tr2_post_open_region(post, (uint64_t)event[i].u.value.value);
}

/* A HIT of a thread whose THREAD was dropped: the ring's head knows the latest owner. */
static void check_thread(struct tr2_thread *thread, struct tr2_post_thread *post, uint32_t tid)
{
	const struct tr2_ring_head *head = thread->ring.head;

	if (post->tid == tid && post->start)
		return;
	if (head->tid == tid)
		tr2_post_thread(post, tid, head->ostid, head->start, head->name);
	else
		tr2_post_thread(post, tid, 0, tr2_clock_start(), "?");
}

/* Post one chain.  0: it has to wait. */
static int take_chain(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	int posted;

	if (tlg_event_type(chain->events) == TLG_THREAD) {
		change_thread(thread, post, chain);
		return 1;
	}
	check_thread(thread, post, chain->events->u.hit.tid);
	posted = tr2_post_chain(post, chain->events, chain->count);
	if (!posted) {
		write_buffer();
		posted = tr2_post_chain(post, chain->events, chain->count);
	}
	return posted > 0;
}

/* A chunk that has been read, to be released after the write that holds its events. */
static void free_chunk(uint32_t finished)
{
	if (finished && g_drain.nfreed == TR2_MAX_CHUNKS)
		write_buffer();
	if (finished)
		g_drain.freed[g_drain.nfreed++] = finished;
}

/* What committed late, in a hole: better out of order than never. */
static void take_late(struct tr2_thread *thread, struct tr2_post_thread *post)
{
	struct tr2_chain chain;

	while (tr2_ring_late(&thread->ring, &chain)) {
		take_chain(thread, post, &chain);
		free_chunk(tr2_ring_late_taken(&thread->ring, &chain));
	}
}

/*
 * Move what is committed in one ring, at most the quota.
 * Return  the raw clock below which nothing more will come from it
 */
static uint64_t drain_ring(struct tr2_thread *thread, uint64_t now, uint64_t patience)
{
	struct tr2_ring *ring = &thread->ring;
	struct tr2_post_thread *post = post_of(thread);
	struct tr2_chain chain;
	enum tr2_peek peek = TR2_PEEK_EMPTY;

	if (!post)
		return now;
	take_late(thread, post);
	for (unsigned taken = 0; taken < QUOTA_EVENTS; taken += chain.count) {
		chain.count = 0;
		peek = tr2_ring_peek(ring, now, patience, &chain);
		tr2_post_gap(post, chain.skipped);
		if (peek == TR2_PEEK_CHUNK) {
			free_chunk(tr2_ring_leave_chunk(ring));
			count_lost(thread, post, 0);
			continue;
		}
		if (peek != TR2_PEEK_CHAIN)
			break;
		if (!take_chain(thread, post, &chain)) {
			peek = TR2_PEEK_BUSY;
			break;
		}
		tr2_ring_consume(ring, chain.count);
	}
	if (peek == TR2_PEEK_EMPTY)
		count_lost(thread, post, 1);
	return peek == TR2_PEEK_EMPTY ? now : post->last_when;
}

/* Its thread is gone: nobody will fill the holes; the next thread may have the ring. */
static void retire_ring(struct tr2_thread *thread)
{
	struct tr2_ring_head *head = thread->ring.head;
	int error;

	if (!tr2_load_rlx(&head->has_owner)) /* relaxed: a hint; the mutex decides */
		return;
	error = pthread_mutex_trylock(&head->owner);
	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(&head->owner);
	if (error)
		return;
	tr2_ring_forget_holes(&thread->ring);
	tr2_store_rlx(&head->has_owner, 0); /* relaxed: as above */
	pthread_mutex_unlock(&head->owner);
}

static void count_abandoned(struct tr2_thread *thread)
{
	struct tr2_post_thread *post = thread->post;

	if (post && thread->ring.abandoned) {
		tr2_post_loss(post->tid, TLG_LOSS_ABANDONED, thread->ring.abandoned);
		thread->ring.abandoned = 0;
	}
}

/* ---- a pass ------------------------------------------------------------------------------------- */

/* Events may be a little older than the position tells that reserved them: their thread's store buffer. */
static uint64_t margin_ticks(void)
{
	return tr2_clock_ticks(10000);
}

static uint64_t age_ticks(void)
{
	return tr2_clock_ticks(WRITE_AGE_MS * UINT64_C(1000000));
}

/* MARK and the losses, behind what the pass has moved. */
static void post_summary(uint64_t when)
{
	tr2_losses_collect();
	if (!tr2_post_losses()) {
		write_buffer();
		tr2_post_losses();
	}
	if (!tr2_post_mark(when)) {
		write_buffer();
		tr2_post_mark(when);
	}
}

enum pass { PASS_IDLE, PASS_MOVED, PASS_WAITING };

/* Once through all rings. */
static enum pass pass(unsigned patience_us)
{
	uint64_t now = tr2_clock_raw(), low = now, before = tr2_post_stored();
	uint64_t patience = tr2_clock_ticks(patience_us * UINT64_C(1000));
	int is_waiting = 0;

	for (struct tr2_thread *thread = tr2_reg_first(); thread; thread = tr2_reg_next(thread)) {
		uint64_t until = drain_ring(thread, now, patience);
		is_waiting |= until != now;
		if (until < low)
			low = until;
		retire_ring(thread);
		count_abandoned(thread);
	}
	if (tr2_post_stored() == before && !tr2_losses_changed())
		return is_waiting ? PASS_WAITING : PASS_IDLE;
	post_summary(low - margin_ticks());
	if (!g_drain.unwritten_since)
		g_drain.unwritten_since = now;
	return PASS_MOVED;
}

int tr2_drain_pass(void)
{
	int moved;
	size_t bytes;

	if (!lock_drain())
		return 1;
	if (g_drain.finished || tr2_is_forked_child()) {
		unlock_drain();
		return 0;
	}
	moved = pass(PATIENCE_US) != PASS_IDLE;
	tr2_post_buffer(&bytes);
	if (bytes >= WRITE_BYTES || (bytes && tr2_clock_raw() - g_drain.unwritten_since > age_ticks()))
		write_buffer();
	unlock_drain();
	return moved;
}

/* All that is committed, into the file.  Signals blocked, lock held. */
static void drain_with(unsigned patience_us)
{
	const struct timespec pause = { 0, 100000 };
	enum pass result;

	for (int passes = 0, pauses = 0; passes < FLUSH_PASSES && pauses < FLUSH_PAUSES; passes++) {
		result = pass(patience_us);
		if (result == PASS_IDLE)
			break;
		pauses += result == PASS_WAITING;
		if (result == PASS_WAITING)
			nanosleep(&pause, NULL);
	}
	write_buffer();
}

static void drain_all(void)
{
	drain_with(PATIENCE_US);
}

/* Run fn under the lock, signals blocked, in the process that owns the state. */
static void with_lock(void (*fn)(void), int wait_ms)
{
	uint64_t mask;
	int saved = errno;

	if (!tr2_g_shm.head || tr2_is_forked_child())
		return;
	tr2_signals_block(&mask);
	if (lock_within(wait_ms)) {
		if (!g_drain.finished)
			fn();
		unlock_drain();
	}
	tr2_signals_restore(&mask);
	errno = saved;
}

void tr2_drain_flush(void)
{
	with_lock(drain_all, FLUSH_WAIT_MS);
}

void tr2_drain_next_cycle(void)
{
	with_lock(tr2_post_next_cycle, FLUSH_WAIT_MS);
}

static void end_stream(unsigned reason)
{
	if (!tr2_post_losses()) {
		write_buffer();
		tr2_post_losses();
	}
	if (!tr2_post_end(reason)) {
		write_buffer();
		tr2_post_end(reason);
	}
	write_buffer();
}

static void begin_stream(uint32_t stream)
{
	tr2_sink_begin_stream(stream);
	tr2_post_new_stream(stream);
}

static void rotate(void)
{
	drain_all();
	if (tr2_sink_open_next())
		return;   /* no new file: the old one goes on */
	end_stream(TLG_END_ROTATE);
	tr2_sink_go_on();
	begin_stream(tr2_sid_stream());
}

void tr2_drain_rotate(void)
{
	with_lock(rotate, FLUSH_WAIT_MS);
}

static unsigned g_end_reason = TLG_END_EXIT;

static void finish(void)
{
	drain_with(LAST_PATIENCE_US);
	for (struct tr2_thread *thread = tr2_reg_first(); thread; thread = tr2_reg_next(thread)) {
		tr2_ring_forget_holes(&thread->ring);
		count_abandoned(thread);
	}
	end_stream(g_end_reason);
	tr2_sink_close();
	g_drain.finished = 1;
	tr2_shm_unlink();
}

void tr2_drain_finish(unsigned reason)
{
	g_end_reason = reason;
	with_lock(finish, FLUSH_WAIT_MS);
}

int tr2_drain_instead(void)
{
	if (tr2_sink_allocates() || !lock_drain())
		return 0;
	if (!g_drain.finished)
		drain_all();
	unlock_drain();
	return 1;
}

uint64_t tr2_drain_progress(void)
{
	return tr2_load_rlx(&g_drain.progress); /* relaxed: a hint to look again */
}

/* ---- set-up ------------------------------------------------------------------------------------- */

int tr2_drain_init(uint32_t stream)
{
	int error = tr2_post_init();

	if (!error)
		error = tr2_sink_init();
	if (error)
		return error;
	begin_stream(stream);
	return 0;
}

static int g_held;                             /* 1 between the two calls around fork() */

void tr2_drain_before_fork(void)
{
	uint64_t mask;

	if (!tr2_self || tr2_is_forked_child())
		return;
	tr2_signals_block(&mask);
	g_held = lock_within(10);
	if (g_held && !g_drain.finished)
		drain_ring(tr2_self, tr2_clock_raw(), 0);
	tr2_signals_restore(&mask);
}

void tr2_drain_after_fork_parent(void)
{
	if (g_held)
		unlock_drain();
	g_held = 0;
}

unsigned tr2_drain_open_regions(const struct tr2_thread *parent, uint64_t enters[TR2_KEPT_REGIONS])
{
	const struct tr2_post_thread *post = parent->post;
	unsigned n = 0;

	static_assert((int)TR2_KEPT_REGIONS == (int)TR2_OPEN_REGIONS, "all that is kept is restated");
	for (; post && n < post->depth && n < TR2_OPEN_REGIONS; n++)
		enters[n] = post->open[n].when;
	return n;
}

void tr2_drain_reset(void)
{
	tr2_sink_reset();
	memset(&g_drain, 0, sizeof(g_drain));
	g_held = 0;
}

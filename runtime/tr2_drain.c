/* SPDX-License-Identifier: MIT */
/* tr2_drain.c - passes over the rings. */
#include "tr2_drain.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tlg_desc.h"
#include "tr2_clock.h"
#include "tr2_collect.h"
#include "tr2_env.h"
#include "tr2_keep.h"
#include "tr2_losses.h"
#include "tr2_mask.h"
#include "tr2_memory.h"
#include "tr2_overwrite.h"
#include "tr2_post.h"
#include "tr2_sid.h"
#include "tr2_sink.h"
#include "tr2_snapshot.h"

enum {
	PATIENCE_US = 10000,                   /* with an unfinished event, before going around it */
	LAST_PATIENCE_US = 2000,               /* the same when the process ends */
	FLUSH_PASSES = 128,                    /* and those for a full pool: a flush must come to an end */
	FLUSH_PAUSES = 50,                     /* of 100 us, while there is nothing but unfinished events */
	FLUSH_WAIT_MS = 1000,
};

static struct drain {
	uint32_t lock;                         /* [M5] */
	uint32_t passes;                       /* times that it was let go */
	uint32_t given_up;                     /* what passes was when somebody waited in vain, plus one; 0: never */
	int finished;
	int told;                              /* that there are losses */
	uint64_t held_back;                    /* raw clock: texts wait for a MARK behind it; 0: for none */
} g_drain;

/* ---- the lock ----------------------------------------------------------------------------------- */

/* The calling thread holds the lock.  What it calls to write may be the program's, and traced. */
static __thread int g_holds __attribute__((tls_model("initial-exec")));

static int lock_drain(void)
{
	/* [M5] acquire: the last pass's state.  Pairs with unlock_drain() */
	if (!tr2_cas_acq_rel(&g_drain.lock, 0, 1))
		return 0;
	g_holds = 1;
	return 1;
}

static void unlock_drain(void)
{
	g_holds = 0;
	tr2_store_rlx(&g_drain.passes, g_drain.passes + 1); /* relaxed: tells one holder from the next, no more */
	tr2_store_rel(&g_drain.lock, 0); /* [M5] release: this pass's state.  Pairs with lock_drain() */
}

/*
 * A drain that is stopped where it holds the lock, by a debugger or a machine that never schedules it, is waited for
 * once: not again by each of those who come behind.
 */
static int lock_within(unsigned wait_ms)
{
	const struct timespec pause = { 0, 100000 };
	uint32_t holder = tr2_load_rlx(&g_drain.passes) + 1; /* relaxed: see unlock_drain() */
	uint64_t begun = 0, now;

	while (!lock_drain()) {
		now = tr2_clock_raw();
		begun = begun ? begun : now;
		if (tr2_load_rlx(&g_drain.given_up) == holder) /* relaxed: as above */
			return 0;
		if (now - begun >= tr2_clock_ticks(wait_ms * UINT64_C(1000000))) {
			/* relaxed: as above */
			if (wait_ms >= FLUSH_WAIT_MS && tr2_load_rlx(&g_drain.passes) + 1 == holder)
				tr2_store_rlx(&g_drain.given_up, holder); /* relaxed: as above */
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	return 1;
}

/* ---- a pass ------------------------------------------------------------------------------------- */

/* Events may be a little older than the position tells that reserved them: their thread's store buffer. */
static uint64_t margin_ticks(void)
{
	return tr2_clock_ticks(10000);
}

/* Say once, to who asked for such things, that something is lost; a failing write has been reported already. */
static void tell_losses(void)
{
	unsigned bound = tr2_losses_bound();
	struct tlg_loss loss;

	for (unsigned i = 0; !g_drain.told && tr2_g_settings.dst_debug && i < bound; i++) {
		if (!tr2_losses_get(i, &loss) || loss.reason == TLG_LOSS_WRITE || loss.reason == TLG_LOSS_OVERWRITTEN)
			continue;
		g_drain.told = 1;
		tr2_warning("checkpoints are lost: ", tlg_loss_name(loss.reason));
	}
}

static void post_losses(void)
{
	tell_losses();
	if (!tr2_post_losses()) {
		tr2_collect_write();
		tr2_post_losses();
	}
}

/* MARK and the losses, behind what the pass has moved. */
static void post_summary(uint64_t when)
{
	post_losses();
	if (!tr2_post_mark(when)) {
		tr2_collect_write();
		tr2_post_mark(when);
	}
}

enum pass { PASS_IDLE, PASS_MOVED, PASS_WAITING };

/* Once through all rings. */
static enum pass pass(unsigned patience_us)
{
	uint64_t now = tr2_clock_raw(), low = now, before = tr2_post_stored();
	uint64_t patience = tr2_clock_ticks(patience_us * UINT64_C(1000));
	int is_waiting = 0, has_moved;

	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		uint64_t until = tr2_collect_ring(thread, now, patience);
		is_waiting |= until != now;
		if (until < low)
			low = until;
		tr2_collect_retire(thread);
		tr2_collect_abandoned(thread);
	}
	low -= margin_ticks();
	has_moved = tr2_post_stored() != before || tr2_losses_changed();
	if (!has_moved && (!g_drain.held_back || low < g_drain.held_back))
		return is_waiting ? PASS_WAITING : PASS_IDLE;
	if (has_moved)
		g_drain.held_back = tr2_sink_allocates() ? now : 0;
	post_summary(low);
	if (low >= g_drain.held_back)
		g_drain.held_back = 0;
	return PASS_MOVED;
}

static int is_flight(void)
{
	return tr2_g_settings.policy == TR2_POLICY_OVERWRITE;
}

/* What all rings hold now, as a cycle of its own. */
static void take_snapshot(void)
{
	uint32_t requests = tr2_snapshot_begin();
	uint64_t now = tr2_clock_raw();
	int is_whole = 1;

	tr2_post_next_cycle();
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		is_whole &= tr2_collect_snapshot(thread, now) == now;
	if (is_whole)
		post_summary(now - margin_ticks());
	else
		post_losses();   /* and no MARK: older events may come with the next one */
	tr2_collect_write();
	tr2_snapshot_end(requests);
}

static int take_snapshot_if_requested(void)
{
	if (!tr2_snapshot_is_requested())
		return 0;
	take_snapshot();
	return 1;
}

enum tr2_drain tr2_drain_pass(void)
{
	enum tr2_drain done = TR2_DRAIN_IDLE;

	if (!lock_drain())
		return TR2_DRAIN_MOVED;
	if (!g_drain.finished && !tr2_is_forked_child()) {
		if (is_flight() ? take_snapshot_if_requested() : pass(PATIENCE_US) != PASS_IDLE)
			done = TR2_DRAIN_MOVED;
		tr2_collect_write_if_due(tr2_clock_raw());
		if (tr2_collect_was_behind())
			done = TR2_DRAIN_BEHIND;
	}
	unlock_drain();
	return done;
}

/* The caller may be about to leave, by exec or _exit(): nothing may be held back.  0: nothing is */
static int wait_for_margin(void)
{
	uint64_t until = g_drain.held_back + margin_ticks();

	while (g_drain.held_back && tr2_clock_raw() < until)
		;   /* 10 us */
	return g_drain.held_back != 0;
}

/*
 * All that is committed, into the stream, and what does not fit there into the file.  Signals blocked, lock held.
 * Return  0: unfinished events were in the way, or threads were too busy
 */
static int drain_with(unsigned patience_us)
{
	const struct timespec pause = { 0, 100000 };
	const unsigned most = FLUSH_PASSES + tr2_pool_bound() / TR2_WHOLE_PAGES;
	int is_done = 0, pauses = 0;

	for (unsigned passes = 0; !is_done && passes < most && pauses < FLUSH_PAUSES; passes++) {
		enum pass result = pass(patience_us);
		is_done = result == PASS_IDLE && !wait_for_margin();
		pauses += result == PASS_WAITING;
		if (result == PASS_WAITING)
			nanosleep(&pause, NULL);
	}
	return is_done;
}

/* A flight recorder writes what it was asked for. */
static void drain_all(void)
{
	if (is_flight()) {
		take_snapshot_if_requested();
	} else {
		drain_with(PATIENCE_US);
		tr2_collect_write();
	}
}

/* Run fn under the lock, signals blocked, in the process that owns the state. */
static void with_lock(void (*fn)(void), unsigned wait_ms)
{
	uint64_t mask;
	int saved = errno;

	if (!tr2_g_shm.head || tr2_is_forked_child())
		return;
	tr2_mask_all(&mask);
	if (lock_within(wait_ms)) {
		if (!g_drain.finished)
			fn();
		unlock_drain();
	}
	tr2_mask_restore(&mask);
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

static int write_end(unsigned reason)
{
	post_losses();
	if (!tr2_post_end(reason)) {
		tr2_collect_write();
		tr2_post_end(reason);
	}
	return tr2_collect_write();
}

/*
 * END goes with what has not been written yet, for a write costs a short process 10 us.  If that was lost, another one
 * says so, which is small and may find room.  Return  0; -errno: the trace has no END
 */
static int end_stream(unsigned reason)
{
	int error = write_end(reason);

	return error ? write_end(reason) : 0;
}

static void begin_stream(uint32_t stream)
{
	tr2_sink_begin_stream(stream);
	tr2_post_new_stream(stream);
	tr2_keep_begin();
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

/* Of a flight recorder: nobody has asked for what is left. */
static void skip_all(void)
{
	take_snapshot_if_requested();
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		tr2_overwrite_skip(thread);
}

static void finish(void)
{
	int error;

	if (is_flight())
		skip_all();
	else if (!drain_with(LAST_PATIENCE_US))
		drain_with(0);   /* each of many has its patience, and what is behind them must not be lost for that */
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		tr2_ring_forget_holes(&thread->ring);
		tr2_collect_abandoned(thread);
	}
	error = end_stream(g_end_reason);
	tr2_sink_close();
	tr2_store_rlx(&g_drain.finished, 1); /* relaxed: read without the lock only as a hint */
	if (error && tr2_keep_has_file())
		tr2_shm_leave();
	else
		tr2_shm_unlink();
}

void tr2_drain_finish(unsigned reason)
{
	g_end_reason = reason;
	with_lock(finish, FLUSH_WAIT_MS);
}

int tr2_drain_may_come(void)
{
	return !g_holds && !tr2_load_rlx(&g_drain.finished); /* relaxed: a hint */
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

/* The calling thread has the lock for its fork(): others may be forking, too, and did not get it. */
static __thread int g_held __attribute__((tls_model("initial-exec")));
TR2_LARGE static struct tr2_post_thread g_ahead;         /* of a flight recorder: that thread as it is now */

void tr2_drain_before_fork(void)
{
	uint64_t mask;

	if (g_held || !tr2_thread_has_self())
		return;
	tr2_mask_all(&mask);
	g_held = lock_within(10);
	if (g_held && is_flight())
		tr2_overwrite_look_ahead(tr2_self, &g_ahead);
	else if (g_held && !g_drain.finished)
		tr2_collect_ring(tr2_self, tr2_clock_raw(), 0);
	tr2_mask_restore(&mask);
}

void tr2_drain_after_fork_parent(void)
{
	if (!g_held || tr2_is_forked_child())
		return;
	g_held = 0;
	unlock_drain();
}

unsigned tr2_drain_open_regions(const struct tr2_thread *parent, uint64_t enters[TR2_KEPT_REGIONS])
{
	const struct tr2_post_thread *post = !is_flight() ? parent->post : g_held ? &g_ahead : NULL;
	unsigned n = 0;

	static_assert((int)TR2_KEPT_REGIONS == (int)TR2_OPEN_REGIONS, "all that is kept is restated");
	g_held = 0;
	if (!post)
		return 0;
	if (post->is_bare)
		enters[n++] = 0;
	for (unsigned i = 0; i < post->depth && n < TR2_OPEN_REGIONS; i++)
		enters[n++] = post->open[i].when;
	return n;
}

void tr2_drain_reset(void)
{
	tr2_collect_reset();
	tr2_keep_reset();
	memset(&g_drain, 0, sizeof(g_drain));
	g_holds = g_held = 0;
}

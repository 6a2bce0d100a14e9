/* SPDX-License-Identifier: MIT */
/* tr2_drain.c - passes over the rings, and what a pass may be asked for. */
#include "tr2_drain.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tlg_desc.h"
#include "tr2_collect.h"
#include "tr2_cycle.h"
#include "tr2_lock.h"
#include "tr2_overwrite.h"
#include "tr2_recovery.h"
#include "tr2_stream.h"
#include "base/tr2_clock.h"
#include "base/tr2_fd.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_progress.h"
#include "base/tr2_tsan.h"
#include "output/tr2_sink.h"
#include "ring/tr2_losses.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

enum {
	TIMEOUT_US = 10000,                   /* with an unfinished event, before going around it */
	LAST_TIMEOUT_US = 2000,               /* the same when the process ends */
	FLUSH_US = 5000,                      /* and twice the timeout: without progress, until a flush gives up ... */
	FLUSH_PAUSES = 50,                    /* ... and so many pauses: it may have had no processor in that time */
	FEW_RINGS = 64,                        /* visited by every pass */
	REST_NS = 1600,                        /* for each of more, between two visits of all: one costs about 100 */
	STANDS_BACK = 8,                       /* passes in a row that the drain's thread leaves to others who wait */
};

static struct drain {
	uint32_t cycle_asked;                  /* a thread wants a new cycle, and could not begin it itself */
	int finished;
	int reported;                          /* that events were dropped */
	int wants_files;                       /* a thread of the program is to open some */
	uint32_t left[TR2_DRAIN_TASKS];        /* 1: to be done by the thread's next pass */
	uint64_t whole_at;                     /* raw clock: the last pass that visited all rings began */
	uint64_t held_back;                    /* raw clock: text outputs wait for a MARK behind it; 0: for none */
} g_drain;

/* ---- a pass ------------------------------------------------------------------------------------- */

/* An event may be seen a little later than its reservation: it may be in the store buffer of its thread's processor. */
static uint64_t margin_ticks(void)
{
	return tr2_clock_ticks(10000);
}

/* Say once, to who asked for such things, that events are dropped; a failing write has been reported already. */
static void report_dropped(void)
{
	unsigned bound = tr2_losses_bound();
	struct tlg_loss loss;

	for (unsigned i = 0; !g_drain.reported && tr2_g_settings.dst_debug && i < bound; i++) {
		if (!tr2_losses_get(i, &loss) || loss.reason == TLG_LOSS_WRITE || loss.reason == TLG_LOSS_OVERWRITTEN)
			continue;
		g_drain.reported = 1;
		tr2_warning("checkpoints are lost: ", tlg_loss_name(loss.reason));
	}
}

static void append_dropped(void)
{
	report_dropped();
	tr2_cycle_append_dropped();
}

/* MARK and the dropped events, behind what the pass has moved. */
static void append_summary(uint64_t when)
{
	append_dropped();
	tr2_cycle_append_mark(when);
}

static void begin_cycle_if_asked(void)
{
	if (tr2_exchange_rlx(&g_drain.cycle_asked, 0)) /* relaxed: whenever it is seen */
		tr2_cycle_next();
}

enum pass { PASS_IDLE, PASS_MOVED, PASS_WAITING };

/*
 * Thousands of threads, most of which do nothing: to look at all their rings for every few chunks that the others fill
 * would cost more than what is in these.
 */
static int is_time_for_all(uint64_t now)
{
	uint32_t rings = tr2_load_rlx(&tr2_g_shm.head->rings_used); /* relaxed: about */

	return rings <= FEW_RINGS || now - g_drain.whole_at >= tr2_clock_ticks((uint64_t)rings * REST_NS);
}

static uint64_t visit(struct tr2_thread *thread, uint64_t now, uint64_t timeout)
{
	uint64_t until = tr2_collect_ring(thread, now, timeout);

	if (until != now)
		tr2_thread_tell(thread);   /* it has more */
	tr2_collect_retire(thread);
	tr2_collect_abandoned(thread);
	tr2_progress_made();
	return until;
}

/*
 * Through all rings, or those that have news.  *low: raw clock, what was recorded before it is in the stream.
 * Return  1: a ring has more
 */
static int visit_rings(uint64_t now, uint64_t timeout, int is_whole, uint64_t *low)
{
	int has_more = 0;

	*low = is_whole ? now : g_drain.whole_at;
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		uint64_t until;
		if (!tr2_thread_hear(thread) && !is_whole)
			continue;
		until = visit(thread, now, timeout);
		has_more |= until != now;
		if (until < *low)
			*low = until;
	}
	if (is_whole)
		g_drain.whole_at = now;
	return has_more;
}

/* Once through the rings.  *upto: all that was recorded before it is in the stream. */
static enum pass pass(unsigned timeout_us, int is_whole, uint64_t *upto)
{
	uint64_t now = tr2_clock_raw(), low, before = tr2_collect_moved();
	int is_waiting, has_moved;

	begin_cycle_if_asked();
	is_waiting = visit_rings(now, tr2_clock_ticks(timeout_us * UINT64_C(1000)), is_whole, &low);
	low -= margin_ticks();
	has_moved = tr2_collect_moved() != before || tr2_losses_changed();
	if (!has_moved && g_drain.held_back && low < g_drain.held_back)
		return is_waiting ? PASS_WAITING : PASS_IDLE;
	*upto = low;
	if (!has_moved && !g_drain.held_back)
		return is_waiting ? PASS_WAITING : PASS_IDLE;
	if (has_moved)
		g_drain.held_back = tr2_sink_has_texts() ? now : 0;
	append_summary(low);
	if (low >= g_drain.held_back)
		g_drain.held_back = 0;
	return PASS_MOVED;
}

/* What all rings hold now, as a cycle of its own. */
static void take_snapshot(void)
{
	uint32_t requests = tr2_snapshot_begin();
	uint64_t now = tr2_clock_raw();
	int is_whole = 1;

	tr2_cycle_next();
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		is_whole &= tr2_collect_snapshot(thread, now) == now;
	if (is_whole)
		append_summary(now - margin_ticks());
	else
		append_dropped();   /* and no MARK: older events may come with the next one */
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

/* Others wait for the lock: a busy drain would take it again before they are awake. */
static int stands_back(void)
{
	static unsigned times;   /* in a row; of the drain's thread */

	if (!tr2_lock_is_awaited() || times >= STANDS_BACK)
		times = 0;
	else
		times++;
	return times != 0;
}

static int is_left(enum tr2_drain_task task)
{
	return (int)tr2_load_rlx(&g_drain.left[task]); /* relaxed: see tr2_drain_leave() */
}

static void do_what_is_left(void);

/* The drain's thread opens nothing: a thread of the program does what it needs.  Return  1: before more is written */
static int lacks_files(void)
{
	int lacks = tr2_sink_lacks_files();

	/* relaxed: a hint */
	tr2_store_rlx(&g_drain.wants_files, lacks || (is_left(TR2_DRAIN_ROTATE) && !tr2_sink_has_next()));
	return lacks;
}

static int move(void)
{
	uint64_t upto;

	return pass(TIMEOUT_US, is_time_for_all(tr2_clock_raw()), &upto) != PASS_IDLE;
}

enum tr2_drain tr2_drain_pass(unsigned age_ms)
{
	enum tr2_drain done = TR2_DRAIN_IDLE;

	if (stands_back() || !tr2_lock_try())
		return TR2_DRAIN_MOVED;
	tr2_tsan_hide();
	if (!g_drain.finished && !lacks_files() && !tr2_is_forked_child()) {
		if (tr2_is_flight_recorder() ? take_snapshot_if_requested() : move())
			done = TR2_DRAIN_MOVED;
		do_what_is_left();
		tr2_collect_write_if_due(tr2_clock_raw(), age_ms);
		if (tr2_collect_was_behind())
			done = TR2_DRAIN_BEHIND;
	}
	if (g_drain.finished)
		done = TR2_DRAIN_OVER;
	tr2_tsan_show();
	tr2_lock_release();
	return done;
}

static void open_files(void)
{
	tr2_sink_open_again();
	if (is_left(TR2_DRAIN_ROTATE) && !tr2_sink_has_next() && tr2_sink_open_next())
		tr2_store_rlx(&g_drain.left[TR2_DRAIN_ROTATE], 0); /* relaxed: as in tr2_drain_leave() */
	tr2_store_rlx(&g_drain.wants_files, 0); /* relaxed: a hint */
	tr2_lock_release();
}

void tr2_drain_open_files(void)
{
	if (tr2_load_rlx(&g_drain.wants_files) && tr2_lock_try()) /* relaxed: a hint */
		open_files();
}

void tr2_drain_open_files_now(void)
{
	uint64_t mask;
	int saved = errno;

	tr2_mask_all(&mask);
	if (!tr2_is_forked_child() && tr2_lock_briefly())
		open_files();
	tr2_mask_restore(&mask);
	errno = saved;
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
 * All that was recorded until now into the stream: as many passes as that takes, whatever busy threads add meanwhile.
 * Signals blocked, lock held.
 * Return  0: timed out behind unfinished events
 */
static int drain_with(unsigned timeout_us)
{
	const struct timespec pause = { 0, 100000 };
	const uint64_t longest = tr2_clock_ticks((FLUSH_US + 2 * timeout_us) * UINT64_C(1000));
	const uint64_t begun = tr2_clock_raw();
	/* the rings hold no more than their memory: after that many events, what moves is younger than the call */
	const uint64_t held = tr2_collect_moved() + tr2_g_settings.memory_bytes / TLG_EVENT_SIZE;
	uint64_t upto = 0, grown = begun;
	unsigned pauses = 0;
	int is_done = 0;

	while (!is_done && (pauses < FLUSH_PAUSES || tr2_clock_raw() - grown < longest)) {
		uint64_t before = upto, moved = tr2_collect_moved();
		enum pass result = pass(timeout_us, 1, &upto);
		is_done = upto >= begun || (result == PASS_IDLE && !wait_for_margin());
		if (upto > before || (tr2_collect_moved() != moved && moved < held)) {
			grown = tr2_clock_raw();
			pauses = 0;
		} else if (!is_done) {
			pauses++;
			if (result != PASS_MOVED)
				nanosleep(&pause, NULL);
		}
	}
	return is_done;
}

/* A flight recorder writes only what was asked for. */
static void drain_all(void)
{
	if (tr2_is_flight_recorder()) {
		take_snapshot_if_requested();
	} else {
		drain_with(TIMEOUT_US);
		tr2_collect_write();
	}
}

/*
 * Run fn under the lock, signals blocked, in the process that owns the state.
 * Return  0: the drain does not move
 */
static int with_lock(void (*fn)(void))
{
	uint64_t mask;
	int saved = errno, is_ours;

	if (!tr2_g_shm.head || tr2_is_forked_child())
		return 1;
	tr2_mask_all(&mask);
	is_ours = tr2_lock_wait();
	if (is_ours) {
		if (!g_drain.finished && (tr2_fd_may_open() || !lacks_files()))
			fn();
		if (!g_drain.finished)
			do_what_is_left();
		tr2_lock_release();
	}
	tr2_mask_restore(&mask);
	errno = saved;
	return is_ours;
}

void tr2_drain_flush(void)
{
	with_lock(drain_all);
}

/* No waiting: a pass may be long, and the next one begins the cycle as well. */
void tr2_drain_next_cycle(void)
{
	uint64_t mask;

	if (!tr2_g_shm.head || tr2_is_forked_child())
		return;
	tr2_mask_all(&mask);
	tr2_store_rlx(&g_drain.cycle_asked, 1); /* relaxed: as above */
	if (tr2_lock_try()) {
		begin_cycle_if_asked();
		tr2_lock_release();
	}
	tr2_mask_restore(&mask);
}

static int write_end(unsigned reason)
{
	append_dropped();
	tr2_cycle_append_end(reason);
	return tr2_collect_write();
}

/*
 * END goes with what has not been written yet: a write costs a short process 10 us.  If that write fails, another one
 * says so; it is small and may find room.  Return  0; -errno: the trace has no END
 */
static int end_stream(unsigned reason)
{
	int error = write_end(reason);

	return error ? write_end(reason) : 0;
}

static void begin_stream(uint32_t stream)
{
	tr2_sink_begin_stream(stream);
	tr2_cycle_new_stream(stream);
	tr2_recovery_begin();
}

static void rotate(void)
{
	drain_all();
	if (!tr2_sink_has_next() && tr2_sink_open_next())
		return;   /* no new file: the old one goes on */
	end_stream(TLG_END_ROTATE);
	tr2_sink_go_on();
	begin_stream(tr2_sid_stream());
}

void tr2_drain_rotate(void)
{
	with_lock(rotate);
}

void tr2_drain_leave(enum tr2_drain_task task)
{
	tr2_store_rlx(&g_drain.left[task], 1); /* relaxed: what is recorded is found by the pass, or by the next one */
	if (task == TR2_DRAIN_ROTATE)
		tr2_store_rlx(&g_drain.wants_files, 1); /* relaxed: a hint */
}

static void do_if_left(enum tr2_drain_task task, void (*fn)(void))
{
	/* relaxed: as above */
	if (tr2_load_rlx(&g_drain.left[task]) && tr2_exchange_rlx(&g_drain.left[task], 0))
		fn();
}

static void do_what_is_left(void)
{
	do_if_left(TR2_DRAIN_NEXT_CYCLE, tr2_cycle_next);
	if (tr2_sink_has_next())
		do_if_left(TR2_DRAIN_ROTATE, rotate);
	do_if_left(TR2_DRAIN_FLUSH, drain_all);
}

static unsigned g_end_reason = TLG_END_EXIT;

/* The flight recorder ends: what nobody asked for counts as overwritten. */
static void skip_all(void)
{
	take_snapshot_if_requested();
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		tr2_overwrite_skip(thread);
}

static void finish(void)
{
	int error;

	if (tr2_is_flight_recorder())
		skip_all();
	else if (!drain_with(LAST_TIMEOUT_US))
		drain_with(0);   /* unfinished events each have a timeout; do not drop what is behind them for that */
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		tr2_ring_forget_all(&thread->reader);
		tr2_collect_abandoned(thread);
	}
	error = end_stream(g_end_reason);
	tr2_sink_close();
	tr2_store_rlx(&g_drain.finished, 1); /* relaxed: read without the lock only as a hint */
	if (error && tr2_recovery_has_file())
		tr2_shm_leave();
	else
		tr2_shm_unlink();
}

void tr2_drain_finish(unsigned reason)
{
	g_end_reason = reason;
	if (!with_lock(finish) && tr2_g_settings.dst_debug)
		tr2_warning("the end of the trace could not be written, it is in ", tr2_shm_path());
}

int tr2_drain_is_over(void)
{
	return tr2_load_rlx(&g_drain.finished); /* relaxed: without the lock a hint */
}

int tr2_drain_may_come(void)
{
	return !tr2_lock_is_ours() && !tr2_drain_is_over();
}

int tr2_drain_instead(int may_be_handler)
{
	if ((may_be_handler && tr2_sink_has_texts()) || !tr2_sink_takes_now() || !tr2_lock_try())
		return 0;
	if (!g_drain.finished)
		drain_all();
	tr2_lock_release();
	return 1;
}

/* ---- set-up ------------------------------------------------------------------------------------- */

int tr2_drain_init(uint32_t stream)
{
	int error = tr2_stream_init(tr2_collect_write);

	if (!error)
		error = tr2_sink_init();
	if (error)
		return error;
	begin_stream(stream);
	return 0;
}

void tr2_drain_reset(void)
{
	tr2_collect_reset();
	tr2_recovery_reset();
	memset(&g_drain, 0, sizeof(g_drain));
	tr2_lock_reset();
	tr2_lock_leave();
}

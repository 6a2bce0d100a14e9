/* SPDX-License-Identifier: MIT */
/* tr2_drain.c - who makes passes, when, and what else is done under the lock. */
#include "tr2_drain.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tr2_collect.h"
#include "tr2_cycle.h"
#include "tr2_lock.h"
#include "tr2_overwrite.h"
#include "tr2_pass.h"
#include "tr2_recovery.h"
#include "tr2_stream.h"
#include "tr2_trigger.h"
#include "base/tr2_clock.h"
#include "base/tr2_fd.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "base/tr2_tsan.h"
#include "ctl/tr2_page.h"
#include "output/tr2_sink.h"
#include "ring/tr2_losses.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

enum {
	LAST_TIMEOUT_US = 2000,               /* as TR2_DRAIN_TIMEOUT_US, when the process ends */
	FLUSH_US = 5000,                      /* and twice the timeout: without progress, until a flush gives up ... */
	FLUSH_PAUSES = 50, PAUSE_NS = 100000, /* ... and so many pauses: it may have had no processor in that time */
	STANDS_BACK = 8,                      /* passes in a row that the drain's thread leaves to others who wait */
};

static struct drain {
	int finished;
	int wants_files;                       /* a thread of the program is to open some */
	int is_missing;                        /* the last try of a thread of the program to open the trace failed */
	uint32_t left[TR2_DRAIN_TASKS];        /* 1: to be done by the thread's next pass */
} g_drain;

/* ---- the drain's thread -------------------------------------------------------------------------- */

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

int tr2_drain_is_left(enum tr2_drain_task task)
{
	return (int)tr2_load_rlx(&g_drain.left[task]); /* relaxed: see tr2_drain_leave() */
}

static void do_what_is_left(void);

/* The drain's thread opens nothing: a thread of the program does what it needs.  Return  1: before more is written */
static int lacks_files(void)
{
	int lacks = tr2_sink_lacks_files();

	/* relaxed: a hint */
	tr2_store_rlx(&g_drain.wants_files, lacks || (tr2_drain_is_left(TR2_DRAIN_ROTATE) && !tr2_sink_has_next()));
	return lacks;
}

/* Flight recorder: look whether a trigger wants a snapshot, and take one if anybody does.  Return  1: there was work */
static int look_and_write(void)
{
	int has_seen = tr2_trigger_look();

	return tr2_pass_snapshot() || has_seen;
}

enum tr2_drain tr2_drain_pass(unsigned age_ms)
{
	enum tr2_drain done = TR2_DRAIN_IDLE;
	uint64_t upto;

	if (stands_back() || !tr2_lock_try())
		return TR2_DRAIN_MOVED;
	tr2_tsan_hide();
	if (!g_drain.finished && lacks_files()) {
		tr2_collect_let_wait();
	} else if (!g_drain.finished && !tr2_is_forked_child()) {
		if (tr2_is_flight_recorder() ? look_and_write()
					     : tr2_pass(TR2_DRAIN_TIMEOUT_US, &upto) != TR2_PASS_IDLE)
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

static int is_missing(void)
{
	return tr2_load_rlx(&g_drain.is_missing); /* relaxed: a hint */
}

int tr2_drain_may_write(void)
{
	int may;

	if (!tr2_fd_may_open())
		return !lacks_files();
	may = tr2_sink_open_again();
	tr2_store_rlx(&g_drain.is_missing, !may); /* relaxed: a hint */
	return may;
}

/* There is another file to go on in: what is in the rings cannot be kept for this one. */
static void give_up(void)
{
	tr2_sink_give_up();
	tr2_store_rlx(&g_drain.is_missing, 0); /* relaxed: a hint */
}

static void open_files(void)
{
	const int may = tr2_drain_may_write();

	if (tr2_drain_is_left(TR2_DRAIN_ROTATE) && !tr2_sink_has_next() && tr2_sink_open_next())
		tr2_store_rlx(&g_drain.left[TR2_DRAIN_ROTATE], 0); /* relaxed: as in tr2_drain_leave() */
	if (!may && tr2_sink_has_next())
		give_up();
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

/*
 * All that was recorded until now into the stream: as many passes as that takes, whatever busy threads add meanwhile.
 * Signals blocked, lock held.
 * Return  0: timed out behind unfinished events
 */
static int drain_with(unsigned timeout_us)
{
	const uint64_t longest = tr2_clock_ticks((FLUSH_US + 2 * timeout_us) * UINT64_C(1000));
	const uint64_t begun = tr2_clock_raw();
	/* the rings hold no more than their memory: after that many events, what moves is younger than the call */
	const uint64_t held = tr2_collect_moved() + tr2_g_settings.memory_bytes / TLG_EVENT_SIZE;
	uint64_t upto = 0, grown = begun;
	unsigned pauses = 0;
	int is_done = 0;

	while (!is_done && (pauses < FLUSH_PAUSES || tr2_clock_raw() - grown < longest)) {
		uint64_t before = upto, moved = tr2_collect_moved();
		enum tr2_pass result = tr2_pass(timeout_us, &upto);
		is_done = upto >= begun || (result == TR2_PASS_IDLE && !tr2_pass_wait_for_margin());
		if (upto > before || (tr2_collect_moved() != moved && moved < held)) {
			grown = tr2_clock_raw();
			pauses = 0;
		} else if (!is_done) {
			pauses++;
			if (result != TR2_PASS_MOVED)
				tr2_sys_sleep(PAUSE_NS);
		}
	}
	return is_done;
}

void tr2_drain_all(void)
{
	if (tr2_is_flight_recorder()) {
		look_and_write();
	} else {
		drain_with(TR2_DRAIN_TIMEOUT_US);
		tr2_collect_write();
	}
}

static int g_is_flushed;   /* what flush() has found; of the holder of the lock */

/*
 * Run fn under the lock, signals blocked, in the process that owns the state.
 * otherwise  run instead of fn by a thread of the program, if the trace cannot be written now; NULL: nothing is
 * result     0: fn was not run, or was flush() and has failed
 * Return     0: the drain does not move
 */
static int with_lock_result(void (*fn)(void), void (*otherwise)(void), int *result)
{
	uint64_t mask;
	int saved = errno, is_ours;

	*result = 1;
	if (tr2_is_forked_child() || !tr2_g_shm.head)   /* in this order: another thread of a child may be setting it */
		return 1;
	tr2_mask_all(&mask);
	is_ours = tr2_lock_wait();
	if (is_ours) {
		g_is_flushed = 0;
		if (!g_drain.finished && tr2_drain_may_write()) {
			fn();
			if (!g_drain.finished)
				do_what_is_left();
		} else if (!g_drain.finished && otherwise && tr2_fd_may_open()) {
			otherwise();
		}
		*result = g_is_flushed;
		tr2_lock_release();
	}
	tr2_mask_restore(&mask);
	errno = saved;
	return is_ours;
}

static int with_lock(void (*fn)(void))
{
	int result;

	return with_lock_result(fn, NULL, &result);
}

static void flush(void)
{
	int is_done = 1;

	if (tr2_is_flight_recorder())
		look_and_write();
	else
		is_done = drain_with(TR2_DRAIN_TIMEOUT_US);
	g_is_flushed = !tr2_collect_write() && is_done;
}

int tr2_drain_flush(void)
{
	int is_flushed;

	return with_lock_result(flush, NULL, &is_flushed) && is_flushed;
}

/* What was recorded before is in the stream, as far as nobody was just recording. */
static void note_pause(void)
{
	tr2_drain_all();
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		struct tr2_track *track = thread->reader.track;

		if (!track || !track->start || !tr2_overwrite_hold(thread))
			continue;
		tr2_losses_add(track->tid, TLG_LOSS_OFF, 1);
		tr2_track_skip_missing(track, 1);
		tr2_overwrite_release(thread);
	}
	tr2_cycle_next();
}

void tr2_drain_note_pause(void)
{
	with_lock(note_pause);
}

/* No waiting: a pass may be long, and the next one begins the cycle as well. */
void tr2_drain_next_cycle(void)
{
	uint64_t mask;

	if (tr2_is_forked_child() || !tr2_g_shm.head)   /* as in with_lock() */
		return;
	tr2_mask_all(&mask);
	tr2_pass_ask_for_cycle();
	if (tr2_lock_try()) {
		tr2_pass_begin_cycle();
		tr2_lock_release();
	}
	tr2_mask_restore(&mask);
}

static int write_end(unsigned reason)
{
	tr2_pass_append_dropped();
	tr2_cycle_append_end(reason);
	return tr2_collect_write_end();
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
	tr2_drain_all();
	if (!tr2_sink_has_next() && tr2_sink_open_next())
		return;   /* no new file: the old one goes on */
	end_stream(TLG_END_ROTATE);
	tr2_sink_go_on();
	begin_stream(tr2_sid_stream());
}

static void rotate_missing(void)
{
	if (!tr2_sink_has_next() && tr2_sink_open_next())
		return;
	give_up();
	rotate();
}

void tr2_drain_rotate(void)
{
	int result;

	with_lock_result(rotate, rotate_missing, &result);
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
	do_if_left(TR2_DRAIN_FLUSH, tr2_drain_all);
}

static unsigned g_end_reason = TLG_END_EXIT;

/* The flight recorder ends: events that no snapshot has written count as overwritten. */
static void skip_all(void)
{
	look_and_write();
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
		if (!tr2_overwrite_hold(thread))
			continue;   /* its owner was stopped while it overwrites, which is all that is known of it */
		tr2_ring_forget_all(&thread->reader);
		tr2_collect_abandoned(thread);
		tr2_overwrite_release(thread);
	}
	error = end_stream(tr2_load_rlx(&g_end_reason)); /* relaxed: see finish_with() */
	tr2_sink_close();
	tr2_page_close();
	tr2_store_rlx(&g_drain.finished, 1); /* relaxed: read without the lock only as a hint */
	if (error && tr2_recovery_has_file())
		tr2_shm_leave();
	else
		tr2_shm_unlink();
}

/* The trace cannot be written now, and the process ends: the ring file is all that there is. */
static void leave_in_ring(void)
{
	if (tr2_g_settings.dst_debug)
		tr2_warning("the trace could not be opened again, its end is in ", tr2_shm_path());
	tr2_sink_close();
	tr2_page_close();
	tr2_store_rlx(&g_drain.finished, 1); /* relaxed: as in finish() */
	tr2_shm_leave();
}

static void finish_without_texts(void)
{
	tr2_sink_drop_texts();
	finish();
}

static void finish_with(void (*fn)(void), unsigned reason)
{
	int result;

	tr2_store_rlx(&g_end_reason, reason); /* relaxed: of two threads that end the process at once either is right */
	if (!with_lock_result(fn, leave_in_ring, &result) && tr2_g_settings.dst_debug)
		tr2_warning("the end of the trace could not be written, it is in ", tr2_shm_path());
}

void tr2_drain_finish(unsigned reason)
{
	finish_with(finish, reason);
}

void tr2_drain_finish_without_texts(unsigned reason)
{
	finish_with(finish_without_texts, reason);
}

int tr2_drain_is_over(void)
{
	return tr2_load_rlx(&g_drain.finished); /* relaxed: without the lock a hint */
}

int tr2_drain_may_come(void)
{
	return !tr2_lock_is_ours() && !tr2_drain_is_over() && !is_missing();
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
	tr2_pass_reset();
	memset(&g_drain, 0, sizeof(g_drain));
	tr2_lock_reset();
	tr2_lock_leave();
	tr2_trigger_reset();
}

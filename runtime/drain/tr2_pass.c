/* SPDX-License-Identifier: MIT */
/* tr2_pass.c - see tr2_pass.h. */
#include "tr2_pass.h"

#include <string.h>

#include "tlg_desc.h"
#include "tr2_cause.h"
#include "tr2_collect.h"
#include "tr2_cycle.h"
#include "tr2_overwrite.h"
#include "base/tr2_clock.h"
#include "base/tr2_progress.h"
#include "output/tr2_sink.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_env.h"

static struct pass {
	uint32_t cycle_asked;                  /* a thread wants a new cycle, and could not begin it itself */
	int reported;                          /* that events were dropped */
	uint64_t held_back;                    /* raw clock: text outputs wait for a MARK behind it; 0: for none */
} g_pass;

void tr2_pass_reset(void)
{
	memset(&g_pass, 0, sizeof(g_pass));
}

/* An event may be seen a little later than its reservation: it may be in the store buffer of its thread's processor. */
static uint64_t margin_ticks(void)
{
	return tr2_clock_ticks(10000);
}

/* A failing write reports itself; the others are what somebody has asked for. */
static int is_news(uint32_t reason)
{
	return reason != TLG_LOSS_WRITE && reason != TLG_LOSS_OVERWRITTEN && reason != TLG_LOSS_OFF;
}

/* With TRACE2_DST_DEBUG, report once that events are dropped. */
static void report_dropped(void)
{
	unsigned bound = tr2_losses_bound();
	struct tlg_loss loss;

	for (unsigned i = 0; !g_pass.reported && tr2_g_settings.dst_debug && i < bound; i++) {
		if (!tr2_losses_get(i, &loss) || !is_news(loss.reason))
			continue;
		g_pass.reported = 1;
		tr2_warning("checkpoints are lost: ", tlg_loss_name(loss.reason));
	}
}

void tr2_pass_append_dropped(void)
{
	report_dropped();
	tr2_cycle_append_dropped();
}

/* MARK and the dropped events, behind what the pass has moved. */
static void append_summary(uint64_t when)
{
	tr2_pass_append_dropped();
	tr2_cycle_append_mark(when);
}

void tr2_pass_ask_for_cycle(void)
{
	tr2_store_rlx(&g_pass.cycle_asked, 1); /* relaxed: whenever it is seen */
}

void tr2_pass_begin_cycle(void)
{
	if (tr2_exchange_rlx(&g_pass.cycle_asked, 0)) /* relaxed: as above */
		tr2_cycle_next();
}

/* Through all rings.  *low: raw clock, what was recorded before it is in the stream.  Return  1: a ring has more */
static int visit_rings(uint64_t now, uint64_t timeout, uint64_t *low)
{
	int has_more = 0;

	*low = now;
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		uint64_t until = tr2_collect_ring(thread, now, timeout);
		has_more |= until != now;
		if (until < *low)
			*low = until;
		tr2_collect_retire(thread);
		tr2_collect_abandoned(thread);
		tr2_progress_made();
	}
	return has_more;
}

enum tr2_pass tr2_pass(unsigned timeout_us, uint64_t *upto)
{
	uint64_t now = tr2_clock_raw(), low, before = tr2_collect_moved();
	int is_waiting, has_moved;

	tr2_pass_begin_cycle();
	is_waiting = visit_rings(now, tr2_clock_ticks(timeout_us * UINT64_C(1000)), &low);
	low -= margin_ticks();
	has_moved = tr2_collect_moved() != before || tr2_losses_changed();
	if (!has_moved && g_pass.held_back && low < g_pass.held_back)
		return is_waiting ? TR2_PASS_WAITING : TR2_PASS_IDLE;
	*upto = low;
	if (!has_moved && !g_pass.held_back)
		return is_waiting ? TR2_PASS_WAITING : TR2_PASS_IDLE;
	if (has_moved)
		g_pass.held_back = tr2_sink_has_texts() ? now : 0;
	append_summary(low);
	if (low >= g_pass.held_back)
		g_pass.held_back = 0;
	return TR2_PASS_MOVED;
}

int tr2_pass_wait_for_margin(void)
{
	uint64_t until = g_pass.held_back + margin_ticks();

	while (g_pass.held_back && tr2_clock_raw() < until)
		;   /* 10 us */
	return g_pass.held_back != 0;
}

/* Write what all rings hold now, as a cycle of its own. */
static void take_snapshot(void)
{
	uint64_t since, now;
	uint32_t requests = tr2_snapshot_begin(&since);
	int is_whole = 1;

	now = tr2_clock_raw();
	tr2_cycle_next();
	tr2_cause_append(now);
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		is_whole &= tr2_collect_snapshot(thread, since, now) == now;
	if (is_whole)
		append_summary(now - margin_ticks());
	else
		tr2_pass_append_dropped();   /* and no MARK: older events may come with the next one */
	tr2_collect_write();
	tr2_snapshot_end(requests);
}

int tr2_pass_snapshot(void)
{
	if (!tr2_snapshot_is_requested())
		return 0;
	take_snapshot();
	return 1;
}

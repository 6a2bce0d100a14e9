/* SPDX-License-Identifier: MIT */
/* tr2_young.c - who may be young, and for how long. */
#include "tr2_young.h"

#include "tr2_wake.h"
#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_sandbox.h"
#include "ctl/tr2_page.h"
#include "output/tr2_sink.h"
#include "ring/tr2_pool.h"
#include "settings/tr2_env.h"

enum {
	YOUTH_US = 5000,
	TEXT_YOUTH_US = 2000,     /* a user may watch the text, who does not see ring files */
};

static struct young {
	uint32_t has_begun;
	uint64_t until;           /* raw clock */
} g_young;

static uint32_t g_catches;        /* signals; a forked child does, too */

/*
 * A bound on the age of events is a promise about the file: in an idle process only the thread can keep it.  A control
 * page is one, too: nobody else answers.
 */
static int may_be_young(void)
{
	return tr2_g_settings.thread == TR2_THREAD_AUTO && !tr2_is_flight_recorder() && !tr2_g_settings.is_flush_set &&
	       !tr2_page_is_to_open() && tr2_sink_has_only_files() && tr2_sandbox_can_tell() &&
	       !(tr2_load_rlx(&g_catches) && tr2_sink_has_texts()); /* relaxed: a flag by itself */
}

int tr2_young_begin(void)
{
	const unsigned us = tr2_sink_has_texts() ? TEXT_YOUTH_US : YOUTH_US;

	if (!may_be_young())
		return 0;
	tr2_store_rlx(&g_young.until, tr2_clock_raw() + tr2_clock_ticks(us * UINT64_C(1000))); /* relaxed: a time */
	tr2_store_rlx(&g_young.has_begun, 1); /* relaxed: a hint; an early look finds the time 0, and ends youth */
	tr2_store_rlx(&tr2_g_shm.head->lacks_thread, 1); /* relaxed: a number by itself */
	return 1;
}

int tr2_young_is(void)
{
	/* relaxed: a hint */
	return tr2_load_rlx(&g_young.has_begun) && !tr2_wake_is_running() && !tr2_wake_is_wanted();
}

int tr2_young_is_outgrown(void)
{
	return tr2_clock_raw() >= tr2_load_rlx(&g_young.until); /* relaxed: a time by itself */
}

void tr2_young_end(uint64_t mask)
{
	if (tr2_young_is())
		tr2_wake_wanted(mask);
}

void tr2_young_note_thread(uint64_t mask)
{
	if (tr2_pool_threads() > 1)
		tr2_young_end(mask);
}

void tr2_young_note_signal(void)
{
	tr2_store_rlx(&g_catches, 1); /* relaxed: as above */
	if (tr2_young_is() && tr2_sink_has_texts())
		tr2_young_end(tr2_mask_now());
}

void tr2_young_reset(void)
{
	g_young = (struct young){ .has_begun = 0 };
}

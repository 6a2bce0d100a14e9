/* SPDX-License-Identifier: MIT */
/* tr2_flight.c - requests for snapshots, and what they keep from being overwritten. */
#include "tr2_flight.h"

#include <errno.h>
#include <string.h>

#include "trace2.h"
#include "tr2_collect.h"
#include "tr2_drain.h"
#include "tr2_emit.h"
#include "tr2_env.h"
#include "tr2_handler.h"
#include "tr2_signal.h"
#include "tr2_text.h"
#include "tr2_wake.h"

static struct flight {
	uint32_t asked, served;           /* requests so far */
	uint32_t kept_upto;               /* number of the latest chunk that one of them wants; 0: none */
	int on_error, on_exit;
} g_flight;

static int is_on(void)
{
	return tr2_g_settings.policy == TR2_POLICY_OVERWRITE;
}

/* ---- what asks ---------------------------------------------------------------------------------- */

static void read_trigger(const char *word)
{
	int signo;

	if (tr2_text_is(word, "error"))
		g_flight.on_error = 1;
	else if (tr2_text_is(word, "exit"))
		g_flight.on_exit = 1;
	else if ((signo = tr2_signal_parse(word)) > 0)
		tr2_signal_watch(signo, tr2_flight_trigger);
}

void tr2_flight_init(void)
{
	if (is_on())
		tr2_signal_each_word(tr2_env_get("RAW_SNAPSHOT"), read_trigger);
}

void tr2_flight_reset(void)
{
	g_flight.asked = g_flight.served = g_flight.kept_upto = 0;
}

/* The order does not matter: a thread that does not see it yet overwrites one more chunk, and counts that. */
void tr2_flight_request(void)
{
	if (!is_on())
		return;
	tr2_store_rlx(&g_flight.kept_upto, tr2_ring_latest()); /* relaxed: see above */
	tr2_add_rlx(&g_flight.asked, 1); /* relaxed: a request that is missed now is seen at the next look */
	tr2_wake_now();
}

static void emit_snapshot(const char *file, int line, const char *reason)
{
	struct tr2_scope_key key = { .file = file, .line = line, .style = TLG_STYLE_snapshot };
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_last(&args, reason);
	tr2_emit(&key, &args, 0, 0);
}

void tr2_flight_trigger(const char *reason)
{
	if (!is_on() || !tr2_enabled_v1)
		return;
	emit_snapshot(NULL, 0, reason);
	tr2_flight_request();
}

void tr2_flight_error(void)
{
	if (g_flight.on_error)
		tr2_flight_trigger("error");
}

void tr2_flight_exit(void)
{
	if (g_flight.on_exit)
		tr2_flight_trigger("exit");
}

/* In a handler the drain's thread is left to do it. */
void trace2_snapshot_fl(const char *file, int line, const char *reason)
{
	uint64_t mask;
	int saved = errno;

	if (!tr2_enabled_v1)
		return;
	emit_snapshot(file, line, reason);
	tr2_flight_request();
	tr2_signals_block(&mask);
	tr2_signals_restore(&mask);
	if (tr2_handler_may_run(mask))
		tr2_wake_wanted(mask);
	else
		tr2_drain_flush();
	errno = saved;
}

/* ---- serving them ------------------------------------------------------------------------------- */

static uint32_t asked(void)
{
	return tr2_load_rlx(&g_flight.asked); /* relaxed: see tr2_flight_request() */
}

int tr2_flight_is_requested(void)
{
	return is_on() && asked() != tr2_load_rlx(&g_flight.served); /* relaxed: as above */
}

uint32_t tr2_flight_begin(void)
{
	uint32_t requests = asked();

	tr2_store_rlx(&g_flight.kept_upto, tr2_ring_latest()); /* relaxed: as above */
	return requests;
}

void tr2_flight_end(uint32_t requests)
{
	tr2_store_rlx(&g_flight.served, requests); /* relaxed: as above */
	if (asked() == requests)
		tr2_store_rlx(&g_flight.kept_upto, 0); /* relaxed: as above */
}

int tr2_flight_make_room(struct tr2_thread *self)
{
	return is_on() &&
	       tr2_collect_overwrite(self, tr2_load_rlx(&g_flight.kept_upto)); /* relaxed: as above */
}

/* SPDX-License-Identifier: MIT */
/* tr2_flight.c - calls, events and the end of the process request a snapshot. */
#include "tr2_flight.h"

#include <errno.h>

#include "tr2_emit.h"
#include "trace2.h"
#include "base/tr2_mask.h"
#include "base/tr2_text.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_wake.h"
#include "settings/tr2_env.h"
#include "settings/tr2_signal_hook.h"

static struct flight {
	int on_error, on_exit;            /* an error event, the end of the process request one */
} g_flight;

int tr2_flight_is_trigger(const char *word)
{
	return tr2_text_is(word, "error") || tr2_text_is(word, "exit");
}

static void read_trigger(const char *word)
{
	g_flight.on_error |= tr2_text_is(word, "error");
	g_flight.on_exit |= tr2_text_is(word, "exit");
}

void tr2_flight_init(void)
{
	if (tr2_is_flight_recorder())
		tr2_signal_hook_each_word(tr2_env_get("RAW_SNAPSHOT"), read_trigger);
}

/* Request a snapshot and wake the consumer thread.  A forked child without a session of its own has no events. */
static void request(void)
{
	if (!tr2_is_forked_child() && tr2_snapshot_request())
		tr2_wake_now();
}

void tr2_flight_trigger(const char *reason)
{
	if (!tr2_is_flight_recorder() || !tr2_is_enabled())
		return;
	tr2_emit_one_text(TLG_STYLE_snapshot, NULL, 0, reason);
	request();
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

/* A handler does not write: it wakes the consumer thread, which a flight recorder always has or is about to start. */
void trace2_snapshot_fl(const char *file, int line, const char *reason)
{
	uint64_t mask;
	int saved = errno;

	if (!tr2_is_enabled() || tr2_mask_is_inside())
		return;
	tr2_emit_one_text(TLG_STYLE_snapshot, file, line, reason);
	request();
	mask = tr2_mask_now();
	if (tr2_mask_may_be_handler(mask))
		tr2_wake_wanted(mask);
	else
		tr2_drain_flush();
	errno = saved;
}

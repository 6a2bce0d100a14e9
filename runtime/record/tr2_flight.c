/* SPDX-License-Identifier: MIT */
/* tr2_flight.c - calls, events and the end of the process request a snapshot. */
#include "tr2_flight.h"

#include <errno.h>

#include "tr2_emit.h"
#include "trace2.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_text.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_trigger.h"
#include "drain/tr2_wake.h"
#include "settings/tr2_env.h"
#include "settings/tr2_rules.h"

/* What calls of the program find by themselves, while no rule needs the consumer thread.  Flags, each by itself. */
static struct flight {
	uint32_t on_error, on_exit, on_exit_code;
} g_flight;

TR2_LARGE static struct tr2_rules g_new;   /* being read: at the start, then of the consumer thread */

/* ---- reading ------------------------------------------------------------------------------------ */

static int has(enum tr2_rule_kind kind)
{
	return tr2_rules_find(&g_new, kind) != NULL;
}

static void set_flags(int are_needed)
{
	tr2_store_rlx(&g_flight.on_error, are_needed && has(TR2_RULE_ERROR)); /* relaxed: a flag by itself */
	tr2_store_rlx(&g_flight.on_exit, are_needed && has(TR2_RULE_EXIT)); /* relaxed: as above */
	tr2_store_rlx(&g_flight.on_exit_code, are_needed && has(TR2_RULE_EXIT_CODE)); /* relaxed: as above */
}

/* Return  0; -errno: no rule is in force */
static int set_rules(int opens)
{
	const int needs_looks = g_new.n && (tr2_rules_watch(&g_new) || g_new.is_modified);
	int error;

	if (!needs_looks) {
		set_flags(1);
		tr2_rules_begin(&g_new);
	}
	error = tr2_trigger_set(&g_new, opens);
	if (needs_looks && !error)
		set_flags(0);
	return error;
}

static void report_bad(const char *word, const char *why)
{
	char variable[64];

	if (tr2_g_settings.dst_debug)
		tr2_warning("unknown value for '", tr2_env_name("RAW_SNAPSHOT", variable), "': '", word, "', ignored: ",
			    why);
}

void tr2_flight_init(void)
{
	const char *list = tr2_is_flight_recorder() ? tr2_env_get("RAW_SNAPSHOT") : NULL, *why;
	char word[TR2_RULE_WORD];
	int error;

	if (!list)
		return;
	tr2_rules_begin(&g_new);
	while (tr2_rules_next_word(&list, word))
		if (tr2_rules_add(&g_new, word, &why) == TR2_WORD_BAD)
			report_bad(word, why);
	error = set_rules(1);
	if (error && tr2_g_settings.dst_debug)
		tr2_warning("no trigger is in force: ", tr2_text_error(-error));
}

void tr2_flight_each_other(void (*call)(const char *word))
{
	const char *list = tr2_env_get("RAW_SNAPSHOT"), *unused;
	char word[TR2_RULE_WORD];

	tr2_rules_begin(&g_new);
	while (list && tr2_rules_next_word(&list, word))
		if (tr2_rules_add(&g_new, word, &unused) == TR2_WORD_OTHER)
			call(word);
}

static int refuse(char *why, size_t size, const char *word, const char *what)
{
	struct tr2_text to = tr2_text_begin(why, size);

	tr2_text_add(&to, word);
	tr2_text_add(&to, *word ? ": " : "");
	tr2_text_add(&to, what);
	return 0;
}

int tr2_flight_change(const char *list, char *why, size_t size)
{
	char word[TR2_RULE_WORD];
	const char *wrong;
	int error;

	tr2_rules_begin(&g_new);
	while (!tr2_text_is(list, "off") && tr2_rules_next_word(&list, word)) {
		switch (tr2_rules_add(&g_new, word, &wrong)) {
		case TR2_WORD_BAD:
			return refuse(why, size, word, wrong);
		case TR2_WORD_OTHER:
			return refuse(why, size, word, "this is no trigger (signals are named at the start)");
		default:
			break;
		}
	}
	error = set_rules(0);
	if (error == -EPERM)
		return refuse(why, size, "", "memory> needs to be among the triggers at the start, too");
	return error ? refuse(why, size, "no trigger is in force now", tr2_text_error(-error)) : 1;
}

/* ---- requesting --------------------------------------------------------------------------------- */

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
	if (tr2_load_rlx(&g_flight.on_error)) /* relaxed: as in set_flags() */
		tr2_flight_trigger("error");
	else if (tr2_trigger_is_on())
		tr2_wake_now();
}

static void trigger_exit(int code)
{
	char reason[64];
	struct tr2_text to = tr2_text_begin(reason, sizeof(reason));

	tr2_text_add(&to, code < 0 ? "exit!=0: exit code -" : "exit!=0: exit code ");
	tr2_text_decimal(&to, code < 0 ? -(uint64_t)code : (uint64_t)code, 1);
	tr2_flight_trigger(reason);
}

void tr2_flight_exit(int code)
{
	if (tr2_load_rlx(&g_flight.on_exit)) /* relaxed: as in set_flags() */
		tr2_flight_trigger("exit");
	else if (code && tr2_load_rlx(&g_flight.on_exit_code)) /* relaxed: as above */
		trigger_exit(code);
	else if (tr2_trigger_is_on())
		tr2_trigger_end(code);
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

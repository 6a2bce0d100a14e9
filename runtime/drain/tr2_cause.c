/* SPDX-License-Identifier: MIT */
/* tr2_cause.c - see tr2_cause.h. */
#include "tr2_cause.h"

#include <string.h>

#include "tr2_overwrite.h"
#include "tr2_stream.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "base/tr2_text.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_scope.h"
#include "ring/tr2_thread.h"

enum {
	CAUSES = 16,              /* of one snapshot; further ones are counted */
	LONGEST = 10,             /* a window ends after so many times its length, whatever comes in it */
	MARGIN_NS = 10000,        /* a snapshot's MARK is so much older than its end */
	CHAIN_EVENTS = 1 + (TR2_CAUSE_TEXT + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE,
};

static struct causes {
	uint64_t max, quiet_ns, before_ns, after_ns;
	int has_window;
	uint64_t snapshots, kept_back;
	uint64_t kept_since;      /* kept back since the last snapshot */
	uint64_t quiet_until;     /* raw clock */
	uint64_t first, end;      /* raw clock: the open window's first cause, its end; 0: none is open */
	uint64_t since;           /* raw clock: the next snapshot begins here */
	uint64_t latest;          /* raw clock: of the last event */
	unsigned n, more;
	int is_new;               /* one of them is */
} g_causes;

TR2_LARGE static struct cause { uint64_t when; char text[TR2_CAUSE_TEXT]; } g_cause[CAUSES];
TR2_LARGE static struct tr2_track g_track;   /* the thread "trigger" */

void tr2_cause_reset(void)
{
	struct causes *causes = &g_causes;

	causes->snapshots = causes->kept_back = causes->kept_since = 0;
	causes->quiet_until = causes->first = causes->end = causes->latest = 0;
	causes->n = causes->more = 0;
	causes->is_new = 0;
	memset(&g_track, 0, sizeof(g_track));
}

void tr2_cause_begin(const struct tr2_rules *rules)
{
	const struct tr2_track track = g_track;
	uint64_t latest = g_causes.latest;

	g_causes = (struct causes){
		.max = rules->max, .quiet_ns = rules->quiet_ns, .has_window = rules->has_window,
		.before_ns = rules->before_ns, .after_ns = rules->after_ns,
	};
	tr2_cause_reset();
	g_causes.latest = latest;
	g_track = track;   /* of a process that has it already: numbers go on */
}

/* ---- whether ------------------------------------------------------------------------------------- */

static int is_kept_back(const struct causes *causes, enum tr2_cause_kind kind, uint64_t now)
{
	if (causes->end || causes->is_new || kind == TR2_CAUSE_AGAIN)
		return 0;   /* it joins the others */
	return causes->snapshots >= causes->max || (kind == TR2_CAUSE_NEW && now < causes->quiet_until);
}

/* The window begins before what has caused it began.  Without a window all of memory is written. */
static void extend_back(struct causes *causes, uint64_t begun)
{
	const uint64_t before = tr2_clock_ticks(causes->before_ns);
	uint64_t since = causes->has_window && begun > before ? begun - before : 0;

	if (!causes->n || since < causes->since)
		causes->since = since;
}

int tr2_cause_add(enum tr2_cause_kind kind, uint64_t when, uint64_t begun, const char *text)
{
	struct causes *causes = &g_causes;
	struct cause *cause;
	struct tr2_text to;

	if (is_kept_back(causes, kind, tr2_clock_raw())) {
		causes->kept_back++;
		causes->kept_since++;
		return 0;
	}
	extend_back(causes, begun);
	causes->is_new |= kind != TR2_CAUSE_AGAIN;
	if (causes->n == CAUSES) {
		causes->more++;
		return 1;
	}
	cause = &g_cause[causes->n++];
	cause->when = when;
	to = tr2_text_begin(cause->text, sizeof(cause->text));
	tr2_text_add(&to, text);
	return 1;
}

/* The end of what has been written before counts for nothing, and opens no window: or there might be no last one. */
static void count_snapshot(struct causes *causes, uint64_t now)
{
	const uint64_t after = tr2_clock_ticks(causes->after_ns);

	if (!causes->is_new)
		return;
	causes->is_new = 0;
	if (!causes->end) {
		causes->snapshots++;
		causes->first = now;
	}
	if (after) {
		causes->end = now + after;
		if (causes->end > causes->first + LONGEST * after)
			causes->end = causes->first + LONGEST * after;
	}
}

void tr2_cause_request(uint64_t now)
{
	struct causes *causes = &g_causes;
	int has_cause = causes->n != 0;

	if (!has_cause && (!causes->end || now < causes->end))
		return;
	if (has_cause)
		count_snapshot(causes, now);
	if (!causes->end || now >= causes->end) {
		causes->end = 0;
		causes->quiet_until = now + tr2_clock_ticks(causes->quiet_ns);
	}
	tr2_snapshot_request_since(has_cause ? causes->since : 0);
}

uint64_t tr2_cause_wait_ns(uint64_t now)
{
	if (!g_causes.end)
		return 0;
	return g_causes.end > now ? tr2_clock_ns(g_causes.end - now) + 1 : 1;
}

uint64_t tr2_cause_snapshots(void)
{
	return g_causes.snapshots;
}

uint64_t tr2_cause_kept_back(void)
{
	return g_causes.kept_back;
}

/* ---- the events ---------------------------------------------------------------------------------- */

static void begin_thread(uint64_t when)
{
	if (g_track.start)
		return;
	g_track.tid = tr2_thread_new_id();
	g_track.start = g_track.last_when = when;
	strcpy(g_track.name, "trigger");
}

/* What the last cause of a snapshot says besides: what there was no room for, what modifiers do. */
static void add_counts(struct causes *causes, struct cause *cause)
{
	struct tr2_text to = { cause->text + strlen(cause->text), cause->text + sizeof(cause->text) - 1 };

	if (causes->more + causes->kept_since) {
		tr2_text_add(&to, "; ");
		tr2_text_decimal(&to, causes->more + causes->kept_since, 1);
		tr2_text_add(&to, " more since the last snapshot");
	}
	if (causes->snapshots == causes->max)
		tr2_text_add(&to, "; no further snapshots: max is reached");
	causes->more = 0;
	causes->kept_since = 0;
}

/* Return  how many events the chain has */
static unsigned fill_chain(struct tlg_event *events, uint32_t scope, uint64_t when, const char *text)
{
	size_t left = strlen(text);
	unsigned n = 1;

	events->flags = TLG_HIT | TLG_HAS_INFO;
	events->u.hit = (struct tlg_hit){ .when = when, .scopeIndex = scope, .tid = g_track.tid };
	do {
		size_t bytes = left < TLG_TEXT_SIZE ? left : TLG_TEXT_SIZE;
		memcpy(events[n].u.info.text.c, text, bytes);
		text += bytes;
		left -= bytes;
		events[n].flags = (uint16_t)(TLG_INFO | (left ? 0 : TLG_INFO_END));
		n++;
	} while (left);
	for (unsigned i = 0; i < n; i++)
		events[i].pid = (uint16_t)tr2_g_shm.head->pid;
	return n;
}

static void append(const struct cause *cause, uint64_t latest)
{
	const struct tr2_scope_key key = {
		.category = "trace2", .label = "snapshot", .style = TLG_STYLE_data,
	};
	struct tlg_event events[CHAIN_EVENTS] = { 0 };
	uint32_t scope = tr2_scope_intern(&key);
	uint64_t when = cause->when;

	if (when <= g_causes.latest)
		when = g_causes.latest + 1;
	if (when > latest)
		when = latest;
	g_causes.latest = when;
	if (!scope || tr2_stream_append(&g_track, events, fill_chain(events, scope, when, cause->text)) < 1)
		tr2_losses_add(g_track.tid, TLG_LOSS_NORING, 1);   /* the table of scopes is full */
}

static uint64_t earliest(const struct causes *causes, uint64_t when)
{
	for (unsigned i = 0; i < causes->n; i++)
		if (g_cause[i].when < when)
			when = g_cause[i].when;
	return when;
}

void tr2_cause_append(uint64_t now)
{
	struct causes *causes = &g_causes;

	if (!causes->n)
		return;
	begin_thread(earliest(causes, now - tr2_clock_ticks(MARGIN_NS)));
	add_counts(causes, &g_cause[causes->n - 1]);
	for (unsigned i = 0; i < causes->n; i++)
		append(&g_cause[i], now - tr2_clock_ticks(MARGIN_NS));
	causes->n = 0;
	causes->latest = now;
}

/* SPDX-License-Identifier: MIT */
/* tr2_judge.c - see tr2_judge.h. */
#include "tr2_judge.h"

#include <errno.h>
#include <string.h>

#include "tr2_cause.h"
#include "tr2_percentile.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "base/tr2_text.h"
#include "ring/tr2_scope.h"

enum {
	TENTHS = 16,              /* of a second, that a rate remembers */
	SECOND = 10,              /* of them */
};

/* What rules make of a scope: a bit for each rule that is for it. */
struct matched {
	uint16_t rules;
	uint8_t style, is_known;
};

/* What a rule has seen so far. */
struct seen {
	uint64_t bound;           /* slow: ticks */
	struct tr2_percentile *percentile;
	struct { uint64_t tenth, count; } rate[TENTHS];
};

static struct judging {
	const struct tr2_rules *rules;
	struct matched *matched;  /* TLG_MAX_SCOPES; of a scope that is not in the table rules know nothing */
	uint16_t regions;         /* rules that are for regions as they end */
	uint64_t second;          /* in ticks */
} g_judging;

TR2_LARGE static struct seen g_seen[TR2_RULES];

static_assert(TR2_RULES <= 16, "a bit for each rule");

/* ---- beginning ---------------------------------------------------------------------------------- */

static int make_percentiles(const struct tr2_rules *rules)
{
	for (unsigned i = 0; i < rules->n; i++) {
		if (rules->rule[i].kind != TR2_RULE_P99)
			continue;
		if (!g_seen[i].percentile)
			g_seen[i].percentile = tr2_memory_acquire_far(sizeof(struct tr2_percentile));
		if (!g_seen[i].percentile)
			return -errno;
	}
	return 0;
}

void tr2_judge_reset(void)
{
	for (unsigned i = 0; i < TR2_RULES; i++) {
		struct tr2_percentile *percentile = g_seen[i].percentile;
		if (percentile && percentile->count)
			memset(percentile, 0, sizeof(*percentile));
		g_seen[i] = (struct seen){ .percentile = percentile };
	}
}

int tr2_judge_begin(const struct tr2_rules *rules)
{
	struct matched *matched = g_judging.matched;
	int error = make_percentiles(rules);

	if (!matched)
		matched = tr2_memory_acquire_far(TLG_MAX_SCOPES * sizeof(*matched));
	else
		memset(matched, 0, TLG_MAX_SCOPES * sizeof(*matched));
	g_judging = (struct judging){ .matched = matched };
	tr2_judge_reset();
	if (error || !matched)
		return error ? error : -errno;
	g_judging.rules = rules;
	for (unsigned i = 0; i < rules->n; i++)
		if (rules->rule[i].kind == TR2_RULE_SLOW || rules->rule[i].kind == TR2_RULE_P99)
			g_judging.regions |= (uint16_t)(1 << i);
	return 0;
}

void tr2_judge_refresh(uint64_t now)
{
	g_judging.second = tr2_clock_ticks(1000000000);
	for (unsigned i = 0; i < g_judging.rules->n; i++) {
		if (g_judging.rules->rule[i].kind == TR2_RULE_SLOW)
			g_seen[i].bound = tr2_clock_ticks((uint64_t)g_judging.rules->rule[i].bound);
		else if (g_judging.rules->rule[i].kind == TR2_RULE_P99)
			tr2_percentile_go_on(g_seen[i].percentile,
					     (now - tr2_clock_start()) / (60 * g_judging.second));
	}
}

/* ---- scopes -------------------------------------------------------------------------------------- */

/* NULL names are empty ones here. */
static void find_names(const struct tlg_ring_scope *scope, const char **category, const char **label)
{
	const char *text = tr2_shm_text(scope->text);

	*category = scope->names & TLG_NAME_CATEGORY ? text : "";
	if (scope->names & TLG_NAME_CATEGORY)
		text += strlen(text) + 1;
	*label = scope->names & TLG_NAME_LABEL ? text : "";
}

static int is_for(const struct tr2_rule *rule, unsigned style)
{
	switch (rule->kind) {
	case TR2_RULE_SLOW:
	case TR2_RULE_P99:
		return style == TLG_STYLE_region_enter || style == TLG_STYLE_region_leave;
	case TR2_RULE_RATE:
		return style != TLG_STYLE_region_leave;
	case TR2_RULE_ERROR:
		return style == TLG_STYLE_error;
	case TR2_RULE_VALUE:
		return style == TLG_STYLE_data_intmax || style == TLG_STYLE_counter || style == TLG_STYLE_th_counter;
	default:
		return 0;
	}
}

static struct matched *learn(uint32_t index, const struct tlg_ring_scope *scope)
{
	struct matched *matched = &g_judging.matched[index];
	const char *category, *label;

	find_names(scope, &category, &label);
	matched->style = scope->style;
	matched->is_known = 1;
	for (unsigned i = 0; i < g_judging.rules->n; i++) {
		const struct tr2_rule *rule = &g_judging.rules->rule[i];
		if (is_for(rule, scope->style) &&
		    (rule->kind == TR2_RULE_ERROR || tr2_rule_matches(rule, category, label)))
			matched->rules |= (uint16_t)(1 << i);
	}
	return matched;
}

static struct matched match(uint32_t index)
{
	const struct tlg_ring_scope *scope;

	if (!index || index >= TLG_MAX_SCOPES)
		return (struct matched){ .is_known = 0 };
	if (g_judging.matched[index].is_known)
		return g_judging.matched[index];
	scope = tr2_scope_get(index);
	return scope ? *learn(index, scope) : (struct matched){ .is_known = 0 };
}

/* ---- causes -------------------------------------------------------------------------------------- */

/* "RULE: CATEGORY/LABEL" */
static struct tr2_text begin_text(char *text, unsigned rule, uint32_t scope)
{
	struct tr2_text to = tr2_text_begin(text, TR2_CAUSE_TEXT);
	const struct tlg_ring_scope *names = tr2_scope_get(scope);
	const char *category = "", *label = "";

	if (names)
		find_names(names, &category, &label);
	tr2_text_add(&to, g_judging.rules->rule[rule].text);
	tr2_text_add(&to, ": ");
	tr2_text_add(&to, category);
	tr2_text_add(&to, "/");
	tr2_text_add(&to, label);
	return to;
}

static void add_thread(struct tr2_text *to, const struct tr2_track *track)
{
	tr2_text_add(to, " in thread ");
	tr2_text_add(to, track->tid ? track->name : "main");
}

/* In ms, to the us. */
static void add_ms(struct tr2_text *to, uint64_t ticks)
{
	const uint64_t us = tr2_clock_ns(ticks) / 1000;

	tr2_text_decimal(to, us / 1000, 1);
	tr2_text_add(to, ".");
	tr2_text_decimal(to, us % 1000, 3);
	tr2_text_add(to, " ms");
}

/* ---- regions ------------------------------------------------------------------------------------- */

static int is_set(const uint64_t *bits, unsigned at)
{
	return bits[at / 64] >> at % 64 & 1;
}

static void set(uint64_t *bits, unsigned at, int is)
{
	bits[at / 64] &= ~(UINT64_C(1) << at % 64);
	bits[at / 64] |= (uint64_t)is << at % 64;
}

static void judge_slow(const struct tr2_watch *watch, unsigned rule, unsigned at, uint64_t when)
{
	const int is_written = is_set(watch->slow, at) && is_set(watch->reported, at);
	const uint64_t enter = watch->track.open[at].when;
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to;

	if (when - enter <= g_seen[rule].bound)
		return;
	to = begin_text(text, rule, watch->track.open[at].scope);
	tr2_text_add(&to, " took ");
	add_ms(&to, when - enter);
	add_thread(&to, &watch->track);
	tr2_cause_add(is_written ? TR2_CAUSE_AGAIN : TR2_CAUSE_NEW, when, enter, text);
}

static void judge_p99(const struct tr2_watch *watch, unsigned rule, unsigned at, uint64_t when)
{
	struct tr2_percentile *percentile = g_seen[rule].percentile;
	const uint64_t enter = watch->track.open[at].when, took = when - enter, usual = tr2_percentile_get(percentile);
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to;
	uint64_t bound;

	tr2_percentile_add(percentile, took);
	if (!usual || __builtin_mul_overflow(usual, (uint64_t)g_judging.rules->rule[rule].bound, &bound) ||
	    took <= bound / 1000)
		return;
	to = begin_text(text, rule, watch->track.open[at].scope);
	tr2_text_add(&to, " took ");
	add_ms(&to, took);
	tr2_text_add(&to, ", its 99th percentile is ");
	add_ms(&to, usual);
	add_thread(&to, &watch->track);
	tr2_cause_add(TR2_CAUSE_NEW, when, enter, text);
}

/* The region that was open there has ended, for these rules. */
static void judge_region(const struct tr2_watch *watch, unsigned rules, unsigned at, uint64_t when)
{
	const uint64_t enter = watch->track.open[at].when;

	if (!enter || enter > when)
		return;   /* it is not known when; TLG_OPEN_LOST is larger than any time */
	for (unsigned i = 0; rules >> i; i++) {
		if (!(rules >> i & 1))
			continue;
		if (g_judging.rules->rule[i].kind == TR2_RULE_SLOW)
			judge_slow(watch, i, at, when);
		else
			judge_p99(watch, i, at, when);
	}
}

/*
 * All regions from the present depth on have ended.  A leave is for its own region alone: behind a gap there may be
 * others, of which it is not known when they ended.  Of those before `sure` it is not known whether they were the same.
 */
static void judge_ended(struct tr2_watch *watch, unsigned sure, unsigned depth, struct matched by, uint64_t when)
{
	const int is_leave = by.style == TLG_STYLE_region_leave;
	unsigned at = watch->track.depth, end = depth < TR2_OPEN_REGIONS ? depth : TR2_OPEN_REGIONS;

	for (; at < end; at++) {
		unsigned rules = match(watch->track.open[at].scope).rules & g_judging.regions;
		if (is_leave)
			rules &= by.rules;
		if (rules && at >= sure)
			judge_region(watch, rules, at, when);
		if (is_leave)
			return;
	}
}

/* ---- other checkpoints --------------------------------------------------------------------------- */

static void count_rate(unsigned rule, uint64_t when)
{
	const uint64_t tenth = when / (g_judging.second / SECOND);
	unsigned at = (unsigned)(tenth % TENTHS);

	if (g_seen[rule].rate[at].tenth < tenth) {
		g_seen[rule].rate[at].tenth = tenth;
		g_seen[rule].rate[at].count = 0;
	}
	g_seen[rule].rate[at].count += g_seen[rule].rate[at].tenth == tenth;
}

static void judge_value(const struct tr2_watch *watch, unsigned rule, const struct tlg_event *events, unsigned count)
{
	const int64_t value = events[1].u.value.value;
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to;

	if (count < 2 || value <= g_judging.rules->rule[rule].bound)
		return;
	to = begin_text(text, rule, events->u.hit.scopeIndex);
	tr2_text_add(&to, value < 0 ? " is -" : " is ");
	tr2_text_decimal(&to, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
	add_thread(&to, &watch->track);
	tr2_cause_add(TR2_CAUSE_NEW, watch->track.last_when, watch->track.last_when, text);
}

static void judge_error(const struct tr2_watch *watch, unsigned rule)
{
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to = tr2_text_begin(text, sizeof(text));

	tr2_text_add(&to, g_judging.rules->rule[rule].text);
	tr2_text_add(&to, ":");
	add_thread(&to, &watch->track);
	tr2_cause_add(TR2_CAUSE_NEW, watch->track.last_when, watch->track.last_when, text);
}

static void judge_checkpoint(const struct tr2_watch *watch, unsigned rules, const struct tlg_event *events,
			     unsigned count)
{
	for (unsigned i = 0; rules >> i; i++) {
		if (!(rules >> i & 1))
			continue;
		if (g_judging.rules->rule[i].kind == TR2_RULE_RATE)
			count_rate(i, watch->track.last_when);
		else if (g_judging.rules->rule[i].kind == TR2_RULE_VALUE)
			judge_value(watch, i, events, count);
		else
			judge_error(watch, i);
	}
}

/* One that was a cause begins afresh. */
void tr2_judge_rates(uint64_t now)
{
	const uint64_t tenth = now / (g_judging.second / SECOND);

	for (unsigned i = 0; i < g_judging.rules->n; i++) {
		char text[TR2_CAUSE_TEXT];
		struct tr2_text to = tr2_text_begin(text, sizeof(text));
		uint64_t sum = 0;

		if (g_judging.rules->rule[i].kind != TR2_RULE_RATE)
			continue;
		for (unsigned at = 0; at < TENTHS; at++)
			if (g_seen[i].rate[at].tenth + SECOND > tenth)
				sum += g_seen[i].rate[at].count;
		if (sum <= (uint64_t)g_judging.rules->rule[i].bound)
			continue;
		memset(g_seen[i].rate, 0, sizeof(g_seen[i].rate));
		tr2_text_add(&to, g_judging.rules->rule[i].text);
		tr2_text_add(&to, ": ");
		tr2_text_decimal(&to, sum, 1);
		tr2_text_add(&to, " in the last second");
		tr2_cause_add(TR2_CAUSE_NEW, now, now - g_judging.second, text);
	}
}

/* ---- chains -------------------------------------------------------------------------------------- */

static void judge_hit(struct tr2_watch *watch, const struct tlg_event *events, unsigned count)
{
	const struct tlg_hit *hit = &events->u.hit;
	struct tr2_track *track = &watch->track;
	struct matched matched = match(hit->scopeIndex);
	const unsigned depth = track->depth;
	unsigned sure;

	tr2_track_assume_missing(track);
	sure = track->assumed ? track->assumed - 1 : 0;
	if (hit->when)
		track->last_when = hit->when;
	if (!matched.is_known)
		matched.style = (uint8_t)tr2_track_style(NULL, events, count);
	tr2_track_follow(track, events, count, matched.style);
	if (matched.rules & ~g_judging.regions)
		judge_checkpoint(watch, matched.rules & ~g_judging.regions, events, count);
	if (matched.style == TLG_STYLE_region_enter && track->depth && track->depth <= TR2_OPEN_REGIONS)
		set(watch->slow, track->depth - 1, 0);
	else if (track->depth < depth)
		judge_ended(watch, sure, depth, matched, track->last_when);
}

void tr2_judge_chain(struct tr2_watch *watch, const struct tlg_event *events, unsigned count)
{
	const struct tr2_chain chain = { .events = events, .count = count };

	switch (tlg_event_type(events)) {
	case TLG_THREAD:
		tr2_track_meet_thread(&watch->track, &chain);
		memset(watch->slow, 0, sizeof(watch->slow));
		break;
	case TLG_GAP:
		tr2_track_follow_gap(&watch->track, &events->u.gap);
		break;
	case TLG_HIT:
		tr2_track_check_thread(&watch->track, events->u.hit.tid);
		judge_hit(watch, events, count);
		break;
	}
}

/* ---- open regions -------------------------------------------------------------------------------- */

static void report_open(struct tr2_watch *watch, unsigned rule, unsigned at, uint64_t now)
{
	const uint64_t enter = watch->track.open[at].when;
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to = begin_text(text, rule, watch->track.open[at].scope);

	tr2_text_add(&to, " is still open after ");
	add_ms(&to, now - enter);
	add_thread(&to, &watch->track);
	set(watch->slow, at, 1);
	set(watch->reported, at, tr2_cause_add(TR2_CAUSE_NEW, now, enter, text));
}

/* Return  raw clock: when it will have been open for too long; UINT64_MAX: never, or it has been reported */
static uint64_t judge_open(struct tr2_watch *watch, unsigned rules, unsigned at, uint64_t now)
{
	const uint64_t enter = watch->track.open[at].when;
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; rules >> i; i++) {
		if (!(rules >> i & 1) || g_judging.rules->rule[i].kind != TR2_RULE_SLOW || enter > now)
			continue;
		if (now - enter > g_seen[i].bound)
			report_open(watch, i, at, now);
		else if (enter + g_seen[i].bound < next)
			next = enter + g_seen[i].bound;
	}
	return next;
}

/* The outermost regions, which are only assumed to be open, are not judged. */
uint64_t tr2_judge_open_regions(struct tr2_watch *watch, uint64_t now)
{
	const struct tr2_track *track = &watch->track;
	const unsigned known = g_judging.regions ? tr2_track_known_regions(track) : 0;
	uint64_t next = UINT64_MAX;

	for (unsigned at = track->assumed ? track->assumed - 1 : 0; at < known; at++) {
		unsigned rules = is_set(watch->slow, at) ? 0 : match(track->open[at].scope).rules & g_judging.regions;
		uint64_t when = rules ? judge_open(watch, rules, at, now) : UINT64_MAX;

		next = when < next ? when : next;
	}
	return next;
}

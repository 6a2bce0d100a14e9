/* SPDX-License-Identifier: MIT */
/* t2x_spans.c - spans: those of one thread, see t2x_spans.h. */
#include "t2x_spans.h"

#include <string.h>

#include "t2x_spans_private.h"
#include "base/t2x_memory.h"

/* ---- spans -------------------------------------------------------------------------------------- */

/* What the span around knows of one that has ended. */
static void add_to_outer(struct t2x_span *span, enum t2x_span_end end)
{
	span[-1].inner_ns += span->is_seen && t2x_span_is_exact(end) ? span->end_ns - span->start_ns : span->inner_ns;
	span[-1].is_inner_unknown |= end != T2X_SPAN_LEFT;
}

static __attribute__((noinline)) void free_message(struct t2x_span *span)
{
	t2x_free(span->message);
	span->message = NULL;
}

static void end_innermost(struct t2x_spans_table *table, struct t2x_spans *spans, uint64_t ns,
				 enum t2x_span_end end)
{
	struct t2x_span *span = &spans->spans[--spans->open];

	span->end_ns = ns > span->start_ns ? ns : span->start_ns;
	if (spans->at_once < span->after)
		spans->at_once = span->after;
	if (!span->is_seen && table->is_part) {
		if (table->end_unseen)
			table->end_unseen(table, spans, span, end);
		return;
	}
	if (span->is_seen && table->end_span)
		table->end_span(table, spans, span, end);
	spans->at_once++;
	if (spans->open)
		add_to_outer(span, end);
	free_message(span);
}

void t2x_spans_end_down_to(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open, uint64_t ns,
			   enum t2x_span_end end)
{
	while (spans->open > open)
		end_innermost(table, spans, ns, end);
}

int t2x_spans_make_room(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open)
{
	size_t *budget = table->budget ? table->budget : &table->own_budget;
	uint32_t max = spans->max ? spans->max : T2X_SPANS_FIRST;
	size_t more;
	struct t2x_span *larger;

	if (open <= spans->max)
		return 1;
	while (max < open && max < T2X_SPANS_MAX)
		max *= 2;
	more = (max - (spans->max ? spans->max : T2X_SPANS_FIRST)) * sizeof(*larger);
	larger = max >= open && more <= *budget ? t2x_realloc(spans->spans, max * sizeof(*larger)) : NULL;
	if (!larger) {
		table->is_full = 1;
		return 0;
	}
	*budget -= more;
	memset(larger + spans->max, 0, (max - spans->max) * sizeof(*larger));
	spans->spans = larger;
	spans->max = max;
	return 1;
}

int t2x_spans_fill_up_to(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open)
{
	if (spans->open < open && !t2x_spans_make_room(table, spans, open))
		return 0;
	while (spans->open < open)
		spans->spans[spans->open++] = (struct t2x_span){ .is_seen = 0 };
	return 1;
}

static __attribute__((noinline)) struct t2x_spans *keep_message(struct t2x_spans *spans, const struct t2x_event *ev)
{
	struct t2x_span *span = spans->at;

	span->message = t2x_malloc(ev->message_length + 1);
	if (!span->message)
		return spans;
	memcpy(span->message, ev->message, ev->message_length);
	span->message_length = (uint32_t)ev->message_length;
	return spans;
}

static struct t2x_spans *enter(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev);

/* As enter(), where regions around it were not seen, or there is no room. */
static __attribute__((noinline)) struct t2x_spans *
enter_any(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	spans->at = NULL;
	if (!t2x_spans_fill_up_to(table, spans, ev->open) || !t2x_spans_make_room(table, spans, ev->open + 1))
		return spans;
	return enter(table, spans, ev);
}

static struct t2x_spans *enter(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	struct t2x_span *span;

	if (__builtin_expect(spans->open != ev->open || spans->open == spans->max, 0))
		return enter_any(table, spans, ev);
	span = spans->at = &spans->spans[spans->open++];
	*span = (struct t2x_span){ .start_ns = ev->ns, .after = spans->at_once++, .is_seen = 1 };
	return table->keeps_messages && ev->message ? keep_message(spans, ev) : spans;
}

/*
 * A leave whose enter was not seen: the model may know its time nevertheless.
 * span  its place in the table, the innermost; NULL: it has none
 */
static void leave_unseen(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
			 const struct t2x_span *span)
{
	enum t2x_span_end end = ev->rel_ns == T2X_NO_TIME || !ev->rel_ns ? T2X_SPAN_UNSEEN : T2X_SPAN_LEFT;

	table->unseen = (struct t2x_span){
		.start_ns = end == T2X_SPAN_LEFT ? ev->ns - ev->rel_ns : 0, .end_ns = ev->ns, .leave = ev,
		.inner_ns = span ? span->inner_ns : 0,
		.is_inner_unknown = span ? span->is_inner_unknown : table->is_full || ev->open >= T2X_SPANS_MAX,
	};
	if (span) {
		spans->open--;
		spans->at_once++;
	}
	if (table->end_span)
		table->end_span(table, spans, &table->unseen, end);
	table->unseen.leave = NULL;
	spans->at = &table->unseen;
	/* The region around may not have been seen either: it gets a place, which has the time of this one. */
	if (spans->open < ev->open)
		t2x_spans_fill_up_to(table, spans, ev->open);
	if (!spans->open || spans->open != ev->open)
		return;
	t2x_span_add_inner(&spans->spans[ev->open - 1], ev->rel_ns);
	if (ev->rel_ns > INT64_MAX)
		spans->spans[ev->open - 1].inner_ns += table->unseen.inner_ns;
}

static __attribute__((noinline)) void
leave_any(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	enum t2x_span_end end = ev->rel_ns == T2X_NO_TIME ? T2X_SPAN_UNSURE : T2X_SPAN_LEFT;
	struct t2x_span *span;

	spans->at = NULL;
	if (table->is_part && !t2x_spans_fill_up_to(table, spans, ev->open + 1))
		return;
	t2x_spans_end_down_to(table, spans, ev->open + 1, ev->ns, T2X_SPAN_LOST);
	span = spans->open == ev->open + 1 ? &spans->spans[ev->open] : NULL;
	if (!span || (!span->is_seen && !table->is_part)) {
		leave_unseen(table, spans, ev, span);
		return;
	}
	if (span->is_seen && end == T2X_SPAN_LEFT && span->start_ns != ev->ns - ev->rel_ns) {
		span->start_ns = ev->ns - ev->rel_ns;
		span->is_moved = 1;
	}
	end_innermost(table, spans, ev->ns, end);
	spans->at = span;
	if (ev->rel_ns > INT64_MAX && spans->open)
		span[-1].is_inner_unknown = 1;
}

/* As leave_any(), where the innermost region is left, and it took as long as its span says. */
static __attribute__((noinline)) struct t2x_spans *
leave(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	struct t2x_span *span = &spans->spans[spans->open - (spans->open > 0)];

	if (__builtin_expect(spans->open != ev->open + 1 || !ev->open || !span->is_seen ||
			     ev->rel_ns != ev->ns - span->start_ns || ev->rel_ns > INT64_MAX, 0)) {
		leave_any(table, spans, ev);
		return spans;
	}
	span->end_ns = ev->ns;
	spans->open = ev->open;
	if (spans->at_once < span->after)
		spans->at_once = span->after;
	if (table->end_span)
		table->end_span(table, spans, span, T2X_SPAN_LEFT);
	spans->at_once++;
	span[-1].inner_ns += ev->rel_ns;
	if (__builtin_expect(span->message != NULL, 0))
		free_message(span);
	spans->at = span;
	return spans;
}

/* ---- events ------------------------------------------------------------------------------------- */

/* The span around an event that neither enters nor leaves a region.  NULL: that is not known */
static inline struct t2x_span *find_around(const struct t2x_spans *spans, const struct t2x_event *ev)
{
	return spans->open && spans->open == ev->open ? &spans->spans[spans->open - 1] : NULL;
}

/* As t2x_spans_apply(), where spans end that the event is not in, events are missing, or the process ends. */
static __attribute__((noinline)) struct t2x_spans *
apply_any(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	t2x_spans_end_down_to(table, spans, ev->open, spans->last_ns,
			      tlg_style_unwinds(ev->style) ? T2X_SPAN_CUT : T2X_SPAN_LOST);
	if (ev->style == TLG_STYLE_region_enter)
		return enter(table, spans, ev);
	/* A region whose enter was not seen gets a place when events are missing in it: its inner time is not known. */
	if (ev->lost && spans->open < ev->open)
		t2x_spans_fill_up_to(table, spans, ev->open);
	spans->at = find_around(spans, ev);
	if (ev->lost && spans->at)
		spans->at->is_inner_unknown = 1;
	spans->process->is_over |= t2x_spans_ends_process(ev);
	return spans;
}

struct t2x_spans *t2x_spans_apply(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	t2x_spans_reach(spans, ev->ns);
	if (ev->style == TLG_STYLE_region_leave)
		return leave(table, spans, ev);
	if (__builtin_expect(spans->open > ev->open || ev->lost || t2x_spans_ends_process(ev), 0))
		return apply_any(table, spans, ev);
	if (ev->style == TLG_STYLE_region_enter)
		return enter(table, spans, ev);
	spans->at = find_around(spans, ev);
	return spans;
}

int t2x_spans_prepare(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open)
{
	return t2x_spans_make_room(table, spans, open + 2) && t2x_spans_fill_up_to(table, spans, open);
}

const char *t2x_span_ending(enum t2x_span_end end)
{
	static const char *const endings[] = {
		[T2X_SPAN_UNSURE] = "not sure: events are missing in it",
		[T2X_SPAN_LOST] = "missing",
		[T2X_SPAN_CUT] = "the thread or process ended",
		[T2X_SPAN_OPEN] = "none: it was open at the end of the trace",
		[T2X_SPAN_UNSEEN] = "left here; its start is missing",
	};

	return endings[end];
}

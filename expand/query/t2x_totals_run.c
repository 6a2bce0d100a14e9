/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_run.c - what the usual checkpoints of a run add to totals.
 *
 * As t2x_totals_accumulate.c has it, but of a thread and of scopes that were there before, so that nothing is looked
 * for by its names, and of regions that were entered in what the totals are of.
 */
#include "t2x_totals_regions.h"
#include "t2x_totals_rows.h"
#include "model/t2x_run.h"

/* Add the next checkpoint.  row  NULL: it is not at hand.  Return  0: it is not usual */
static inline __attribute__((always_inline)) int
add(struct t2x_totals *totals, const struct t2x_spans *spans, struct t2x_row *row, struct t2x_run *run,
    struct t2x_usual *usual)
{
	struct t2x_span *span = &spans->spans[run->open - 1], *outer;
	int64_t integer;
	uint64_t ns;

	switch (usual->scope->style) {
	case TLG_STYLE_region_enter:
		if (!row || !t2x_run_message(run, usual))
			return 0;
		row->entered++;
		span[1].own = row;
		span[1].start_ns = usual->ns;
		span[1].inner_ns = span[1].nested_ns = 0;
		span[1].node = span->node | row->bit;
		span[1].is_thread = 0;
		span[1].is_seen = 1;
		span[1].is_moved = 0;
		span[1].is_inner_unknown = 0;
		t2x_run_enter(run, usual);
		return 1;
	case TLG_STYLE_region_leave:
		if (!row || span->own != row || run->open < 2 || !t2x_run_message(run, usual))
			return 0;
		ns = usual->ns - run->regions[run->open - 1].ns;
		if (__builtin_expect(ns > INT64_MAX, 0))
			return 0;
		run->open--;
		span[-1].inner_ns += ns;
		outer = t2x_totals_find_outer(spans, span, row);
		if (__builtin_expect(outer != NULL, 0))
			t2x_totals_nest(row, outer, ns);
		t2x_row_leave(row, span, ns, &totals->budget);
		return 1;
	case TLG_STYLE_data_intmax:
		if (!row || !t2x_run_integer(run, usual, &integer))
			return 0;
		row->count++;
		t2x_row_add_value(row, run->thread, usual->ns, integer);
		return 1;
	case TLG_STYLE_data: case TLG_STYLE_data_json:
		if (!row || !t2x_run_text(run, usual))
			return 0;
		row->count++;
		return 1;
	case TLG_STYLE_step:
		if (!row || !t2x_run_bare(run, usual))
			return 0;
		row->count++;
		return 1;
	default:
		return 0;
	}
}

/* The spans of the thread, if they are what the run says.  Return  NULL: the next checkpoint goes the long way */
static inline struct t2x_spans *find_spans(struct t2x_totals *totals, const struct t2x_run *run)
{
	struct t2x_spans *spans = t2x_spans_at_hand(&totals->spans, run->thread);
	const struct t2x_totals_thread *thread = spans ? spans->own : NULL;

	if (!thread || !thread->row || spans->open > run->open || !run->open)
		return NULL;
	if (__builtin_expect(spans->open < run->open || spans->max <= run->open + 1, 0) &&
	    !t2x_spans_prepare(&totals->spans, spans, run->open))
		return NULL;
	t2x_totals_expect_enters(spans, &spans->spans[spans->open - 1]);
	return spans;
}

void t2x_totals_add_run(struct t2x_printer *printer, struct t2x_run *run)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_spans *spans = find_spans(totals, run);
	const uint64_t apart = t2x_totals_apart(totals, run->thread);
	struct t2x_run at = *run;
	struct t2x_usual usual;

	if (!spans)
		return;
	t2x_run_limit(&at, spans->max);
	while (t2x_run_next(&at, &usual)) {
		struct t2x_row *row = t2x_totals_at_hand(totals, usual.scope->number, apart);

		if (!add(totals, spans, row, &at, &usual))
			break;
		t2x_run_take(&at, &usual);
	}
	if (at.hits) {
		struct t2x_totals_thread *thread = spans->own;

		t2x_totals_count(totals, thread->row, at.hits, at.now_ns);
		thread->active_ns = at.now_ns;
		spans->open = at.open;
		spans->last_ns = at.now_ns;
	}
	*run = at;
}

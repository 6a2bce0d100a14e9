/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_add.c - what the usual checkpoints of a stretch add to totals.
 *
 * As t2x_totals_take.c has it, but of a thread and of scopes that were there before, so that nothing is looked for by
 * its names, and of regions that were entered in what the totals are of.
 */
#include "t2x_totals_private.h"
#include "model/t2x_stretch.h"

/* Add the next checkpoint.  row  NULL: it is not at hand.  Return  0: it is not usual */
static inline __attribute__((always_inline)) int
add(struct t2x_totals *totals, struct t2x_level *levels, struct t2x_row *row, struct t2x_stretch *stretch,
    struct t2x_usual *usual)
{
	struct t2x_level *inside = &levels[stretch->open], left;
	int64_t integer;
	uint64_t ns;

	switch (usual->scope->style) {
	case TLG_STYLE_region_enter:
		if (!row || !t2x_stretch_message(stretch, usual))
			return 0;
		row->entered++;
		t2x_level_enter(inside + 1, row, usual->ns);
		t2x_stretch_enter(stretch, usual);
		return 1;
	case TLG_STYLE_region_leave:
		if (!row || inside->region != row || !t2x_stretch_message(stretch, usual))
			return 0;
		ns = t2x_stretch_leave(stretch, usual);
		left = t2x_level_leave(inside, ns);
		t2x_row_leave(row, &left, ns, &totals->budget);
		return 1;
	case TLG_STYLE_data_intmax:
		if (!row || !t2x_stretch_integer(stretch, usual, &integer))
			return 0;
		row->count++;
		t2x_row_add_value(row, stretch->thread, usual->ns, integer);
		return 1;
	case TLG_STYLE_data: case TLG_STYLE_data_json:
		if (!row || !t2x_stretch_text(stretch, usual))
			return 0;
		row->count++;
		return 1;
	case TLG_STYLE_step:
		return t2x_stretch_bare(stretch, usual);
	default:
		return 0;
	}
}

void t2x_totals_add(struct t2x_printer *printer, struct t2x_stretch *stretch)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_totals_thread *thread = t2x_threads_at_hand(&totals->threads, stretch->thread);
	const uint64_t apart = t2x_totals_apart(totals, stretch->thread);
	struct t2x_stretch at = *stretch;
	struct t2x_usual usual;

	if (!thread || !thread->row || !thread->capacity)
		return;
	t2x_stretch_limit(&at, thread->capacity - 1);
	while (t2x_stretch_next(&at, &usual)) {
		struct t2x_row *row = t2x_totals_at_hand(totals, usual.scope->number, apart);

		if (!add(totals, thread->levels, row, &at, &usual))
			break;
		t2x_stretch_take(&at, &usual);
	}
	if (at.hits)
		t2x_totals_count(totals, thread->row, at.hits, at.now_ns);
	*stretch = at;
}

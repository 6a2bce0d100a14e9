/* SPDX-License-Identifier: MIT */
/* t2x_diff.c - see t2x_diff.h. */
#include "t2x_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "t2x_diff_form.h"
#include "t2x_diff_times.h"
#include "t2x_filter.h"
#include "t2x_totals_regions.h"

enum { OLD, NEW };

/* What the runs of a side have of a row. */
struct side {
	uint64_t *values;             /* sorted; one for each run */
	unsigned n;
};

/* ---- rows of all runs --------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t find_count(struct t2x_row *row)
{
	if (t2x_row_has_durations(row))
		return row->entered > t2x_row_left(row) ? row->entered : t2x_row_left(row);
	return row->kind == T2X_ROW_COUNTER || row->kind == T2X_ROW_MISSING ? row->total : row->count;
}

static uint64_t find_time(struct t2x_row *row)
{
	return t2x_row_time(row);
}

static uint64_t find_mean(struct t2x_row *row)
{
	return t2x_row_mean(row);
}

static uint64_t find_p50(struct t2x_row *row)
{
	return t2x_histogram_percentile(&row->durations, 50);
}

static uint64_t find_p90(struct t2x_row *row)
{
	return t2x_histogram_percentile(&row->durations, 90);
}

static uint64_t find_p99(struct t2x_row *row)
{
	return t2x_histogram_percentile(&row->durations, 99);
}

/* The figures of a row's durations, 0 where they are not known. */
static const struct figure {
	const char *name;
	uint64_t (*find)(struct t2x_row *row);
} figures[] = {
	{ "total", find_time }, { "mean", find_mean }, { "p50", find_p50 }, { "p90", find_p90 }, { "p99", find_p99 },
};

/* The values of the rows, 0 for runs that have none. */
static void fill(const struct t2x_diff *diff, struct side *sides, const struct t2x_diff_item *items, unsigned n,
		 uint64_t (*find)(struct t2x_row *row))
{
	memset(sides[OLD].values, 0, diff->nold * sizeof(uint64_t));
	memset(sides[NEW].values, 0, diff->nnew * sizeof(uint64_t));
	for (unsigned i = 0; i < n; i++) {
		if (items[i].run < diff->nold)
			sides[OLD].values[items[i].run] += find(items[i].row);
		else
			sides[NEW].values[items[i].run - diff->nold] += find(items[i].row);
	}
	qsort(sides[OLD].values, sides[OLD].n, sizeof(uint64_t), compare_values);
	qsort(sides[NEW].values, sides[NEW].n, sizeof(uint64_t), compare_values);
}

static uint64_t least(const struct side *side)
{
	return side->values[0];
}

static uint64_t largest(const struct side *side)
{
	return side->values[side->n - 1];
}

/* Of an even number of runs, in the middle of the two. */
static uint64_t median(const struct side *side)
{
	const uint64_t lower = side->values[(side->n - 1) / 2];

	return lower + (side->values[side->n / 2] - lower) / 2;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* "12", "12-14" */
static void put_range(struct t2x_out *out, const struct side *side)
{
	char range[48], cell[64];

	snprintf(range, sizeof(range), "%" PRIu64, least(side));
	if (least(side) != largest(side))
		snprintf(range + strlen(range), sizeof(range) - strlen(range), "-%" PRIu64, largest(side));
	snprintf(cell, sizeof(cell), " %16s", range);
	t2x_out_string(out, cell);
}

static struct t2x_diff_side describe(const struct side *side)
{
	return (struct t2x_diff_side){ least(side), median(side), largest(side) };
}

/* Return  1: it has changed */
static int show_structure(struct t2x_out *out, const struct t2x_diff *diff, const struct side *sides,
			  const struct t2x_row *row, int is_first)
{
	const char *what = !largest(&sides[OLD]) ? "new" : !largest(&sides[NEW]) ? "gone" : "";
	const struct t2x_diff_line line = { .row = row, .old = describe(&sides[OLD]), .new = describe(&sides[NEW]) };

	if (least(&sides[NEW]) >= least(&sides[OLD]) && largest(&sides[NEW]) <= largest(&sides[OLD]))
		return 0;
	if (diff->form) {
		t2x_diff_form_line(diff, out, &line);
		return 1;
	}
	if (is_first)
		t2x_out_literal(out, "structure\n"
				     "             old              new       kind     category       label\n");
	put_range(out, &sides[OLD]);
	put_range(out, &sides[NEW]);
	t2x_out_repeat(out, ' ', 6 - strlen(what));
	t2x_out_string(out, what);
	t2x_diff_put_names(out, row);
	return 1;
}

/* Half of what the runs of a side differ by, in per cent. */
static double find_noise(const struct side *side)
{
	return median(side) ? 50.0 * (double)(largest(side) - least(side)) / (double)median(side) : 0;
}

/* The medians of both sides. */
struct change {
	double old, new;
	double percent, noise;        /* by which they differ; that runs of a side differ by */
};

static struct change find_change(const struct side *sides)
{
	double old = (double)median(&sides[OLD]), new = (double)median(&sides[NEW]);
	double of_old = find_noise(&sides[OLD]), of_new = find_noise(&sides[NEW]);

	return (struct change){
		.old = old, .new = new, .percent = old > 0 ? 100 * (new - old) / old : 0,
		.noise = of_old > of_new ? of_old : of_new,
	};
}

static double size_of(const struct change *change)
{
	return change->percent < 0 ? -change->percent : change->percent;
}

/* figure  "": it needs no name */
static void put_change(struct t2x_out *out, const struct t2x_diff *diff, const struct change *change,
		       const char *figure, const struct t2x_row *row)
{
	char line[128];

	snprintf(line, sizeof(line), " %15.0f %16.0f %+7.1f%% ", change->old, change->new, change->percent);
	t2x_out_string(out, line);
	if (diff->nold > 1 || diff->nnew > 1)
		snprintf(line, sizeof(line), "%6.1f%%", change->noise);
	else
		snprintf(line, sizeof(line), "      ?");
	t2x_out_string(out, line);
	if (*figure) {
		snprintf(line, sizeof(line), "  %-5s", figure);
		t2x_out_string(out, line);
	}
	t2x_diff_put_names(out, row);
}

/* Return  1: it has changed */
static int show_time(struct t2x_out *out, const struct t2x_diff *diff, const struct side *sides,
		     const struct t2x_row *row, int is_first)
{
	const struct change change = find_change(sides);

	if (least(&sides[NEW]) <= largest(&sides[OLD]) && least(&sides[OLD]) <= largest(&sides[NEW]))
		return 0;
	if (change.old <= 0 || change.new <= 0 || size_of(&change) <= diff->threshold ||
	    size_of(&change) <= change.noise)
		return 0;
	if (is_first)
		t2x_out_literal(out, "time\n"
				     "          old ns           new ns   change   noise"
				     "  kind     category       label\n");
	put_change(out, diff, &change, "", row);
	return 1;
}

/* A figure that both sides have, whether the change is noise or not.  Return  1: it was shown */
static int show_figure(struct t2x_out *out, const struct t2x_diff *diff, const struct side *sides,
		       const struct figure *figure, const struct t2x_row *row, int is_first)
{
	const struct change change = find_change(sides);

	if (change.old <= 0 || change.new <= 0 || size_of(&change) <= 0 || size_of(&change) <= diff->threshold)
		return 0;
	if (is_first)
		t2x_out_literal(out, "durations\n"
				     "          old ns           new ns   change   noise"
				     "  of     kind     category       label\n");
	put_change(out, diff, &change, figure->name, row);
	return 1;
}

/* ---- all of them -------------------------------------------------------------------------------- */

/* Of durations all figures that differ. */
static void show_figures(const struct t2x_diff *diff, struct t2x_out *out, struct side *sides,
			 const struct t2x_diff_item *items, unsigned n)
{
	int shown = 0;

	for (unsigned i = 0, of_row; i < n; i += of_row) {
		of_row = t2x_diff_count(items + i, n - i);
		for (unsigned k = 0; k < sizeof(figures) / sizeof(figures[0]); k++) {
			if (!t2x_row_has_durations(items[i].row))
				continue;
			fill(diff, sides, items + i, of_row, figures[k].find);
			shown += show_figure(out, diff, sides, &figures[k], items[i].row, !shown);
		}
	}
}

/* Structure, or time.  Return  how many rows have changed */
static int show_rows(const struct t2x_diff *diff, struct t2x_out *out, struct side *sides,
		     const struct t2x_diff_item *items, unsigned n, int is_time)
{
	int changed = 0;

	for (unsigned i = 0, of_row; i < n; i += of_row) {
		const struct t2x_row *row = items[i].row;

		of_row = t2x_diff_count(items + i, n - i);
		if (row->kind == T2X_ROW_FUNCTION || (is_time && row->kind > T2X_ROW_TIMER))
			continue;   /* how often a function is sampled is up to chance */
		fill(diff, sides, items + i, of_row, is_time ? find_time : find_count);
		changed += is_time ? show_time(out, diff, sides, row, !changed)
				   : show_structure(out, diff, sides, row, !changed);
	}
	return changed;
}

static int show_all(const struct t2x_diff *diff, struct t2x_out *out, struct side *sides,
		    const struct t2x_diff_item *items, unsigned n)
{
	int changed, times = 0;

	t2x_diff_form_begin(diff, out);
	changed = show_rows(diff, out, sides, items, n, 0);
	if (diff->has_times)
		times = t2x_diff_times_show(diff, out, items, n);
	else if (diff->threshold >= 0)
		times = show_rows(diff, out, sides, items, n, 1);
	if (diff->has_durations)
		show_figures(diff, out, sides, items, n);
	t2x_diff_form_end(diff, out);
	return times < 0 ? times : changed + times;
}

int t2x_diff_show(const struct t2x_diff *diff, struct t2x_out *out)
{
	unsigned lines = 0;
	struct t2x_diff counted = *diff;
	struct side sides[2] = { { NULL, diff->nold }, { NULL, diff->nnew } };
	struct t2x_diff_item *items;
	int changed = -ENOMEM;
	unsigned n;

	counted.lines = &lines;
	for (unsigned run = 0; run < diff->nold + diff->nnew; run++)
		t2x_totals_unnest_open(diff->runs[run]);
	items = t2x_diff_list(diff, &n);
	sides[OLD].values = calloc(diff->nold, sizeof(uint64_t));
	sides[NEW].values = calloc(diff->nnew, sizeof(uint64_t));
	if (items && sides[OLD].values && sides[NEW].values)
		changed = show_all(&counted, out, sides, items, n);
	free(items);
	free(sides[OLD].values);
	free(sides[NEW].values);
	return changed;
}

static int begin(struct t2x_printer *printer)
{
	return t2x_totals_use(printer, printer->options.filter->own);
}

const struct t2x_writer t2x_writer_totals = {
	.begin = begin, .unresolved = t2x_totals_accumulate, .ignores_messages = 1, .add = t2x_totals_add_run,
	.never_left = t2x_totals_never_left,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = t2x_totals_accumulate,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

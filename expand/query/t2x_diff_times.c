/* SPDX-License-Identifier: MIT */
/* t2x_diff_times.c - see t2x_diff_times.h. */
#include "t2x_diff_times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/t2x_human.h"
#include "t2x_shift.h"

enum { MOST_BY_CHANCE = 20 };             /* rows that are shown where all may be chance */

static const double share_of_false = 0.05;

struct change {
	const struct t2x_row *row;
	uint64_t old, new;                /* medians */
	struct t2x_shift shift;
};

struct times {
	const struct t2x_diff *diff;
	struct t2x_shift_test *test;
	uint64_t *old, *new, *sorted;     /* of a row: each run's */
	struct change *changes;
	unsigned n;
};

static uint64_t find_time(const struct t2x_row *row)
{
	return row->kind == T2X_ROW_REGION ? row->self : t2x_row_time(row);
}

static int has_time(const struct t2x_row *row)
{
	return row->kind <= T2X_ROW_TIMER || row->kind == T2X_ROW_FUNCTION;
}

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t find_median(struct times *times, const uint64_t *values, unsigned n)
{
	memcpy(times->sorted, values, n * sizeof(*values));
	qsort(times->sorted, n, sizeof(*values), compare_values);
	return times->sorted[n / 2];
}

/* Runs that have nothing of a row have 0; a quotient needs a little more. */
static void fill_runs(struct times *times, const struct t2x_diff_item *items, unsigned n)
{
	const unsigned nold = times->diff->nold, nnew = times->diff->nnew;

	memset(times->old, 0, nold * sizeof(*times->old));
	memset(times->new, 0, nnew * sizeof(*times->new));
	for (unsigned i = 0; i < n; i++)
		*(items[i].run < nold ? &times->old[items[i].run] : &times->new[items[i].run - nold]) +=
			find_time(items[i].row);
}

static void avoid_zeros(uint64_t *values, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		values[i] += !values[i];
}

/* What most runs of a side have not is a change of structure. */
static void add_row(struct times *times, const struct t2x_diff_item *items, unsigned n)
{
	const unsigned nold = times->diff->nold, nnew = times->diff->nnew;
	struct change *change = &times->changes[times->n];

	fill_runs(times, items, n);
	*change = (struct change){
		.row = items[0].row, .old = find_median(times, times->old, nold),
		.new = find_median(times, times->new, nnew),
	};
	if (!change->old || !change->new)
		return;
	avoid_zeros(times->old, nold);
	avoid_zeros(times->new, nnew);
	change->shift = t2x_shift_find(times->test, times->old, times->new);
	times->n++;
}

static int compare_p(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->shift.p < y->shift.p ? -1 : x->shift.p > y->shift.p;
}

static uint64_t impact_of(const struct change *change)
{
	return change->new > change->old ? change->new - change->old : change->old - change->new;
}

/* The same impact: as the rows were, by kind and name. */
static int compare_impacts(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const uint64_t of_x = impact_of(x), of_y = impact_of(y);
	int difference = of_x == of_y ? 0 : of_x > of_y ? -1 : 1;

	if (!difference)
		difference = (x->row->kind > y->row->kind) - (x->row->kind < y->row->kind);
	if (!difference)
		difference = strcmp(x->row->category, y->row->category);
	return difference ? difference : strcmp(x->row->label, y->row->label);
}

/* Those that are no chance come first.  Return  how many these are; -ENOMEM */
static int find_believed(struct times *times)
{
	double *p = calloc(times->n + 1, sizeof(*p));
	unsigned believed;

	if (!p)
		return -ENOMEM;
	qsort(times->changes, times->n, sizeof(*times->changes), compare_p);
	for (unsigned i = 0; i < times->n; i++)
		p[i] = times->changes[i].shift.p;
	believed = t2x_shift_believe(p, times->n, share_of_false);
	free(p);
	return (int)believed;
}

/* Leave the rows that differ by more than the threshold.  Return  how many of the first n these are */
static unsigned drop_small(struct times *times, unsigned n)
{
	const double least = times->diff->threshold > 0 ? times->diff->threshold / 100 : 0;
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		const double change = times->changes[i].shift.change;
		if (change > least || -change > least)
			times->changes[left++] = times->changes[i];
	}
	return left;
}

static void put_change(struct t2x_out *out, const struct change *change, int is_alone)
{
	char old[T2X_HUMAN_BYTES], new[T2X_HUMAN_BYTES], line[128];

	snprintf(line, sizeof(line), "  %s  %s %+8.1f%%", t2x_human_time(old, change->old, 1),
		 t2x_human_time(new, change->new, 1), 100 * change->shift.change);
	t2x_out_string(out, line);
	if (!is_alone) {
		snprintf(line, sizeof(line), "  %+7.1f%% .. %+7.1f%%  %7.2g", 100 * change->shift.low,
			 100 * change->shift.high, change->shift.p);
		t2x_out_string(out, line);
	}
	t2x_diff_put_names(out, change->row);
}

static void put_note(struct t2x_out *out, const char *format, unsigned n)
{
	char line[128];

	snprintf(line, sizeof(line), format, n);
	t2x_out_string(out, line);
	t2x_out_end_line(out);
}

/* How many runs on each side find one row among so many. */
static unsigned find_enough(unsigned rows)
{
	double p = 1;
	unsigned runs = 0;

	while (p > share_of_false / (rows ? rows : 1)) {
		runs++;
		p = runs == 1 ? 1 : p * runs / (2 * (2 * runs - 1));   /* 2 of as many choices as there are */
	}
	return runs;
}

/* Nothing can be told from chance, and so no row has changed. */
static void show_by_chance(struct times *times, struct t2x_out *out)
{
	const unsigned enough = find_enough(times->n);
	const unsigned n = drop_small(times, times->n), shown = n < MOST_BY_CHANCE ? n : MOST_BY_CHANCE;

	if (!n)
		return;
	qsort(times->changes, n, sizeof(*times->changes), compare_impacts);
	put_note(out, "times (may be chance: %u runs on each side would tell)", enough);
	t2x_out_literal(out, "        old        new    change  kind     category       label\n");
	for (unsigned i = 0; i < shown; i++)
		put_change(out, &times->changes[i], 1);
	if (n > shown)
		put_note(out, "  more rows, which --durations shows: %u", n - shown);
}

static unsigned show_believed(struct times *times, struct t2x_out *out, unsigned believed)
{
	const unsigned n = drop_small(times, believed), others = times->n - n;

	if (!n)
		return 0;
	qsort(times->changes, n, sizeof(*times->changes), compare_impacts);
	t2x_out_literal(out, "times\n"
			     "        old        new    change         95% interval        p"
			     "  kind     category       label\n");
	for (unsigned i = 0; i < n; i++)
		put_change(out, &times->changes[i], 0);
	if (others)
		put_note(out, times->diff->threshold > 0
				      ? "  rows that differ by less, or by no more than chance explains: %u"
				      : "  rows that differ by no more than chance explains: %u", others);
	return n;
}

static int show(struct times *times, struct t2x_out *out, const struct t2x_diff_item *items, unsigned n)
{
	int believed;

	for (unsigned i = 0, of_row; i < n; i += of_row) {
		of_row = t2x_diff_count(items + i, n - i);
		if (has_time(items[i].row))
			add_row(times, items + i, of_row);
	}
	believed = find_believed(times);
	if (!believed && t2x_shift_least_p(times->test) > share_of_false / times->n)
		show_by_chance(times, out);
	return believed < 0 ? believed : (int)show_believed(times, out, (unsigned)believed);
}

int t2x_diff_times_show(const struct t2x_diff *diff, struct t2x_out *out, const struct t2x_diff_item *items,
			unsigned n)
{
	const unsigned most = diff->nold > diff->nnew ? diff->nold : diff->nnew;
	struct times times = {
		.diff = diff, .test = t2x_shift_new(diff->nold, diff->nnew),
		.old = calloc(diff->nold, sizeof(*times.old)), .new = calloc(diff->nnew, sizeof(*times.new)),
		.sorted = calloc(most, sizeof(*times.sorted)), .changes = calloc(n + 1, sizeof(*times.changes)),
	};
	int changed = -ENOMEM;

	if (times.test && times.old && times.new && times.sorted && times.changes)
		changed = show(&times, out, items, n);
	t2x_shift_free(times.test);
	free(times.old);
	free(times.new);
	free(times.sorted);
	free(times.changes);
	return changed;
}

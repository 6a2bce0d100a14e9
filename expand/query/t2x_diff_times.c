/* SPDX-License-Identifier: MIT */
/* t2x_diff_times.c - see t2x_diff_times.h. */
#include "t2x_diff_times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/t2x_human.h"
#include "t2x_diff_form.h"
#include "t2x_shift.h"

enum { MOST_BY_CHANCE = 20 };             /* rows that are shown where all may be chance */

static const double share_of_false = 0.05;

struct change {
	const struct t2x_row *row;
	uint64_t old, new;                /* medians */
	uint64_t old_ends[2], new_ends[2];   /* the least, the largest */
	int is_believed;
	uint64_t impact;                  /* time that it costs or saves in a run */
	int is_of_each;                   /* of the median call, not of all */
	struct t2x_shift shift;
};

struct times {
	const struct t2x_diff *diff;
	struct t2x_shift_test *test;
	uint64_t *old, *new, *sorted;     /* of a row: each run's */
	struct change *changes;
	unsigned n;
};

static uint64_t find_all(struct t2x_row *row)
{
	return row->kind == T2X_ROW_REGION ? row->self : t2x_row_time(row);
}

static uint64_t find_each(struct t2x_row *row)
{
	return t2x_histogram_percentile(&row->durations, 50);
}

static int has_time(const struct t2x_row *row)
{
	return row->kind <= T2X_ROW_TIMER || row->kind == T2X_ROW_FUNCTION;
}

/*
 * Another program on the processor makes a few calls longer, and so all of the run, but not the median call.  Of a
 * region with regions inside that call includes their time: so it has none.
 */
static int has_each(const struct t2x_diff_item *items, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct t2x_row *row = items[i].row;
		if (!row->count || row->durations.is_cut || (row->kind == T2X_ROW_REGION && row->self != row->total))
			return 0;
	}
	return t2x_row_has_durations(items[0].row);
}

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t find_median(struct times *times, const uint64_t *values, unsigned n, uint64_t ends[2])
{
	memcpy(times->sorted, values, n * sizeof(*values));
	qsort(times->sorted, n, sizeof(*values), compare_values);
	ends[0] = times->sorted[0];
	ends[1] = times->sorted[n - 1];
	return times->sorted[(n - 1) / 2] + (times->sorted[n / 2] - times->sorted[(n - 1) / 2]) / 2;
}

static void fill_runs(struct times *times, const struct t2x_diff_item *items, unsigned n,
		      uint64_t (*find)(struct t2x_row *row))
{
	const unsigned nold = times->diff->nold, nnew = times->diff->nnew;

	memset(times->old, 0, nold * sizeof(*times->old));
	memset(times->new, 0, nnew * sizeof(*times->new));
	for (unsigned i = 0; i < n; i++)
		*(items[i].run < nold ? &times->old[items[i].run] : &times->new[items[i].run - nold]) +=
			find(items[i].row);
}

/* Runs that have nothing of a row have 0; a quotient needs a little more. */
static void avoid_zeros(uint64_t *values, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		values[i] += !values[i];
}

/* What most runs of a side do not have is a change of structure; but of functions, which are sampled. */
static int compare_runs(struct times *times, struct change *change, int is_function)
{
	const unsigned nold = times->diff->nold, nnew = times->diff->nnew;

	change->old = find_median(times, times->old, nold, change->old_ends);
	change->new = find_median(times, times->new, nnew, change->new_ends);
	change->impact = change->new > change->old ? change->new - change->old : change->old - change->new;
	if (is_function ? !change->old && !change->new : !change->old || !change->new)
		return 0;
	avoid_zeros(times->old, nold);
	avoid_zeros(times->new, nnew);
	change->shift = t2x_shift_find(times->test, times->old, times->new);
	return 1;
}

/* How often the row is there in a run, on the average. */
static uint64_t find_mean_count(const struct times *times, const struct t2x_diff_item *items, unsigned n)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < n; i++)
		count += items[i].row->count;
	return count / (times->diff->nold + times->diff->nnew);
}

/* Of two figures the one that tells more: it had two chances, so its p counts twice. */
static void add_row(struct times *times, const struct t2x_diff_item *items, unsigned n)
{
	struct change all = { .row = items[0].row }, each = { .row = items[0].row, .is_of_each = 1 };

	if (!has_time(items[0].row))
		return;
	fill_runs(times, items, n, find_all);
	if (!compare_runs(times, &all, items[0].row->kind == T2X_ROW_FUNCTION))
		return;
	if (has_each(items, n)) {
		fill_runs(times, items, n, find_each);
		if (compare_runs(times, &each, 0) && each.shift.p < all.shift.p)
			all = each;
		if (all.is_of_each)
			all.impact *= find_mean_count(times, items, n);
		all.shift.p = all.shift.p < 0.5 ? 2 * all.shift.p : 1;
	}
	times->changes[times->n++] = all;
}

static int compare_p(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->shift.p < y->shift.p ? -1 : x->shift.p > y->shift.p;
}

/* The same impact: as the rows were, by kind and name. */
static int compare_impacts(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int difference = (x->impact < y->impact) - (x->impact > y->impact);

	if (!difference)
		difference = (x->row->kind > y->row->kind) - (x->row->kind < y->row->kind);
	if (!difference)
		difference = strcmp(x->row->category, y->row->category);
	return difference ? difference : strcmp(x->row->label, y->row->label);
}

/* Sort by p.  Return  how many, from the first on, are believed; -ENOMEM */
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

static int is_above_threshold(const struct times *times, const struct change *change)
{
	const double least = times->diff->threshold > 0 ? times->diff->threshold / 100 : 0;

	return change->shift.change > least || -change->shift.change > least;
}

/*
 * Of the first n leave those that differ by more than the threshold, the largest impact first.
 * Return  how many these are
 */
static unsigned choose(struct times *times, unsigned n)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++)
		if (is_above_threshold(times, &times->changes[i]))
			times->changes[left++] = times->changes[i];
	qsort(times->changes, left, sizeof(*times->changes), compare_impacts);
	return left;
}

static const char *name_of(const struct change *change)
{
	const enum t2x_row_kind kind = change->row->kind;

	return change->is_of_each ? "p50" : kind == T2X_ROW_REGION || kind == T2X_ROW_FUNCTION ? "self" : "total";
}

/* " +12.3%", "new", "gone" */
static void put_percent(struct t2x_out *out, const struct change *change)
{
	char cell[32];

	if (change->old && change->new)
		snprintf(cell, sizeof(cell), " %+8.1f%%", 100 * change->shift.change);
	else
		snprintf(cell, sizeof(cell), " %9s", change->old ? "gone" : "new");
	t2x_out_string(out, cell);
}

static void put_chance(struct t2x_out *out, const struct change *change)
{
	char cell[64];

	if (change->old && change->new && change->shift.has_interval)
		snprintf(cell, sizeof(cell), "  %+7.1f%% .. %+7.1f%%  %7.2g", 100 * change->shift.low,
			 100 * change->shift.high, change->shift.p);
	else
		snprintf(cell, sizeof(cell), "  %20s  %7.2g", "", change->shift.p);
	t2x_out_string(out, cell);
}

static void put_change(struct t2x_out *out, const struct change *change, int is_alone)
{
	char old[T2X_HUMAN_BYTES], new[T2X_HUMAN_BYTES], line[64];

	snprintf(line, sizeof(line), "  %s  %s", t2x_human_time(old, change->old, 1),
		 t2x_human_time(new, change->new, 1));
	t2x_out_string(out, line);
	put_percent(out, change);
	if (!is_alone)
		put_chance(out, change);
	snprintf(line, sizeof(line), "  %-5s", name_of(change));
	t2x_out_string(out, line);
	t2x_diff_put_names(out, change->row);
}

static void put_note(struct t2x_out *out, const char *format, unsigned n)
{
	char line[128];

	snprintf(line, sizeof(line), format, n);
	t2x_out_string(out, line);
	t2x_out_end_line(out);
}

/* How many runs on each side find one row among so many, by one of two figures. */
static unsigned find_enough(unsigned rows)
{
	double p = 1;
	unsigned runs = 1;

	while (2 * p > share_of_false / rows) {
		runs++;
		p = p * runs / (2 * (2 * runs - 1));   /* 2 of as many choices as there are */
	}
	return runs;
}

/* Nothing can be told from chance, and so no row has changed. */
static void show_by_chance(struct times *times, struct t2x_out *out)
{
	const unsigned enough = find_enough(times->n);
	const unsigned n = choose(times, times->n), shown = n < MOST_BY_CHANCE ? n : MOST_BY_CHANCE;

	if (!n)
		return;
	put_note(out, "times (may be chance: %u runs on each side would tell)", enough);
	t2x_out_literal(out, "        old        new    change  of     kind     category       label\n");
	for (unsigned i = 0; i < shown; i++)
		put_change(out, &times->changes[i], 1);
	if (n > shown)
		put_note(out, "  more rows, which --durations shows: %u", n - shown);
}

static unsigned show_believed(struct times *times, struct t2x_out *out, unsigned believed)
{
	const unsigned n = choose(times, believed), others = times->n - n;

	if (!n)
		return 0;
	t2x_out_literal(out, "times\n"
			     "        old        new    change         95% interval        p"
			     "  of     kind     category       label\n");
	for (unsigned i = 0; i < n; i++)
		put_change(out, &times->changes[i], 0);
	if (others)
		put_note(out, times->diff->threshold > 0
				      ? "  rows that differ by less, or by no more than chance explains: %u"
				      : "  rows that differ by no more than chance explains: %u", others);
	return n;
}

/* All rows.  Return  how many are believed, and above the threshold */
static unsigned show_lines(struct times *times, struct t2x_out *out, unsigned believed)
{
	unsigned n = 0;

	for (unsigned i = 0; i < believed; i++) {
		times->changes[i].is_believed = is_above_threshold(times, &times->changes[i]);
		n += times->changes[i].is_believed ? 1 : 0;
	}
	qsort(times->changes, times->n, sizeof(*times->changes), compare_impacts);
	for (unsigned i = 0; i < times->n; i++) {
		const struct change *change = &times->changes[i];
		const struct t2x_diff_line line = {
			.row = change->row, .of = name_of(change), .shift = &change->shift,
			.old = { change->old_ends[0], change->old, change->old_ends[1] },
			.new = { change->new_ends[0], change->new, change->new_ends[1] },
			.is_believed = change->is_believed,
		};
		t2x_diff_form_line(times->diff, out, &line);
	}
	return n;
}

/* Too few runs: fewer than would tell.  Where there are many, their p is that of random permutations. */
static int has_too_few(const struct times *times)
{
	const unsigned least = times->diff->nold < times->diff->nnew ? times->diff->nold : times->diff->nnew;

	return times->n && 2 * t2x_shift_least_p(times->test) > share_of_false / times->n &&
	       least < find_enough(times->n);
}

static int show(struct times *times, struct t2x_out *out, const struct t2x_diff_item *items, unsigned n)
{
	int believed;

	for (unsigned i = 0, of_row; i < n; i += of_row) {
		of_row = t2x_diff_count(items + i, n - i);
		add_row(times, items + i, of_row);
	}
	believed = find_believed(times);
	if (times->diff->form && believed >= 0)
		return (int)show_lines(times, out, (unsigned)believed);
	if (!believed && has_too_few(times))
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

/* SPDX-License-Identifier: MIT */
/* t2x_summary.c - the format `summary`: its options, the order of rows, the table. */
#include "t2x_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "t2x_summary_export.h"
#include "t2x_totals_regions.h"
#include "t2x_totals_values.h"
#include "base/t2x_human.h"
#include "profile/t2x_prof_kinds.h"
#include "text/t2x_formats.h"

/* How a summary looks. */
struct t2x_summary_look {
	enum { T2X_SUMMARY_TABLE, T2X_SUMMARY_JSON, T2X_SUMMARY_CSV } form;
	enum t2x_summary_key {
		T2X_SORT_total, T2X_SORT_self, T2X_SORT_count, T2X_SORT_mean, T2X_SORT_p50, T2X_SORT_p90, T2X_SORT_p99,
		T2X_SORT_max, T2X_SORT_name,
	} sort;
	unsigned top;                 /* rows of a kind; 0: all */
};

/* ---- the order ---------------------------------------------------------------------------------- */

struct order {
	uint64_t value;               /* of rows of one kind, which are kept together */
	struct t2x_row *row;
};

/* In the order of whole numbers, of which some are below 0. */
static uint64_t as_unsigned(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* The same of numbers with a fraction: larger ones have larger bits, but for the sign. */
static uint64_t average_as_unsigned(const struct t2x_row *row)
{
	const double average = row->values ? t2x_row_average(row) : 0;
	uint64_t bits;

	memcpy(&bits, &average, sizeof(bits));
	return average < 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t find_value(struct t2x_row *row, enum t2x_summary_key key)
{
	switch (key) {
	case T2X_SORT_self:
		return row->self;
	case T2X_SORT_count:
		return row->count + row->unknown;
	case T2X_SORT_mean:
		return row->kind == T2X_ROW_DATA ? average_as_unsigned(row) : t2x_row_mean(row);
	case T2X_SORT_p50:
		return t2x_histogram_percentile(&row->durations, 50);
	case T2X_SORT_p90:
		return t2x_histogram_percentile(&row->durations, 90);
	case T2X_SORT_p99:
		return t2x_histogram_percentile(&row->durations, 99);
	case T2X_SORT_max:
		return as_unsigned(row->max);
	case T2X_SORT_total:
		return row->kind == T2X_ROW_DATA ? 0 : t2x_row_time(row);
	case T2X_SORT_name:
		break;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	const struct t2x_row *r = x->row, *s = y->row;
	int difference;

	if (r->kind != s->kind)
		return r->kind < s->kind ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (r->pid != s->pid)
		return r->pid < s->pid ? -1 : 1;
	difference = strcmp(r->thread, s->thread);
	if (!difference)
		difference = strcmp(r->category, s->category);
	if (!difference)
		difference = strcmp(r->label, s->label);
	return difference ? difference : strcmp(r->value, s->value);
}

/*
 * The row stands for nothing any more: a thread has got another name, another file has the leaves of the regions, or
 * the regions have values, and what was in the row has gone to another one.
 */
static int is_left_behind(const struct t2x_totals *totals, const struct t2x_row *row)
{
	if (row->kind == T2X_ROW_THREAD || row->kind == T2X_ROW_OPEN)
		return !row->count;
	return totals->value && t2x_row_is_empty(row);
}

static void drop_empty(struct t2x_totals *totals)
{
	unsigned n = 0;

	for (unsigned i = 0; i < totals->n; i++) {
		struct t2x_row *row = totals->rows[i];
		if (is_left_behind(totals, row))
			free(row);
		else
			totals->rows[n++] = row;
	}
	totals->n = n;
}

/* By kind, then the largest first, by name. */
static void sort_rows(struct t2x_totals *totals, enum t2x_summary_key key)
{
	struct order *order;

	t2x_totals_unnest_open(totals);
	t2x_totals_count_all_open(totals);
	drop_empty(totals);
	order = calloc(totals->n + 1, sizeof(*order));
	for (unsigned i = 0; order && i < totals->n; i++)
		order[i] = (struct order){ find_value(totals->rows[i], key), totals->rows[i] };
	if (order)
		qsort(order, totals->n, sizeof(*order), compare);
	for (unsigned i = 0; order && i < totals->n; i++)
		totals->rows[i] = order[i].row;
	free(order);
}

/* ---- the table ---------------------------------------------------------------------------------- */

enum { CELL = 10, VALUE = 15 };

/* "1.23 ms".  is_cell: as wide as a column, with the units below each other */
static void put_duration(struct t2x_out *out, uint64_t ns, int is_cell)
{
	char cell[T2X_HUMAN_BYTES];

	t2x_out_literal(out, " ");
	t2x_out_string(out, t2x_human_time(cell, ns, is_cell));
}

static void put_time(struct t2x_out *out, uint64_t ns)
{
	put_duration(out, ns, 1);
}

static void put_blank(struct t2x_out *out)
{
	t2x_out_repeat(out, ' ', CELL);
}

static void put_count(struct t2x_out *out, uint64_t count)
{
	char cell[32];

	snprintf(cell, sizeof(cell), "%12" PRIu64, count);
	t2x_out_string(out, cell);
}

static void put_value(struct t2x_out *out, int64_t value)
{
	char cell[32];

	snprintf(cell, sizeof(cell), " %14" PRId64, value);
	t2x_out_string(out, cell);
}

/* "  reader        file", behind process and thread where rows are kept apart. */
static void put_names(struct t2x_out *out, const struct t2x_totals *totals, const struct t2x_row *row)
{
	char cell[64];

	if (totals->by && row->kind != T2X_ROW_THREAD) {
		snprintf(cell, sizeof(cell), "  %-8" PRIu32, row->pid);
		t2x_out_string(out, cell);
	}
	if (totals->by == T2X_BY_THREAD && row->kind != T2X_ROW_THREAD) {
		snprintf(cell, sizeof(cell), " %-20s", row->thread);
		t2x_out_in_line(out, cell);
	}
	t2x_out_literal(out, "  ");
	t2x_out_in_line(out, row->category);
	if (*row->label) {
		t2x_out_repeat(out, ' ', strlen(row->category) < 14 ? 14 - strlen(row->category) : 1);
		t2x_out_in_line(out, row->label);
	}
	if (*row->value) {
		t2x_out_literal(out, "  ");
		t2x_out_in_line(out, row->value);
	}
}

static void put_durations(struct t2x_out *out, struct t2x_row *row)
{
	int is_known = row->count != 0;

	put_count(out, row->count + row->unknown);
	is_known ? put_time(out, t2x_row_time(row)) : put_blank(out);
	if (row->kind == T2X_ROW_CHILD)
		is_known ? put_time(out, row->lived) : put_blank(out);
	is_known ? put_time(out, row->kind == T2X_ROW_REGION ? row->self : row->waited) : put_blank(out);
	is_known ? put_time(out, t2x_row_mean(row)) : put_blank(out);
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned percents[] = { 50, 90, 99 };

		is_known && !row->durations.is_cut
			? put_time(out, t2x_histogram_percentile(&row->durations, percents[i])) : put_blank(out);
	}
	is_known ? put_time(out, (uint64_t)row->max) : put_blank(out);
}

/* What the columns do not say. */
static void put_notes(struct t2x_out *out, const struct t2x_row *row)
{
	char note[160];
	int n = 0;

	if (!t2x_row_has_durations(row))
		return;
	note[0] = '\0';
	if (row->unknown)
		n += snprintf(note + n, sizeof(note) - (size_t)n, "  unknown:%" PRIu64, row->unknown);
	if (t2x_row_open(row))
		n += snprintf(note + n, sizeof(note) - (size_t)n, "  open:%" PRIu64, t2x_row_open(row));
	if (row->mismatched)
		n += snprintf(note + n, sizeof(note) - (size_t)n, "  mismatched:%" PRIu64, row->mismatched);
	if (row->failed)
		snprintf(note + n, sizeof(note) - (size_t)n, "  failed:%" PRIu64, row->failed);
	t2x_out_string(out, note);
}

/* What its samples add up to; of objects there is only a count. */
static void put_profile(struct t2x_out *out, const struct t2x_row *row)
{
	put_count(out, row->count);
	switch (t2x_prof_kind_of(row->category)->form->unit) {
	case T2X_PROF_time:
		t2x_out_repeat(out, ' ', VALUE - CELL);
		put_time(out, row->total);
		break;
	case T2X_PROF_bytes:
		put_value(out, (int64_t)row->total);
		break;
	case T2X_PROF_count:
		t2x_out_repeat(out, ' ', VALUE);
		break;
	}
}

static void put_row(struct t2x_out *out, const struct t2x_totals *totals, struct t2x_row *row)
{
	char cell[64];

	switch (row->kind) {
	case T2X_ROW_REGION: case T2X_ROW_CHILD:
		put_durations(out, row);
		break;
	case T2X_ROW_TIMER: case T2X_ROW_TH_TIMER:
		put_count(out, row->count);
		put_time(out, row->total);
		put_time(out, t2x_row_mean(row));
		put_time(out, (uint64_t)row->min);
		put_time(out, (uint64_t)row->max);
		break;
	case T2X_ROW_DATA:
		put_count(out, row->count);
		if (row->values) {
			put_value(out, row->min);
			snprintf(cell, sizeof(cell), " %16.1f", t2x_row_average(row));
			t2x_out_string(out, cell);
			put_value(out, row->max);
			put_value(out, row->last);
		} else {
			t2x_out_repeat(out, ' ', 3 * 15 + 17);
		}
		break;
	case T2X_ROW_FUNCTION: case T2X_ROW_OPEN: case T2X_ROW_STEP: case T2X_ROW_MODE:
		put_count(out, row->count);
		if (row->kind == T2X_ROW_FUNCTION)
			put_time(out, row->total);
		break;
	case T2X_ROW_THREAD:
		put_count(out, row->count);
		put_time(out, row->first_ns - totals->first_ns);
		put_time(out, row->last_ns - totals->first_ns);
		put_time(out, row->last_ns - row->first_ns);
		snprintf(cell, sizeof(cell), "  %-8" PRIu32, row->pid);
		t2x_out_string(out, cell);
		t2x_out_in_line(out, row->label);
		break;
	case T2X_ROW_PROFILE:
		put_profile(out, row);
		break;
	default:
		put_count(out, row->count);
		put_value(out, (int64_t)row->total);
		break;
	}
	if (row->kind != T2X_ROW_THREAD)
		put_names(out, totals, row);
	put_notes(out, row);
	t2x_out_end_line(out);
}

static const struct head {
	const char *title, *columns;
} heads[T2X_ROW_KINDS] = {
	[T2X_ROW_REGION] = { "regions",
			     "       count     total      self      mean       p50       p90       p99       max" },
	[T2X_ROW_CHILD] = { "children",
			    "       count     total     lived    waited      mean       p50       p90       p99"
			    "       max" },
	[T2X_ROW_TIMER] = { "timers", "   intervals     total      mean       min       max" },
	[T2X_ROW_TH_TIMER] = { "timers of threads", "   intervals     total      mean       min       max" },
	[T2X_ROW_COUNTER] = { "counters", "       count          total" },
	[T2X_ROW_TH_COUNTER] = { "counters of threads", "       count          total" },
	[T2X_ROW_DATA] = { "data", "       count            min             mean            max           last" },
	[T2X_ROW_STEP] = { "steps", "       count" },
	[T2X_ROW_MODE] = { "modes of commands", "       count" },
	[T2X_ROW_PROFILE] = { "profiles", "     samples          total" },
	[T2X_ROW_FUNCTION] = { "CPU time of regions by function", "     samples      time" },
	[T2X_ROW_THREAD] = { "threads", "      events     first      last      time  process thread" },
	[T2X_ROW_OPEN] = { "regions never left", "       count" },
	[T2X_ROW_MISSING] = { "missing", "      places          total" },
};

static void put_head(struct t2x_out *out, const struct t2x_totals *totals, enum t2x_row_kind kind)
{
	t2x_out_char(out, '\n');
	t2x_out_string(out, heads[kind].title);
	t2x_out_char(out, '\n');
	t2x_out_string(out, heads[kind].columns);
	if (kind != T2X_ROW_THREAD) {
		t2x_out_string(out, totals->by ? "  process " : "");
		t2x_out_string(out, totals->by == T2X_BY_THREAD ? " thread              " : "");
		t2x_out_string(out, kind == T2X_ROW_PROFILE ? "  profile" :
			       kind == T2X_ROW_MODE ? "  command       mode" :
			       kind == T2X_ROW_OPEN ? "  region        entered at" :
			       kind == T2X_ROW_REGION && totals->value ? "  category      label  value" :
			       kind == T2X_ROW_FUNCTION ? "  region        function" : "  category      label");
	}
	t2x_out_end_line(out);
}

static void show_table(struct t2x_totals *totals, const struct t2x_summary_look *look, struct t2x_out *out)
{
	unsigned shown = 0, hidden = 0;

	t2x_out_uint(out, totals->events);
	t2x_out_literal(out, " events in");
	put_duration(out, totals->last_ns > totals->first_ns ? totals->last_ns - totals->first_ns : 0, 0);
	t2x_out_end_line(out);
	for (unsigned i = 0; i < totals->n; i++) {
		struct t2x_row *row = totals->rows[i], *last = i ? totals->rows[i - 1] : NULL;

		if (!last || last->kind != row->kind) {
			put_head(out, totals, row->kind);
			shown = hidden = 0;
		}
		if (!look->top || shown++ < look->top)
			put_row(out, totals, row);
		else
			hidden++;
		if (hidden && (i + 1 == totals->n || totals->rows[i + 1]->kind != row->kind)) {
			put_count(out, hidden);
			t2x_out_literal(out, " more\n");
		}
	}
	if (totals->others) {
		put_count(out, totals->others);
		t2x_out_literal(out, " events more: no room\n");
	}
}

/* ---- the format --------------------------------------------------------------------------------- */

static void show(struct t2x_totals *totals, const struct t2x_summary_look *look, struct t2x_out *out)
{
	sort_rows(totals, look->sort);
	if (look->form == T2X_SUMMARY_JSON)
		t2x_summary_json(totals, look->top, out);
	else if (look->form == T2X_SUMMARY_CSV)
		t2x_summary_csv(totals, look->top, out);
	else
		show_table(totals, look, out);
}

enum t2x_by t2x_summary_by(const struct t2x_options *options)
{
	const char *by = t2x_option(options, T2X_OPTION_by);

	return !by ? T2X_BY_NOTHING : !strcmp(by, "process") ? T2X_BY_PROCESS : !strcmp(by, "thread") ? T2X_BY_THREAD
												      : T2X_BY_NOTHING;
}

int t2x_summary_has_values(const struct t2x_options *options)
{
	return t2x_totals_are_values(t2x_option(options, T2X_OPTION_by));
}

static int begin(struct t2x_printer *printer)
{
	struct t2x_totals *totals = t2x_totals_new(t2x_summary_by(&printer->options));

	if (totals)
		t2x_totals_keep_values(totals, t2x_option(&printer->options, T2X_OPTION_by));
	return t2x_totals_use(printer, totals);
}

static struct t2x_summary_look find_look(const struct t2x_options *options)
{
	static const char *const keys[] = { "total", "self", "count", "mean", "p50", "p90", "p99", "max", "name" };
	const char *as = t2x_option(options, T2X_OPTION_as), *sort = t2x_option(options, T2X_OPTION_sort);
	const char *top = t2x_option(options, T2X_OPTION_top);
	struct t2x_summary_look look = {
		.form = !as || *as == 't' ? T2X_SUMMARY_TABLE : *as == 'j' ? T2X_SUMMARY_JSON : T2X_SUMMARY_CSV,
		.top = top ? (unsigned)strtoul(top, NULL, 10) : 0,
	};

	for (unsigned i = 0; sort && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(sort, keys[i]))
			look.sort = (enum t2x_summary_key)i;
	return look;
}

static void finish(struct t2x_printer *printer)
{
	const struct t2x_summary_look look = find_look(&printer->options);

	show(printer->own, &look, printer->out);
	t2x_totals_free(printer->own);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_summary = {
	.thread_bytes = T2X_TOTALS_THREAD_BYTES,
	.begin = begin, .finish = finish, .unresolved = t2x_totals_accumulate, .ignores_messages = 1,
	.add = t2x_totals_add_run,
	.never_left = t2x_totals_never_left,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = t2x_totals_accumulate,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

/* Values are in messages, and in data that no run tells from others. */
static const struct t2x_writer writer_values = {
	.thread_bytes = T2X_TOTALS_THREAD_BYTES,
	.begin = begin, .finish = finish, .unresolved = t2x_totals_accumulate,
	.never_left = t2x_totals_never_left,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = t2x_totals_accumulate,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

const struct t2x_writer *t2x_summary_writer(const struct t2x_writer *writer, const struct t2x_options *options)
{
	return writer == &t2x_writer_summary && t2x_summary_has_values(options) ? &writer_values : writer;
}

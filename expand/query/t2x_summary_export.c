/* SPDX-License-Identifier: MIT */
/* t2x_summary_export.c - totals for programs: whole nanoseconds, columns that stay.  An empty cell, null: not known. */
#include "t2x_summary_export.h"

#include <inttypes.h>
#include <stdio.h>

#include "text/t2x_csv.h"
#include "text/t2x_json.h"
#include "text/t2x_utf8.h"

static const char *const kinds[T2X_ROW_KINDS] = {
	"region", "child", "timer", "th_timer", "counter", "th_counter", "data", "step", "cmd_mode", "profile",
	"function", "thread", "never_left", "missing",
};

/* The numbers of a row, in their order. */
#define COLUMNS(column) \
	column(count) column(total) column(self) column(mean) column(min) column(p50) column(p90) column(p99) \
	column(max) column(first) column(last) column(unknown) column(self_unknown) column(open) column(failed) \
	column(mismatched) column(waited) column(lived)

enum {
#define ENTRY(name) COLUMN_##name,
	COLUMNS(ENTRY)
#undef ENTRY
	COLUMN_COUNT
};
static const char *const names[COLUMN_COUNT] = {
#define ENTRY(name) #name,
	COLUMNS(ENTRY)
#undef ENTRY
};

enum { CELL = 32 };

static void put(char cells[][CELL], unsigned column, int64_t value)
{
	snprintf(cells[column], CELL, "%" PRId64, value);
}

static void fill_durations(char cells[][CELL], struct t2x_row *row)
{
	put(cells, COLUMN_unknown, (int64_t)row->unknown);
	put(cells, COLUMN_open, (int64_t)t2x_row_open(row));
	if (row->kind == T2X_ROW_REGION) {
		put(cells, COLUMN_self, (int64_t)row->self);
		put(cells, COLUMN_self_unknown, (int64_t)row->self_unknown);
		put(cells, COLUMN_mismatched, (int64_t)row->mismatched);
	} else {
		put(cells, COLUMN_failed, (int64_t)row->failed);
		if (row->count) {
			put(cells, COLUMN_waited, (int64_t)row->waited);
			put(cells, COLUMN_lived, (int64_t)row->lived);
		}
	}
	if (row->count && !row->durations.is_cut) {
		put(cells, COLUMN_p50, (int64_t)t2x_histogram_percentile(&row->durations, 50));
		put(cells, COLUMN_p90, (int64_t)t2x_histogram_percentile(&row->durations, 90));
		put(cells, COLUMN_p99, (int64_t)t2x_histogram_percentile(&row->durations, 99));
	}
}

/* Whether the row is about one number, of which there is a least and a largest. */
static int has_range(const struct t2x_row *row)
{
	if (row->kind == T2X_ROW_DATA)
		return row->values != 0;
	return row->kind <= T2X_ROW_TH_TIMER && row->count;
}

/* Steps, modes and regions never left are counted only; what data add up to, if they are integers, comes later. */
static int has_total(const struct t2x_row *row)
{
	return row->kind != T2X_ROW_DATA && row->kind != T2X_ROW_STEP && row->kind != T2X_ROW_MODE &&
	       row->kind != T2X_ROW_THREAD && row->kind != T2X_ROW_OPEN;
}

static void fill(char cells[][CELL], struct t2x_row *row)
{
	memset(cells, 0, COLUMN_COUNT * CELL);
	put(cells, COLUMN_count, (int64_t)row->count);
	if (has_total(row))
		put(cells, COLUMN_total, (int64_t)t2x_row_time(row));
	if (t2x_row_has_durations(row))
		fill_durations(cells, row);
	if (has_range(row)) {
		put(cells, COLUMN_min, row->min);
		put(cells, COLUMN_max, row->max);
		put(cells, COLUMN_mean, (int64_t)t2x_row_mean(row));
	}
	if (row->kind == T2X_ROW_DATA && row->values) {
		put(cells, COLUMN_total, (int64_t)row->total);
		put(cells, COLUMN_last, row->last);
		snprintf(cells[COLUMN_mean], CELL, "%.3f", t2x_row_average(row));
	}
	if (row->kind == T2X_ROW_THREAD) {
		put(cells, COLUMN_first, (int64_t)row->first_ns);
		put(cells, COLUMN_last, (int64_t)row->last_ns);
		put(cells, COLUMN_total, (int64_t)(row->last_ns - row->first_ns));
	}
}

/* Call show for the rows that are wanted. */
static void each_row(struct t2x_totals *totals, unsigned top, struct t2x_out *out,
		     void (*show)(struct t2x_out *out, struct t2x_row *row, unsigned nth))
{
	unsigned nth = 0, of_kind = 0;

	for (unsigned i = 0; i < totals->n; i++) {
		of_kind = i && totals->rows[i]->kind == totals->rows[i - 1]->kind ? of_kind + 1 : 0;
		if (!top || of_kind < top)
			show(out, totals->rows[i], nth++);
	}
}

/* ---- CSV ---------------------------------------------------------------------------------------- */

static void put_cell(struct t2x_out *out, const char *text)
{
	t2x_csv_quoted(out, text, strlen(text));
	t2x_out_char(out, ',');
}

static void show_csv(struct t2x_out *out, struct t2x_row *row, unsigned nth)
{
	char cells[COLUMN_COUNT][CELL];

	(void)nth;
	t2x_out_string(out, kinds[row->kind]);
	t2x_out_char(out, ',');
	if (row->pid)
		t2x_out_uint(out, row->pid);
	t2x_out_char(out, ',');
	put_cell(out, row->thread);
	put_cell(out, row->category);
	put_cell(out, row->label);
	fill(cells, row);
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		t2x_out_string(out, i ? "," : "");
		t2x_out_string(out, cells[i]);
	}
	t2x_out_char(out, ',');
	if (*row->value)
		t2x_csv_quoted(out, row->value, strlen(row->value));
	t2x_out_end_line(out);
}

void t2x_summary_csv(struct t2x_totals *totals, unsigned top, struct t2x_out *out)
{
	t2x_out_literal(out, "kind,process,thread,category,label");
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		t2x_out_char(out, ',');
		t2x_out_string(out, names[i]);
	}
	t2x_out_literal(out, ",value\n");
	each_row(totals, top, out, show_csv);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

/* Names are the program's bytes, JSON is UTF-8. */
static void put_name(struct t2x_out *out, const char *key, const char *name)
{
	t2x_json_key(out, key);
	t2x_utf8_json(out, name, strlen(name));
}

static void show_json(struct t2x_out *out, struct t2x_row *row, unsigned nth)
{
	char cells[COLUMN_COUNT][CELL];

	t2x_out_string(out, nth ? ",\n{\"kind\":\"" : "\n{\"kind\":\"");
	t2x_out_string(out, kinds[row->kind]);
	t2x_out_char(out, '"');
	if (row->pid)
		t2x_json_int(out, "process", row->pid);
	if (*row->thread)
		put_name(out, "thread", row->thread);
	put_name(out, "category", row->category);
	put_name(out, "label", row->label);
	if (*row->value)
		put_name(out, "value", row->value);
	fill(cells, row);
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		if (!cells[i][0])
			continue;
		t2x_json_key(out, names[i]);
		t2x_out_string(out, cells[i]);
	}
	t2x_out_char(out, '}');
}

void t2x_summary_json(struct t2x_totals *totals, unsigned top, struct t2x_out *out)
{
	t2x_out_literal(out, "{\"events\":");
	t2x_out_uint(out, totals->events);
	t2x_json_int(out, "first", (int64_t)totals->first_ns);
	t2x_json_int(out, "last", (int64_t)totals->last_ns);
	t2x_json_int(out, "left_out", (int64_t)totals->others);
	t2x_out_literal(out, ",\"rows\":[");
	each_row(totals, top, out, show_json);
	t2x_out_literal(out, "\n]}\n");
}

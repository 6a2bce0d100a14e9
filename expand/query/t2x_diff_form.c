/* SPDX-License-Identifier: MIT */
/* t2x_diff_form.c - see t2x_diff_form.h. */
#include "t2x_diff_form.h"

#include <inttypes.h>
#include <stdio.h>

#include "text/t2x_csv.h"
#include "text/t2x_json.h"
#include "text/t2x_utf8.h"

/* The numbers of a line, in their order. */
#define COLUMNS(column) \
	column(old_min) column(old) column(old_max) column(new_min) column(new) column(new_max) \
	column(change) column(low) column(high) column(p) column(believed)

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

static void put_side(char cells[][CELL], const struct t2x_diff_side *side)
{
	const uint64_t values[] = { side->min, side->median, side->max };

	for (unsigned i = 0; i < 3; i++)
		snprintf(cells[i], CELL, "%" PRIu64, values[i]);
}

/* Of what only one side has there is no change. */
static void fill(char cells[][CELL], const struct t2x_diff_line *line)
{
	const struct t2x_shift *shift = line->shift;

	memset(cells, 0, COLUMN_COUNT * sizeof(cells[0]));
	put_side(cells + COLUMN_old_min, &line->old);
	put_side(cells + COLUMN_new_min, &line->new);
	if (!shift)
		return;
	snprintf(cells[COLUMN_p], CELL, "%.6g", shift->p);
	snprintf(cells[COLUMN_believed], CELL, "%d", line->is_believed);
	if (!line->old.median || !line->new.median)
		return;
	snprintf(cells[COLUMN_change], CELL, "%.6f", shift->change);
	if (shift->has_interval) {
		snprintf(cells[COLUMN_low], CELL, "%.6f", shift->low);
		snprintf(cells[COLUMN_high], CELL, "%.6f", shift->high);
	}
}

/* As the summary has it. */
static const char *kind_of(const struct t2x_diff_line *line)
{
	return line->row->kind == T2X_ROW_MODE ? "cmd_mode" : t2x_diff_kind(line->row);
}

static const char *table_of(const struct t2x_diff_line *line)
{
	return line->of ? "times" : "structure";
}

/* ---- CSV ---------------------------------------------------------------------------------------- */

static void begin_csv(struct t2x_out *out)
{
	t2x_out_literal(out, "table,kind,category,label,of");
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		t2x_out_char(out, ',');
		t2x_out_string(out, names[i]);
	}
	t2x_out_end_line(out);
}

static void put_csv(struct t2x_out *out, const struct t2x_diff_line *line)
{
	char cells[COLUMN_COUNT][CELL];

	t2x_out_string(out, table_of(line));
	t2x_out_char(out, ',');
	t2x_out_string(out, kind_of(line));
	t2x_out_char(out, ',');
	t2x_csv_quoted(out, line->row->category, strlen(line->row->category));
	t2x_out_char(out, ',');
	t2x_csv_quoted(out, line->row->label, strlen(line->row->label));
	t2x_out_char(out, ',');
	t2x_out_string(out, line->of ? line->of : "count");
	fill(cells, line);
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		t2x_out_char(out, ',');
		t2x_out_string(out, cells[i]);
	}
	t2x_out_end_line(out);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void begin_json(const struct t2x_diff *diff, struct t2x_out *out)
{
	char line[96];

	snprintf(line, sizeof(line), "{\"old_runs\":%u,\"new_runs\":%u,\"rows\":[", diff->nold, diff->nnew);
	t2x_out_string(out, line);
}

/* Names are the program's bytes, JSON is UTF-8. */
static void put_name(struct t2x_out *out, const char *key, const char *name)
{
	t2x_json_key(out, key);
	t2x_utf8_json(out, name, strlen(name));
}

static void put_json(struct t2x_out *out, const struct t2x_diff_line *line)
{
	char cells[COLUMN_COUNT][CELL];

	t2x_out_literal(out, "\n{\"table\":\"");
	t2x_out_string(out, table_of(line));
	t2x_out_char(out, '"');
	put_name(out, "kind", kind_of(line));
	put_name(out, "category", line->row->category);
	put_name(out, "label", line->row->label);
	put_name(out, "of", line->of ? line->of : "count");
	fill(cells, line);
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		t2x_json_key(out, names[i]);
		t2x_out_string(out, *cells[i] ? cells[i] : "null");
	}
	t2x_out_char(out, '}');
}

/* ---- either ------------------------------------------------------------------------------------- */

void t2x_diff_form_begin(const struct t2x_diff *diff, struct t2x_out *out)
{
	if (diff->form == T2X_DIFF_CSV)
		begin_csv(out);
	if (diff->form == T2X_DIFF_JSON)
		begin_json(diff, out);
}

void t2x_diff_form_line(const struct t2x_diff *diff, struct t2x_out *out, const struct t2x_diff_line *line)
{
	if (diff->form == T2X_DIFF_CSV) {
		put_csv(out, line);
		return;
	}
	if ((*diff->lines)++)
		t2x_out_char(out, ',');
	put_json(out, line);
}

void t2x_diff_form_end(const struct t2x_diff *diff, struct t2x_out *out)
{
	if (diff->form == T2X_DIFF_JSON)
		t2x_out_literal(out, "\n]}\n");
}

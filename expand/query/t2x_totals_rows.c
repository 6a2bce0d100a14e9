/* SPDX-License-Identifier: MIT */
/* t2x_totals_rows.c - see t2x_totals_rows.h. */
#include "t2x_totals_rows.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* beside itself and its names: malloc's part of it, an entry of the map, one of the array while that grows */
	ROW_EXTRA = 16 + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *),
};

static uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619;
	return (hash ^ 0xff) * 16777619;
}

static int is_row(const struct t2x_row *row, const struct t2x_row_key *key)
{
	return row->kind == key->kind && row->pid == key->pid && !strcmp(row->label, key->label) &&
	       !strcmp(row->category, key->category) && !strcmp(row->thread, key->thread) &&
	       !strcmp(row->value, key->value);
}

static char *put_text(const char **at, char *to, const char *text)
{
	*at = strcpy(to, text);
	return to + strlen(text) + 1;
}

/* From what rows alone may have, as long as there is some of it.  Return  0: there is no room */
static int take_bytes(struct t2x_totals *totals, size_t bytes)
{
	size_t *budget = totals->row_budget >= bytes ? &totals->row_budget : &totals->budget;

	if (*budget < bytes)
		return 0;
	*budget -= bytes;
	return 1;
}

static struct t2x_row *new_row(struct t2x_totals *totals, const struct t2x_row_key *key)
{
	size_t bytes = sizeof(struct t2x_row) + strlen(key->thread) + strlen(key->category) + strlen(key->label) +
		       strlen(key->value) + 4;
	struct t2x_row *row = take_bytes(totals, bytes + ROW_EXTRA) ? calloc(1, bytes) : NULL;
	char *to;

	if (!row)
		return NULL;
	to = put_text(&row->thread, row->text, key->thread);
	to = put_text(&row->category, to, key->category);
	to = put_text(&row->label, to, key->label);
	put_text(&row->value, to, key->value);
	row->kind = key->kind;
	row->pid = key->pid;
	row->min = t2x_row_has_durations(row) ? INT64_MAX : 0;
	return row;
}

static int make_room(struct t2x_totals *totals)
{
	unsigned capacity = totals->capacity ? 2 * totals->capacity : 256;
	struct t2x_row **rows;

	if (totals->n < totals->capacity)
		return 1;
	rows = capacity <= T2X_ROWS_MAX ? realloc(totals->rows, capacity * sizeof(rows[0])) : NULL;
	if (!rows)
		return 0;
	totals->rows = rows;
	totals->capacity = capacity;
	return 1;
}

struct t2x_row *t2x_totals_row(struct t2x_totals *totals, const struct t2x_row_key *key)
{
	uint32_t names = hash_text(hash_text(totals->seed ^ key->pid, key->thread), key->category);
	uint32_t hash = hash_text(hash_text(names, key->label), key->value) * UINT32_C(2654435761) + key->kind;
	struct t2x_row *first = t2x_map_get(&totals->by_hash, hash), *row = first;

	while (row && !is_row(row, key))
		row = row->next;
	if (row)
		return row;
	row = make_room(totals) ? new_row(totals, key) : NULL;
	if (!row)
		return NULL;
	row->next = first;
	row->hash = hash;
	if (t2x_map_put(&totals->by_hash, hash, row)) {
		free(row);
		return NULL;
	}
	totals->rows[totals->n++] = row;
	if (row->kind == T2X_ROW_REGION)
		row->bit = UINT32_C(1) << totals->nregions++ % 31;
	return row;
}

struct t2x_row *t2x_totals_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind,
				 const char *category, const char *label)
{
	const struct t2x_row_key key = {
		.kind = kind, .category = t2x_totals_text(category), .label = t2x_totals_text(label),
		.pid = totals->by >= T2X_BY_PROCESS ? ev->thread->process->pid : 0,
		.thread = totals->by == T2X_BY_THREAD ? ev->thread->name : "", .value = "",
	};
	struct t2x_row *row = t2x_totals_row(totals, &key);

	totals->others += !row;
	return row;
}

struct t2x_row *
t2x_totals_scope_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = t2x_totals_names(totals, ev, kind, ev->scope->category, ev->scope->label);

	if (row && ev->scope->number && ev->thread->number)
		t2x_totals_keep(totals, ev->scope->number, t2x_totals_apart(totals, ev->thread), row);
	return row;
}

/* ---- one of them --------------------------------------------------------------------------------- */

/* Whether the event comes behind the one that had the last value; of two at once, one is always the later. */
static int is_last(const struct t2x_row *row, uint64_t ns, uint64_t place)
{
	return ns > row->last_ns || (ns == row->last_ns && place >= row->last_place);
}

void t2x_row_add_value(struct t2x_row *row, const struct t2x_thread *thread, uint64_t ns, int64_t value)
{
	uint64_t place = (uint64_t)thread->process->stream << 32 | thread->tid;

	if (!row->values || value < row->min)
		row->min = value;
	if (!row->values || value > row->max)
		row->max = value;
	if (!row->values || is_last(row, ns, place)) {
		row->last = value;
		row->last_ns = ns;
		row->last_place = place;
	}
	row->values++;
	t2x_row_add_total(row, (uint64_t)value, -(value < 0));
}

void t2x_row_add_total(struct t2x_row *row, uint64_t low, int64_t high)
{
	row->total_high += high + __builtin_add_overflow(row->total, low, &row->total);
}

double t2x_row_average(const struct t2x_row *row)
{
	int is_short = row->total_high == ((int64_t)row->total < 0 ? -1 : 0);
	double total = is_short ? (double)(int64_t)row->total : (double)row->total_high * 0x1p64 + (double)row->total;

	return total / (double)row->values;
}

void t2x_row_end_child(struct t2x_row *row, const struct t2x_child_end *end, size_t *budget)
{
	row->failed += end->has_failed != 0;
	if (end->is_unknown || end->ns > INT64_MAX) {
		row->unknown++;
		return;
	}
	row->lived += end->lived_ns < end->ns ? end->lived_ns : end->ns;
	row->waited += end->idle_ns < end->ns ? end->idle_ns : end->ns;
	t2x_row_add_duration(row, end->ns, budget);
}

/* ---- notes of a part ----------------------------------------------------------------------------- */

void t2x_totals_note(struct t2x_totals *totals, const struct t2x_note *note)
{
	if (totals->nnotes == totals->notes_capacity) {
		unsigned capacity = totals->notes_capacity ? 2 * totals->notes_capacity : 256;
		struct t2x_note *notes = NULL;

		if (capacity <= T2X_NOTES_MAX)
			notes = realloc(totals->notes, capacity * sizeof(*notes));
		if (!notes) {
			totals->is_cut = 1;
			return;
		}
		totals->notes = notes;
		totals->notes_capacity = capacity;
	}
	totals->notes[totals->nnotes++] = *note;
}

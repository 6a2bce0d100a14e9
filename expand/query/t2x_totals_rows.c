/* SPDX-License-Identifier: MIT */
/* t2x_totals_rows.c - rows: found by their names, values added. */
#include "t2x_totals_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* beside itself and its names: malloc's part of it, an entry of the map, one of the array while that grows */
	ROW_EXTRA = 16 + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *),
};

/* ---- names -------------------------------------------------------------------------------------- */

static uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619;
	return (hash ^ 0xff) * 16777619;
}

static int is_row(const struct t2x_row *row, const struct t2x_row_key *key)
{
	return row->kind == key->kind && row->pid == key->pid && !strcmp(row->label, key->label) &&
	       !strcmp(row->category, key->category) && !strcmp(row->thread, key->thread);
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
	size_t bytes = sizeof(struct t2x_row) + strlen(key->thread) + strlen(key->category) + strlen(key->label) + 3;
	struct t2x_row *row = take_bytes(totals, bytes + ROW_EXTRA) ? calloc(1, bytes) : NULL;
	char *to;

	if (!row)
		return NULL;
	to = put_text(&row->thread, row->text, key->thread);
	to = put_text(&row->category, to, key->category);
	put_text(&row->label, to, key->label);
	row->kind = key->kind;
	row->pid = key->pid;
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
	uint32_t hash = hash_text(names, key->label) * UINT32_C(2654435761) + key->kind;
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
	return row;
}

/* ---- values ------------------------------------------------------------------------------------- */

/* Whether the event comes behind the one that had the last value; of two at once, one is always the later. */
static int is_last(const struct t2x_row *row, uint64_t ns, uint64_t place)
{
	return ns > row->last_ns || (ns == row->last_ns && place >= row->last_place);
}

void t2x_row_add_value(struct t2x_row *row, const struct t2x_thread *thread, uint64_t ns, int64_t value)
{
	uint64_t place = (uint64_t)thread->process->stream << 32 | thread->tid;

	if (!row->left || value < row->min)
		row->min = value;
	if (!row->left || value > row->max)
		row->max = value;
	if (!row->left || is_last(row, ns, place)) {
		row->last = value;
		row->last_ns = ns;
		row->last_place = place;
	}
	row->left++;
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

	return total / (double)row->left;
}

void t2x_row_end_child(struct t2x_row *row, uint64_t ns, int is_unknown, int has_failed, size_t *budget)
{
	row->left++;
	row->failed += has_failed != 0;
	if (!is_unknown && ns <= INT64_MAX)
		t2x_row_add_duration(row, ns, budget);
	else
		row->unknown++;
}

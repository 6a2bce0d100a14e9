/* SPDX-License-Identifier: MIT */
/* t2x_diff_rows.c - see t2x_diff_rows.h. */
#include "t2x_diff_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_rows(const struct t2x_row *x, const struct t2x_row *y)
{
	int difference;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	difference = strcmp(x->category, y->category);
	return difference ? difference : strcmp(x->label, y->label);
}

static int compare_items(const void *a, const void *b)
{
	const struct t2x_diff_item *x = a, *y = b;
	int difference = compare_rows(x->row, y->row);

	return difference ? difference : x->run < y->run ? -1 : x->run > y->run;
}

/*
 * What is compared: threads have names with numbers, their timers and counters are in those of the process; samples
 * are compared by function.
 */
static int is_compared(const struct t2x_row *row)
{
	return row->kind != T2X_ROW_THREAD && row->kind != T2X_ROW_TH_TIMER && row->kind != T2X_ROW_TH_COUNTER &&
	       row->kind != T2X_ROW_PROFILE && row->kind != T2X_ROW_OPEN;
}

struct t2x_diff_item *t2x_diff_list(const struct t2x_diff *diff, unsigned *n)
{
	struct t2x_diff_item *items;
	unsigned most = 1;

	for (unsigned run = 0; run < diff->nold + diff->nnew; run++)
		most += diff->runs[run]->n;
	items = calloc(most, sizeof(*items));
	*n = 0;
	for (unsigned run = 0; items && run < diff->nold + diff->nnew; run++)
		for (unsigned i = 0; i < diff->runs[run]->n; i++)
			if (is_compared(diff->runs[run]->rows[i]))
				items[(*n)++] = (struct t2x_diff_item){ diff->runs[run]->rows[i], run };
	if (items)
		qsort(items, *n, sizeof(*items), compare_items);
	return items;
}

unsigned t2x_diff_count(const struct t2x_diff_item *items, unsigned n)
{
	unsigned end = 1;

	while (end < n && !compare_rows(items[end].row, items[0].row))
		end++;
	return end;
}

static const char *const kinds[T2X_ROW_KINDS] = {
	"region", "child", "timer", "", "counter", "", "data", "step", "mode", "", "function", "", "", "missing",
};

const char *t2x_diff_kind(const struct t2x_row *row)
{
	return kinds[row->kind];
}

void t2x_diff_put_names(struct t2x_out *out, const struct t2x_row *row)
{
	const size_t length = strlen(row->category);
	char kind[32];

	snprintf(kind, sizeof(kind), length > 14 ? "  %s " : "  %-8s ", kinds[row->kind]);
	t2x_out_string(out, kind);
	t2x_out_in_line(out, row->category);
	t2x_out_repeat(out, ' ', length < 14 ? 15 - length : 1);
	t2x_out_in_line(out, row->label);
	t2x_out_end_line(out);
}

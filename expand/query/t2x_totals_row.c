/* SPDX-License-Identifier: MIT */
/* t2x_totals_row.c - see t2x_totals_row.h. */
#include "t2x_totals_row.h"

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

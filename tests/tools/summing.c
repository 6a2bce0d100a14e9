/* SPDX-License-Identifier: MIT */
/* summing.c - see summing.h. */
#include "summing.h"

#include "query/t2x_summary.h"

const char *summing_values[T2X_OPTIONS];

void summing_open(struct feed *feed, const char *by)
{
	const struct t2x_options options = { .values = summing_values };

	summing_values[T2X_OPTION_as] = "csv";
	summing_values[T2X_OPTION_by] = by;
	feed_open_with(feed, t2x_summary_writer(&t2x_writer_summary, &options), &options);
	feed->thread[0].number = 1;
}

/* Equal labels are one row: its number is the label's first letter. */
void summing_region(struct feed *feed, int style, const char *label, const char *message, uint64_t us)
{
	struct t2x_scope *scope = feed_scope(feed, style, "c", label, message ? "%s" : NULL);

	scope->names = (uint32_t)label[0];
	feed_hit(feed, scope, us, message ? "s" : "", message);
}

/* SPDX-License-Identifier: MIT */
/* t2x_compare.c - see t2x_compare.h. */
#include "t2x_compare.h"

#include <errno.h>
#include <stdlib.h>

#include "t2x_span.h"

/* The totals of the run.  Its files are x's inputs meanwhile, where names are looked for.  Return  NULL: no memory */
static struct t2x_totals *read_run(const struct t2x_expansion *x, unsigned run, int *is_unusable)
{
	struct t2x_totals *totals = t2x_totals_new(T2X_BY_NOTHING);
	struct t2x_settings settings = *x->settings;
	struct t2x_inputs *inputs = x->inputs;
	const struct t2x_inputs none = *inputs;
	struct t2x_expansion one = *x;
	int error = totals ? 0 : -ENOMEM;

	settings.paths += run;
	settings.npaths = 1;
	settings.options.filter = &settings.filter;
	settings.filter.writer = &t2x_writer_totals;
	settings.filter.own = totals;
	inputs->settings = one.settings = &settings;
	one.writer = settings.filter.is_on ? &t2x_writer_filter : &t2x_writer_totals;
	if (!error)
		error = t2x_inputs_find(inputs, 0);
	if (!error && inputs->n)
		error = t2x_span_find(&settings, inputs);
	*is_unusable |= error == -EINVAL;
	if (!error && inputs->n)
		error = t2x_expand(&one);
	if (!error)
		t2x_inputs_judge(inputs);
	error = error == -EINVAL ? 0 : error;
	*is_unusable |= !inputs->n || inputs->is_unusable;
	t2x_inputs_free(inputs);
	*inputs = none;
	if (!error)
		return totals;
	t2x_totals_free(totals);
	return NULL;
}

int t2x_compare_read(struct t2x_diff *diff, const struct t2x_expansion *x, int *is_unusable)
{
	unsigned n = x->settings->npaths;
	int error = 0;

	*diff = (struct t2x_diff){
		.runs = calloc(n, sizeof(*diff->runs)), .nold = n - x->settings->new_runs,
		.nnew = x->settings->new_runs, .threshold = x->settings->threshold,
		.has_times = x->settings->has_times, .has_durations = x->settings->has_durations,
		.form = x->settings->diff_form,
	};
	if (!diff->runs)
		return -ENOMEM;
	for (unsigned run = 0; !error && run < n; run++) {
		diff->runs[run] = read_run(x, run, is_unusable);
		error = diff->runs[run] ? 0 : -ENOMEM;
	}
	return error;
}

void t2x_compare_free(struct t2x_diff *diff)
{
	for (unsigned run = 0; diff->runs && run < diff->nold + diff->nnew; run++)
		t2x_totals_free(diff->runs[run]);
	free(diff->runs);
}

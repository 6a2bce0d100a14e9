/* SPDX-License-Identifier: MIT */
/* t2x_span.c - see t2x_span.h. */
#include "t2x_span.h"

#include <errno.h>

#include "t2x_expand.h"
#include "read/t2x_seek.h"

enum {
	MAX_INPUTS = 64,                  /* of which the span is looked for */
	FIRST_BLOCKS = 64,                /* of an input: its first event is in one of them */
};

/* Files, which can be read twice. */
static int are_files(const struct t2x_inputs *inputs)
{
	for (unsigned i = 0; i < inputs->n; i++)
		if (!inputs->items[i].is_regular || inputs->items[i].joins)
			return 0;
	return 1;
}

/* The first event that comes is the earliest. */
static int are_in_order(const struct t2x_inputs *inputs)
{
	for (unsigned i = 0; i < inputs->n; i++)
		if (!t2x_input_is_in_order(&inputs->items[i]))
			return 0;
	return 1;
}

/* Return  0: nobody asks for anything that has to be known before all is read */
static int is_wanted(const struct t2x_filter *filter, const struct t2x_inputs *inputs)
{
	if ((!filter->since.kind && !filter->until.kind) || !are_files(inputs))
		return 0;
	return filter->since.kind ? inputs->n <= MAX_INPUTS || !are_in_order(inputs) : !are_in_order(inputs);
}

/*
 * Read the same inputs: their first blocks, all of what is not in the order of time, or what is behind their last
 * cycles.  Errors are reported later, when the inputs are read as a whole.
 */
static int read_part(struct t2x_settings *settings, const struct t2x_inputs *as, int is_end)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_inputs inputs = { .settings = settings, .report = &silent, .layout = as->layout };
	struct t2x_output output = { .fd = -1, .is_new = 1 };
	const struct t2x_expansion expansion = {
		.settings = settings, .report = &silent, .inputs = &inputs, .output = &output,
		.writer = &t2x_writer_span,
	};
	int error = t2x_out_init(&output.out, -1);

	if (!error)
		error = t2x_inputs_find(&inputs, 0);
	for (unsigned i = 0; !error && i < inputs.n; i++) {
		if (is_end)
			t2x_input_seek(&inputs.items[i], T2X_SEEK_END);
		else if (t2x_input_is_in_order(&inputs.items[i]))
			inputs.items[i].max_blocks = FIRST_BLOCKS;
	}
	if (!error)
		error = t2x_expand(&expansion);
	t2x_inputs_free(&inputs);
	t2x_out_free(&output.out);
	return error;
}

int t2x_span_find(struct t2x_settings *settings, struct t2x_inputs *inputs)
{
	struct t2x_filter *filter = &settings->filter;
	int needs_end = t2x_filter_needs_end(filter), error = 0;
	uint64_t since;

	if (needs_end && !are_files(inputs)) {
		t2x_report_note(inputs->report, "the inputs",
				"--since and --until cannot count from the end of a pipe");
		return -EINVAL;
	}
	if (!needs_end && !is_wanted(filter, inputs))
		return 0;
	error = read_part(settings, inputs, 0);
	if (!error && needs_end)
		error = read_part(settings, inputs, 1);
	if (error || !filter->since.kind || !filter->first_ns)
		return error;
	since = t2x_when_resolve(&filter->since, filter->first_ns, filter->utcoff, filter->end_ns);
	for (unsigned i = 0; i < inputs->n; i++)
		t2x_input_seek(&inputs->items[i], since);
	return 0;
}

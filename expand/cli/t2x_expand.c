/* SPDX-License-Identifier: MIT */
/* t2x_expand.c - see t2x_expand.h. */
#include "t2x_expand.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "merge/t2x_merge.h"
#include "model/t2x_model.h"
#include "parallel/t2x_batch_queue.h"
#include "parallel/t2x_ranges.h"
#include "parallel/t2x_read_ahead.h"
#include "recover/t2x_join.h"
#include "symbols/t2x_namer.h"

/* ---- messages ----------------------------------------------------------------------------------- */

/* A message about all inputs; one of several outputs is named. */
static void tell(const struct t2x_expansion *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(const struct t2x_expansion *x, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (x->output->is_new)
		t2x_report_note(x->report, x->output->path, "%s", text);
	else
		fprintf(stderr, "%s: %s\n", t2x_report_name(), text);
}

static void note_summary(const struct t2x_expansion *x, const struct t2x_context *context,
			 const struct t2x_summary *summary)
{
	for (unsigned i = 1; i < TLG_LOSS_REASONS; i++)
		if (summary->dropped[i])
			tell(x, "%" PRIu64 " checkpoints lost by the program: %s", summary->dropped[i],
			     tlg_loss_name(i));
	if (summary->gaps)
		tell(x, "%" PRIu64 " raw events missing in %" PRIu64 " places", summary->gap_events, summary->gaps);
	if (context->missing)
		tell(x, "%" PRIu64 " checkpoints missing, as counted by their programs", context->missing);
	if (summary->unresolved)
		tell(x, "%" PRIu64 " of %" PRIu64 " checkpoints unresolved", summary->unresolved,
		     summary->checkpoints);
	if (context->unknown)
		tell(x, "%" PRIu64 " raw events of unknown types skipped", context->unknown);
	if (context->ignored)
		tell(x, "%" PRIu64 " definitions ignored: too many", context->ignored);
	if (context->changed)
		tell(x, "%" PRIu64 " definitions contradict earlier ones", context->changed);
	x->report->damages += context->ignored + context->changed;
}

/* +1s, of inputs that cannot be read twice and are not in the order of time. */
static void note_early(const struct t2x_expansion *x)
{
	const struct t2x_filter *filter = &x->settings->filter;
	int counts = filter->since.kind == T2X_WHEN_FROM_START || filter->until.kind == T2X_WHEN_FROM_START;

	if (!filter->early_ns || !counts)
		return;
	tell(x, "--since and --until count from the event that came first, which is %" PRIu64 " ns behind the earliest",
	     filter->early_ns);
}

/* Processes that were killed, or run, as many in each input.  Ring files have a report of their own. */
static void note_open(const struct t2x_expansion *x, const unsigned *open)
{
	struct t2x_inputs *inputs = x->inputs;
	unsigned files = 0, more = 0;

	if (x->output->is_new)
		return;
	for (unsigned i = 0; i < inputs->n; i++) {
		inputs->items[i].open_streams = open[i];
		if (open[i] && files++ < T2X_REPORT_LINES)
			t2x_report_note(x->report, inputs->items[i].in.name,
					"%u of the processes did not end: killed, or still running", open[i]);
		else
			more += open[i];
	}
	if (more)
		tell(x, "%u processes in more files did not end", more);
}

static void note_open_streams(const struct t2x_expansion *x, const struct t2x_merge *merge)
{
	unsigned *open = calloc(x->inputs->n + 1, sizeof(*open));

	if (!open)
		return;
	t2x_merge_open_streams(merge, open, x->inputs->n);
	note_open(x, open);
	free(open);
}

/* ---- expanding ---------------------------------------------------------------------------------- */

/* Through the model.  Return  0 or -ENOMEM */
static int expand_events(const struct t2x_expansion *x)
{
	struct t2x_context context = { .report = x->report };
	struct t2x_merge *merge = NULL;
	struct t2x_batch_queue *queue = NULL;
	struct t2x_read_ahead *ahead = NULL;          /* NULL: inputs are read when their blocks are wanted */
	const struct t2x_writer *writer = x->writer;
	int error = -ENOMEM;

	if (!writer)
		writer = x->settings->filter.is_on ? &t2x_writer_filter : x->settings->filter.writer;
	context.thread_bytes = (x->writer ? x->writer : x->settings->format->writer)->thread_bytes;
	context.model = t2x_model_new(writer, &x->output->out, &x->settings->options);
	if (context.model)
		merge = t2x_merge_new(&context);
	if (!merge)
		goto done;
	error = 0;
	if (x->pool) {
		queue = t2x_batch_queue_new(x->pool, context.model);
		ahead = t2x_read_ahead_new(x->pool, x->report);
	}
	for (unsigned i = 0; !error && i < x->inputs->n; i++) {
		struct t2x_input *input = &x->inputs->items[i];
		if (ahead)
			t2x_read_ahead_add(ahead, input);
		error = t2x_merge_add(merge, &input->blocks, input->in.name,
				      ahead ? t2x_read_ahead_next : t2x_join_next);
	}
	if (!error && x->next)
		error = t2x_merge_add(merge, x->blocks, "what is followed", x->next);
	if (!error)
		error = t2x_merge_run(merge);
	t2x_batch_queue_free(queue);
	t2x_model_finish(context.model);
	note_open_streams(x, merge);
	note_summary(x, &context, t2x_model_summary(context.model));
	if (!x->writer)
		note_early(x);
done:
	t2x_merge_free(merge);
	t2x_read_ahead_free(ahead);
	t2x_model_free(context.model);
	return error;
}

/* In ranges that are read at once.  Return  0: that cannot be done */
static int expand_ranges(const struct t2x_expansion *x)
{
	const struct t2x_settings *settings = x->settings;
	const struct t2x_ranges_task task = {
		.pool = x->pool, .jobs = settings->jobs, .options = &settings->options,
		.adder = t2x_adder_find(settings->format->writer, &settings->options),
		.inputs = x->inputs->items, .n = x->inputs->n, .out = &x->output->out,
	};
	struct t2x_ranges found;
	int done;

	if (!x->pool || x->writer || !task.adder || settings->filter.is_on)
		return 0;
	done = t2x_ranges_expand(&task, &found);
	if (done) {
		note_open(x, found.open);
		note_summary(x, &found.context, &found.summary);
	}
	t2x_ranges_free(&found);
	return done;
}

/* What is in the files, one after the other.  Return  0 or -ENOMEM */
static int expand_blocks(const struct t2x_expansion *x)
{
	const struct t2x_writer *writer = x->settings->format->writer;
	struct t2x_printer printer = { .out = &x->output->out, .options = x->settings->options };
	struct t2x_block block;
	int error = writer->begin(&printer);

	if (error)
		return error;
	for (unsigned i = 0; i < x->inputs->n; i++)
		while (!error && t2x_join_next(&x->inputs->items[i].blocks, &block))
			error = writer->block(&printer, &block);
	writer->finish(&printer);
	return error;
}

int t2x_expand(const struct t2x_expansion *x)
{
	t2x_namer_forget(x->settings->options.namer);
	if (x->settings->format->traits & T2X_TRAIT_RAW)
		return expand_blocks(x);
	return expand_ranges(x) ? 0 : expand_events(x);
}

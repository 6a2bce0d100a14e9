/* SPDX-License-Identifier: MIT */
/* t2x_ranges.c - see t2x_ranges.h. */
#include "t2x_ranges.h"

#include <stdlib.h>

#include "t2x_boundary.h"
#include "merge/t2x_merge.h"
#include "model/t2x_model.h"
#include "query/t2x_filter.h"

enum {
	PARTS_A_JOB = 4,                  /* several, so that no job waits long for the last one */
	LEAST_BYTES = 128 * 1024,         /* of a range: about what a cycle takes */
	MAX_INPUTS = 64,
};

struct ranges;

/* A range, and the result of reading it. */
struct part {
	struct t2x_range range;           /* first: the address of its blocks is the part's */
	struct ranges *ranges;
	unsigned input, nth;              /* which file, which range of it */
	struct t2x_report report;
	struct t2x_context context;
	struct t2x_filter filter;         /* passes own to the writer */
	struct t2x_model *model;
	void *own;                        /* the totals */
	struct t2x_boundary end;
	const struct t2x_boundary *in_front;   /* state at the end of the parts in front; NULL: not known yet */
	struct t2x_summary summary;
	int is_done;                      /* guarded by the pool's lock */
};

struct ranges {
	const struct t2x_ranges_task *task;
	const struct t2x_adder *adder;
	struct t2x_ranges_plan *plans;    /* of each input */
	struct part *parts;
	unsigned n, next;                 /* parts; the next that no job has begun, guarded by the pool's lock */
	int is_irregular;                 /* one of them is, so the others stop; atomic */
};

struct job {
	struct t2x_task task;             /* first: a task's address is this */
	struct ranges *ranges;
};

/* ---- a part ------------------------------------------------------------------------------------- */

/* Return  1: the part cannot be joined, or something in it has to be reported in its order */
static int is_irregular(const struct part *part)
{
	const struct t2x_summary *summary = t2x_model_summary(part->model);
	uint64_t dropped = 0;

	for (unsigned i = 0; i < TLG_LOSS_REASONS; i++)
		dropped |= summary->dropped[i];
	return part->end.is_irregular || part->context.irregular || part->report.damages ||
	       part->report.skipped_blocks || summary->unresolved || summary->gaps || dropped;
}

static void cancel(struct ranges *ranges)
{
	__atomic_store_n(&ranges->is_irregular, 1, __ATOMIC_RELAXED); /* relaxed: it only saves work */
}

static int is_cancelled(const struct ranges *ranges)
{
	return __atomic_load_n(&ranges->is_irregular, __ATOMIC_RELAXED); /* relaxed: see cancel() */
}

/* A t2x_next_fn */
static int next_block(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct part *part = (struct part *)blocks;

	if (is_irregular(part))
		cancel(part->ranges);
	return !is_cancelled(part->ranges) && t2x_range_next(blocks, block);
}

static void forget_stream(struct t2x_context *context, const struct t2x_stream *stream)
{
	struct part *part = (struct part *)(void *)((char *)context - offsetof(struct part, context));

	t2x_boundary_add(&part->end, stream, part->input);
}

static uint64_t find_last_ns(const struct t2x_context *context, uint32_t stream, uint32_t tid)
{
	const struct part *part = (const struct part *)(const void *)((const char *)context -
								      offsetof(struct part, context));

	return t2x_boundary_last_ns(part->in_front, stream, tid);
}

static int make_model(struct part *part)
{
	const struct t2x_ranges_task *task = part->ranges->task;
	const struct t2x_adder *adder = part->ranges->adder;
	struct t2x_options options = *task->options;

	part->own = adder->new_part(task->options, part->nth);
	part->filter.own = part->own;
	options.filter = &part->filter;
	part->model = part->own ? t2x_model_new(adder->part, task->out, &options) : NULL;
	return part->model != NULL;
}

/* Return  0: no memory */
static int merge_part(struct part *part)
{
	struct t2x_merge *merge;
	int error = -1;

	part->context = (struct t2x_context){
		.model = part->model, .report = &part->report, .is_part = part->nth > 0, .forget = forget_stream,
		.find_last_ns = part->in_front ? find_last_ns : NULL,
		.thread_bytes = part->ranges->adder->format->thread_bytes,
	};
	merge = t2x_merge_new(&part->context);
	if (merge)
		error = t2x_merge_add(merge, &part->range.blocks, part->ranges->task->inputs[part->input].in.name,
				      next_block);
	if (!error)
		error = t2x_merge_run(merge);
	t2x_merge_free(merge);
	return !error;
}

static void read_part(struct part *part)
{
	struct ranges *ranges = part->ranges;
	const struct t2x_input *input = &ranges->task->inputs[part->input];
	int done = make_model(part);

	if (done && !t2x_range_open(&part->range, input->path, &ranges->plans[part->input], part->nth, &part->report)) {
		done = merge_part(part);
		t2x_boundary_end(&part->end, &part->context, &part->range);
		t2x_range_close(&part->range);
		part->summary = *t2x_model_summary(part->model);
	} else {
		done = 0;
	}
	if (!done || is_irregular(part))
		cancel(ranges);
	t2x_model_free(part->model);
	part->model = NULL;
}

/* ---- jobs --------------------------------------------------------------------------------------- */

static int is_ready(const struct t2x_task *task)
{
	const struct ranges *ranges = ((const struct job *)task)->ranges;

	return ranges->next < ranges->n && !is_cancelled(ranges);
}

/* The task: read the next part. */
static void work(struct t2x_task *task)
{
	struct ranges *ranges = ((struct job *)task)->ranges;
	struct part *part = &ranges->parts[ranges->next++];

	t2x_pool_unlock(ranges->task->pool);
	read_part(part);
	t2x_pool_lock(ranges->task->pool);
	part->is_done = 1;
}

/* Return  0: the reading of all parts was cancelled */
static int wait_for(struct ranges *ranges, const struct part *part)
{
	t2x_pool_lock(ranges->task->pool);
	while (!part->is_done && !is_cancelled(ranges))
		t2x_pool_wait(ranges->task->pool);
	t2x_pool_unlock(ranges->task->pool);
	return !is_cancelled(ranges);
}

static struct job *start_jobs(struct ranges *ranges, unsigned n)
{
	struct job *jobs = calloc(n, sizeof(*jobs));

	if (!jobs)
		return NULL;
	t2x_pool_lock(ranges->task->pool);
	for (unsigned i = 0; i < n; i++) {
		jobs[i] = (struct job){ .task = { .is_ready = is_ready, .work = work }, .ranges = ranges };
		t2x_pool_add(ranges->task->pool, &jobs[i].task);
	}
	t2x_pool_unlock(ranges->task->pool);
	return jobs;
}

static void stop_jobs(struct ranges *ranges, struct job *jobs, unsigned n)
{
	t2x_pool_lock(ranges->task->pool);
	for (unsigned i = 0; i < n; i++)
		t2x_pool_remove(ranges->task->pool, &jobs[i].task);
	t2x_pool_unlock(ranges->task->pool);
	free(jobs);
}

/* ---- all parts ---------------------------------------------------------------------------------- */

static void free_part(struct part *part)
{
	part->ranges->adder->free(part->own);
	t2x_boundary_free(&part->end);
	part->own = NULL;
	part->end = (struct t2x_boundary){ .is_irregular = 1 };
}

/* Read a part again, now that the state in front of it is known. */
static void read_again(struct part *part, const struct t2x_boundary *in_front)
{
	free_part(part);
	*part = (struct part){ .ranges = part->ranges, .input = part->input, .nth = part->nth, .in_front = in_front };
	read_part(part);
}

/* Join a part to the first one, and add its counts to found.  Return  0: it does not fit */
static int join_part(struct part *to, struct part *from, struct t2x_ranges *found)
{
	const struct t2x_adder *adder = to->ranges->adder;

	if (to != from && t2x_boundary_needs_past(&to->end, &from->end))
		read_again(from, &to->end);
	found->context.unknown += from->context.unknown;
	found->summary.checkpoints += from->summary.checkpoints;
	return to == from || (t2x_boundary_join(&to->end, &from->end) && adder->join(to->own, from->own));
}

/* Join each part when it has been read.  Return  0: the parts do not make a whole */
static int join_parts(struct ranges *ranges, struct t2x_ranges *found)
{
	struct part *first = ranges->parts;
	int needs_order;

	for (unsigned i = 0; i < ranges->n; i++) {
		struct part *part = &ranges->parts[i];
		if (!wait_for(ranges, part) || !join_part(first, part, found))
			return 0;
		if (i)
			free_part(part);
	}
	return ranges->adder->join_end(first->own, &needs_order) && t2x_boundary_is_whole(&first->end, needs_order);
}

static void show(const struct ranges *ranges, struct t2x_ranges *found)
{
	const struct t2x_ranges_task *task = ranges->task;
	struct part *first = ranges->parts;
	struct t2x_printer printer = {
		.out = task->out, .options = *task->options, .own = first->own,
	};

	found->context.missing = t2x_boundary_missing(&first->end);
	t2x_boundary_open_streams(&first->end, found->open, task->n);
	for (unsigned i = 0; i < task->n; i++)
		task->inputs[i].good = 1;
	ranges->adder->format->finish(&printer);
	first->own = NULL;
	t2x_out_flush(printer.out);
}

static void make_parts(struct ranges *ranges)
{
	for (unsigned i = 0; i < ranges->task->n; i++)
		for (unsigned j = 0; j < ranges->plans[i].n; j++)
			ranges->parts[ranges->n++] = (struct part){ .ranges = ranges, .input = i, .nth = j };
}

static int expand_parts(struct ranges *ranges, struct t2x_ranges *found)
{
	unsigned n = ranges->task->jobs;
	struct job *jobs = start_jobs(ranges, n);
	int done = jobs && join_parts(ranges, found);

	if (!done)
		cancel(ranges);
	if (jobs)
		stop_jobs(ranges, jobs, n);
	if (done)
		show(ranges, found);
	for (unsigned i = 0; i < ranges->n; i++)
		free_part(&ranges->parts[i]);
	return done;
}

/* ---- plans -------------------------------------------------------------------------------------- */

static int is_possible(const struct t2x_ranges_task *task)
{
	if (!task->n || task->n > MAX_INPUTS)
		return 0;
	for (unsigned i = 0; i < task->n; i++) {
		const struct t2x_input *input = &task->inputs[i];
		if (!input->is_regular || input->layout || input->joins || input->begin_at || input->is_done ||
		    input->fault[0])
			return 0;
	}
	return 1;
}

/* Return  how many parts there are; 0: not all inputs can be divided */
static unsigned make_plans(struct ranges *ranges)
{
	const struct t2x_ranges_task *task = ranges->task;
	unsigned n = 0;

	for (unsigned i = 0; i < task->n; i++) {
		t2x_ranges_plan(&ranges->plans[i], task->inputs[i].path, PARTS_A_JOB * task->jobs, LEAST_BYTES);
		if (!ranges->plans[i].n)
			return 0;
		n += ranges->plans[i].n;
	}
	return n;
}

int t2x_ranges_expand(const struct t2x_ranges_task *task, struct t2x_ranges *found)
{
	struct ranges ranges = { .task = task, .adder = task->adder };
	unsigned n = 0;
	int done = 0;

	*found = (struct t2x_ranges){ .open = NULL };
	if (!is_possible(task))
		return 0;
	ranges.plans = calloc(task->n, sizeof(*ranges.plans));
	found->open = calloc(task->n, sizeof(*found->open));
	if (ranges.plans && found->open)
		n = make_plans(&ranges);
	if (n > 1)
		ranges.parts = calloc(n, sizeof(*ranges.parts));
	if (ranges.parts) {
		make_parts(&ranges);
		done = expand_parts(&ranges, found);
	}
	for (unsigned i = 0; ranges.plans && i < task->n; i++)
		t2x_ranges_plan_free(&ranges.plans[i]);
	free(ranges.plans);
	free(ranges.parts);
	return done;
}

void t2x_ranges_free(struct t2x_ranges *found)
{
	free(found->open);
}

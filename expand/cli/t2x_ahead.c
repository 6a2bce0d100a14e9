/* SPDX-License-Identifier: MIT */
/* t2x_ahead.c - see t2x_ahead.h. */
#include "t2x_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "recover/t2x_join.h"

enum { BATCH_EVENTS = 4096, BATCH_BLOCKS = 256 };

/* Blocks, and what was found out about damage before the first of them. */
struct batch {
	unsigned nblocks, nevents;
	int is_last;                      /* behind it the input ends */
	int is_held;                      /* its block was too large to copy: nothing may be read before it is used */
	char *said;                       /* NULL: nothing, or no memory */
	struct t2x_report counts;
	struct t2x_block blocks[BATCH_BLOCKS];
	struct tlg_event events[BATCH_EVENTS];
};

/*
 * An input that is being read.  The reader owns the batches from filled on, the merge the one that it is at;
 * which these are is guarded by the lock.
 */
struct t2x_ahead_lane {
	struct t2x_duty duty;             /* first: a duty's address is this */
	struct t2x_ahead *ahead;
	struct t2x_input *input;
	/* the reader's */
	struct t2x_report report;         /* collects what is said ... */
	char *said;                       /* ... here */
	size_t said_bytes;
	struct t2x_block read;            /* the next block, if has_read; is_end: there is none */
	int has_read, is_end;
	/* guarded by the lock */
	unsigned filled, taken;           /* batches, so far */
	int is_held, has_ended;
	/* the merge's */
	unsigned at;                      /* next block of its batch */
	int has_batch;
	struct batch batches[T2X_AHEAD_BATCHES];
};

struct t2x_ahead {
	struct t2x_crew *crew;
	struct t2x_report *report;
	struct t2x_ahead_lane *lanes[T2X_AHEAD_INPUTS];
};

struct t2x_ahead *t2x_ahead_new(struct t2x_crew *crew, struct t2x_report *report)
{
	struct t2x_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return NULL;
	ahead->crew = crew;
	ahead->report = report;
	return ahead;
}

void t2x_ahead_add(struct t2x_ahead *ahead, struct t2x_input *input)
{
	input->ahead = ahead;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int is_ready(const struct t2x_duty *duty)
{
	const struct t2x_ahead_lane *lane = (const struct t2x_ahead_lane *)duty;

	return !lane->has_ended && !lane->is_held && lane->filled - lane->taken < T2X_AHEAD_BATCHES;
}

/* What was counted and said since the last time goes with the batch. */
static void take_messages(struct t2x_ahead_lane *lane, struct batch *batch)
{
	FILE *to = lane->report.to;

	batch->counts = lane->report;
	lane->report = (struct t2x_report){ .to = to };
	if (!to || !batch->counts.damages)
		return;
	if (!fflush(to))
		batch->said = strndup(lane->said, lane->said_bytes);
	rewind(to);
}

static void copy_block(struct t2x_ahead_lane *lane, struct batch *batch)
{
	struct t2x_block *block = &batch->blocks[batch->nblocks++];

	*block = lane->read;
	/* they are gone when the input is closed */
	block->layout = NULL;
	block->raw = NULL;
	block->own = NULL;
	block->events = batch->events + batch->nevents;
	memcpy(batch->events + batch->nevents, lane->read.events, block->count * sizeof(*block->events));
	batch->nevents += block->count;
	lane->has_read = 0;
}

/* Put the next block into the batch.  Return  0: it does not belong there, or there is none */
static int add_block(struct t2x_ahead_lane *lane, struct batch *batch)
{
	if (!lane->has_read) {
		lane->is_end = !t2x_input_next(&lane->input->blocks, &lane->read);
		lane->has_read = 1;
	}
	if (lane->report.damages || lane->report.skipped_blocks) {
		if (batch->nblocks)
			return 0;
		take_messages(lane, batch);
	}
	if (lane->is_end) {
		batch->is_last = 1;
		return 0;
	}
	if (lane->read.count <= BATCH_EVENTS - batch->nevents && batch->nblocks < BATCH_BLOCKS) {
		copy_block(lane, batch);
		return 1;
	}
	if (!batch->nblocks) {
		batch->is_held = 1;
		batch->blocks[batch->nblocks++] = lane->read;
		lane->has_read = 0;
	}
	return 0;
}

/* The duty: fill a batch. */
static void fill_batch(struct t2x_duty *duty)
{
	struct t2x_ahead_lane *lane = (struct t2x_ahead_lane *)duty;
	struct batch *batch = &lane->batches[lane->filled % T2X_AHEAD_BATCHES];

	t2x_crew_unlock(lane->ahead->crew);
	batch->nblocks = batch->nevents = 0;
	batch->is_last = batch->is_held = 0;
	batch->said = NULL;
	batch->counts = (struct t2x_report){ .to = NULL };
	while (add_block(lane, batch))
		;
	t2x_crew_lock(lane->ahead->crew);
	lane->is_held = batch->is_held;
	lane->has_ended = batch->is_last;
	lane->filled++;
}

/* ---- lanes -------------------------------------------------------------------------------------- */

static void start_lane(struct t2x_ahead *ahead, struct t2x_ahead_lane **place, struct t2x_input *input)
{
	struct t2x_ahead_lane *lane = malloc(sizeof(*lane));

	if (!lane)
		return;
	memset(lane, 0, offsetof(struct t2x_ahead_lane, batches));
	lane->duty = (struct t2x_duty){ .is_ready = is_ready, .work = fill_batch };
	lane->ahead = ahead;
	lane->input = input;
	lane->report.to = open_memstream(&lane->said, &lane->said_bytes);
	t2x_input_report_to(input, &lane->report);
	input->lane = *place = lane;
	t2x_crew_lock(ahead->crew);
	t2x_crew_add(ahead->crew, &lane->duty);
	t2x_crew_unlock(ahead->crew);
}

/* Read the input ahead from now on, if one more can be. */
static void find_lane(struct t2x_ahead *ahead, struct t2x_input *input)
{
	for (unsigned i = 0; i < T2X_AHEAD_INPUTS && !input->lane; i++)
		if (!ahead->lanes[i])
			start_lane(ahead, &ahead->lanes[i], input);
}

static void stop_lane(struct t2x_ahead *ahead, struct t2x_ahead_lane *lane)
{
	t2x_crew_lock(ahead->crew);
	t2x_crew_remove(ahead->crew, &lane->duty);
	t2x_crew_unlock(ahead->crew);
	for (unsigned i = 0; i < T2X_AHEAD_INPUTS; i++)
		if (ahead->lanes[i] == lane)
			ahead->lanes[i] = NULL;
	for (unsigned i = lane->taken + (unsigned)lane->has_batch; i != lane->filled; i++)
		free(lane->batches[i % T2X_AHEAD_BATCHES].said);
	if (lane->report.to)
		fclose(lane->report.to);
	free(lane->said);
	t2x_input_report_to(lane->input, ahead->report);
	lane->input->lane = NULL;
	free(lane);
}

void t2x_ahead_free(struct t2x_ahead *ahead)
{
	for (unsigned i = 0; ahead && i < T2X_AHEAD_INPUTS; i++)
		if (ahead->lanes[i])
			stop_lane(ahead, ahead->lanes[i]);
	free(ahead);
}

/* ---- taking ------------------------------------------------------------------------------------- */

/* Give the batch back, wait for the next, say what comes with it. */
static void turn_batch(struct t2x_ahead_lane *lane)
{
	struct t2x_crew *crew = lane->ahead->crew;
	struct batch *batch;

	t2x_crew_lock(crew);
	if (lane->has_batch) {
		lane->taken++;
		lane->is_held = 0;
		t2x_crew_changed(crew);
	}
	while (lane->filled == lane->taken)
		t2x_crew_wait(crew);
	t2x_crew_unlock(crew);
	lane->has_batch = 1;
	lane->at = 0;
	batch = &lane->batches[lane->taken % T2X_AHEAD_BATCHES];
	t2x_report_repeat(lane->ahead->report, batch->said, &batch->counts);
	free(batch->said);
	batch->said = NULL;
}

static int take_block(struct t2x_ahead_lane *lane, struct t2x_block *block)
{
	for (;;) {
		const struct batch *batch = &lane->batches[lane->taken % T2X_AHEAD_BATCHES];

		if (lane->has_batch && lane->at < batch->nblocks) {
			*block = batch->blocks[lane->at++];
			return 1;
		}
		if (lane->has_batch && batch->is_last)
			return 0;
		turn_batch(lane);
	}
}

int t2x_ahead_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_input *input = (struct t2x_input *)blocks;
	struct t2x_ahead *ahead = input->ahead;

	/* what is known of a file that is still closed does not open it; ring files are memory already */
	if (!input->lane && !input->first.count && !input->is_done && !input->joins)
		find_lane(ahead, input);
	if (!input->lane)
		return t2x_join_next(blocks, block);
	if (take_block(input->lane, block))
		return 1;
	stop_lane(ahead, input->lane);
	return 0;
}

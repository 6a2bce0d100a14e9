/* SPDX-License-Identifier: MIT */
/* t2x_join.c - see t2x_join.h. */
#include "t2x_join.h"

static struct t2x_join *find(const struct t2x_input *input, uint32_t stream)
{
	struct t2x_join *join = input->joins;

	while (join && join->stream != stream)
		join = join->next;
	return join;
}

/* A write that a kill has cut short: the ring file says that the blocks in front of it are all that is in the file. */
static int has_cut(const struct t2x_input *input, uint32_t stream)
{
	const struct t2x_join *join = find(input, stream);

	return join && (int32_t)(join->blocks - join->seen) <= 0;
}

void t2x_join_add(struct t2x_input *input, struct t2x_join *join)
{
	join->next = input->joins;
	input->joins = join;
	input->has_cut = has_cut;
}

/* Return  the earliest of the ring files that have begun; NULL: there is none */
static struct t2x_join *find_now(const struct t2x_input *input)
{
	struct t2x_join *first = NULL;

	for (struct t2x_join *join = input->joins; join; join = join->next)
		if (join->stage == T2X_JOIN_NOW && (!first || join->pace.ns < first->pace.ns))
			first = join;
	return first;
}

/* Deliver the next block of a ring file.  Return  0: there is none, so the ring file is done */
static int next_of_ring(struct t2x_input *input, struct t2x_join *join, struct t2x_block *block)
{
	if (!t2x_salvage_next(join->salvage, block)) {
		join->stage = T2X_JOIN_DONE;
		return 0;
	}
	t2x_pace_follow(&join->pace, block);
	block->rest_ns = t2x_input_rest_ns(input);
	input->good++;
	return 1;
}

/* The .tlg file has reached a time: begin ring files without blocks in it whose processes had started by then. */
static void begin_reached(struct t2x_input *input)
{
	uint64_t now_ns = t2x_input_now_ns(input);

	for (struct t2x_join *join = input->joins; join && t2x_input_rest_ns(input); join = join->next)
		if (join->stage == T2X_JOIN_WAITS && !join->blocks && join->pace.ns <= now_ns)
			join->stage = T2X_JOIN_NOW;
}

/* Lower block->rest_ns to the earliest start of a ring file that is waiting. */
static void add_rest(const struct t2x_input *input, struct t2x_block *block)
{
	for (const struct t2x_join *join = input->joins; join; join = join->next)
		if (join->stage == T2X_JOIN_WAITS && !join->blocks && join->pace.ns < block->rest_ns)
			block->rest_ns = join->pace.ns;
}

/* Return  1: deliver this block of the .tlg file; 0: drop it, because the ring file has its events */
static int is_vouched_for(struct t2x_input *input, const struct t2x_block *block)
{
	struct t2x_join *join = block->is_framed ? find(input, block->stream) : NULL;
	int32_t left = join ? (int32_t)(join->blocks - block->number) : 0;

	if (!join)
		return !input->joins->is_alone;
	if (left >= 0) {
		t2x_salvage_follow(join->salvage, block);
		join->seen = block->number;
	}
	if (left <= 0 && join->stage == T2X_JOIN_WAITS)
		join->stage = T2X_JOIN_NOW;
	return left >= 0;
}

/* The .tlg file has ended: begin all ring files that are waiting.  Return  0: there is none */
static int begin_waiting(struct t2x_input *input)
{
	int begun = 0;

	for (struct t2x_join *join = input->joins; join; join = join->next) {
		if (join->stage != T2X_JOIN_WAITS)
			continue;
		join->stage = T2X_JOIN_NOW;
		begun = 1;
	}
	return begun;
}

/* Deliver the earliest next block.  Return  1; 0: call again; -1: all inputs have ended */
static int next_of_any(struct t2x_input *input, struct t2x_block *block)
{
	struct t2x_join *join;

	begin_reached(input);
	join = find_now(input);
	if (join && join->pace.ns <= t2x_input_now_ns(input))
		return next_of_ring(input, join, block);
	if (t2x_input_next(&input->blocks, block))
		return is_vouched_for(input, block);
	return join || begin_waiting(input) ? 0 : -1;
}

int t2x_join_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_input *input = (struct t2x_input *)blocks;
	int got;

	if (!input->joins)
		return t2x_input_next(blocks, block);
	do
		got = next_of_any(input, block);
	while (!got);
	if (got > 0)
		add_rest(input, block);
	return got > 0;
}

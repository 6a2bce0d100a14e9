/* SPDX-License-Identifier: MIT */
/* t2x_join.c - see t2x_join.h. */
#include "t2x_join.h"

void t2x_join_add(struct t2x_input *input, struct t2x_join *join)
{
	join->next = input->joins;
	input->joins = join;
}

static struct t2x_join *find(struct t2x_input *input, uint32_t stream)
{
	struct t2x_join *join = input->joins;

	while (join && join->stream != stream)
		join = join->next;
	return join;
}

/* The earliest of the ring files whose turn it is.  NULL: there is none */
static struct t2x_join *find_now(const struct t2x_input *input)
{
	struct t2x_join *first = NULL;

	for (struct t2x_join *join = input->joins; join; join = join->next)
		if (join->stage == T2X_JOIN_NOW && (!first || join->pace.ns < first->pace.ns))
			first = join;
	return first;
}

/* The next block of a ring file; its turn ends with its last block. */
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

/* The file has come to the start of processes that have written nothing into it. */
static void begin_reached(struct t2x_input *input)
{
	uint64_t now_ns = t2x_input_now_ns(input);

	for (struct t2x_join *join = input->joins; join && t2x_input_rest_ns(input); join = join->next)
		if (join->stage == T2X_JOIN_WAITS && !join->blocks && join->pace.ns <= now_ns)
			join->stage = T2X_JOIN_NOW;
}

/* Such processes, too, have not begun. */
static void add_rest(const struct t2x_input *input, struct t2x_block *block)
{
	for (const struct t2x_join *join = input->joins; join; join = join->next)
		if (join->stage == T2X_JOIN_WAITS && !join->blocks && join->pace.ns < block->rest_ns)
			block->rest_ns = join->pace.ns;
}

/* A block of the file.  Return  0: the ring file has its events */
static int is_vouched_for(struct t2x_input *input, const struct t2x_block *block)
{
	struct t2x_join *join = block->is_framed ? find(input, block->stream) : NULL;
	int32_t left = join ? (int32_t)(join->blocks - block->number) : 0;

	if (!join)
		return !input->joins || !input->joins->is_alone;
	if (left >= 0)
		t2x_salvage_follow(join->salvage, block);
	if (left <= 0 && join->stage == T2X_JOIN_WAITS)
		join->stage = T2X_JOIN_NOW;
	return left >= 0;
}

/* The file is at its end; pending ring files may begin.  Return  0: there is none */
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

/* The next block of whichever is next.  Return  1; 0: look again; -1: there is none */
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

	do
		got = next_of_any(input, block);
	while (!got);
	if (got > 0)
		add_rest(input, block);
	return got > 0;
}

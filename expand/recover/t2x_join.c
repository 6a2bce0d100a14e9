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

/* The next block of a ring file whose turn it is; its turn ends with its last block. */
static int next_of_rings(struct t2x_input *input, struct t2x_block *block)
{
	for (struct t2x_join *join = input->joins; join; join = join->next) {
		if (join->stage != T2X_JOIN_NOW)
			continue;
		if (t2x_salvage_next(join->salvage, block)) {
			input->good++;
			return 1;
		}
		join->stage = T2X_JOIN_DONE;
	}
	return 0;
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

int t2x_join_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_input *input = (struct t2x_input *)blocks;

	for (;;) {
		if (next_of_rings(input, block))
			return 1;
		if (!t2x_input_next(blocks, block)) {
			if (!begin_waiting(input))
				return 0;
		} else if (is_vouched_for(input, block)) {
			return 1;
		}
	}
}

/* SPDX-License-Identifier: MIT */
/* t2x_expansion.h - what is expanded, from where to where. */
#ifndef T2X_EXPANSION_H
#define T2X_EXPANSION_H

#include "t2x_inputs.h"
#include "t2x_output.h"
#include "parallel/t2x_pool.h"

struct t2x_expansion {
	const struct t2x_settings *settings;
	struct t2x_report *report;
	struct t2x_pool *pool;            /* NULL: the calling thread does all of it */
	struct t2x_inputs *inputs;
	struct t2x_output *output;        /* was started */
	struct t2x_blocks *blocks;        /* of a source beside the inputs, whose blocks next delivers; NULL: none */
	int (*next)(struct t2x_blocks *blocks, struct t2x_block *block);
	const struct t2x_writer *writer;  /* NULL: the format's, behind the filter */
};

#endif

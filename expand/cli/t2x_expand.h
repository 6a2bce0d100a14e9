/* SPDX-License-Identifier: MIT */
/*
 * t2x_expand.h - from inputs to one output: front end, model and writer put together, with the threads of --jobs
 * between them; and what is to be said of the inputs as a whole.
 */
#ifndef T2X_EXPAND_H
#define T2X_EXPAND_H

#include "t2x_inputs.h"
#include "t2x_output.h"
#include "t2x_pool.h"

struct t2x_expansion {
	const struct t2x_settings *settings;
	struct t2x_report *report;
	struct t2x_pool *pool;            /* NULL: the calling thread does all of it */
	struct t2x_inputs *inputs;
	struct t2x_output *output;        /* was started */
	const struct t2x_writer *writer;  /* NULL: the format's, behind the filter */
};

/* Return  0 or -ENOMEM: the output is not complete */
int t2x_expand(const struct t2x_expansion *x);

#endif

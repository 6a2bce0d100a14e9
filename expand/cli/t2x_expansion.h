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
	const struct t2x_writer *writer;  /* NULL: the format's, behind the filter */
};

#endif

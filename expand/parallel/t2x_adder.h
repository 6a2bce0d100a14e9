/* SPDX-License-Identifier: MIT */
/*
 * t2x_adder.h - formats that are totals of all events, in no order: those of parts can be joined, for --jobs.
 */
#ifndef T2X_ADDER_H
#define T2X_ADDER_H

#include "model/t2x_writer.h"

/* What is added up, own, is the writer's; its type is known here only. */
struct t2x_adder {
	const struct t2x_writer *format;  /* its finish prints own, and frees it */
	const struct t2x_writer *part;    /* adds the events of a part to own, which is that of options->filter */
	int (*is_possible)(const struct t2x_options *options);          /* NULL: always */
	/* nth: part of a file, from 0.  Return  NULL: no memory */
	void *(*new_part)(const struct t2x_options *options, unsigned nth);
	int (*join)(void *to, void *from);                                /* return  0: they do not fit */
	/* All have been joined.  *needs_order: it is right only if events came in the order of time */
	int (*join_end)(void *own, int *needs_order);
	void (*free)(void *own);                                          /* also NULL */
};

/* Return  NULL: the format, as these options have it, is something else */
const struct t2x_adder *t2x_adder_find(const struct t2x_writer *format, const struct t2x_options *options);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_adder.h - formats that print totals of all events, in any order.  For --jobs, totals of parts can be joined.
 */
#ifndef T2X_ADDER_H
#define T2X_ADDER_H

#include "model/t2x_writer.h"

/* own are the totals of a writer; only the writer and its adder know their type. */
struct t2x_adder {
	const struct t2x_writer *format;  /* its finish prints own and frees it */
	const struct t2x_writer *part;    /* adds the events of a part to own, which it finds in options->filter */
	int (*is_possible)(const struct t2x_options *options);          /* NULL: always */
	/* nth: part of a file, from 0.  Return  NULL: no memory */
	void *(*new_part)(const struct t2x_options *options, unsigned nth);
	int (*join)(void *to, void *from);                                /* return  0: they do not fit */
	/* All parts have been joined.  *needs_order: the totals are right only if events came in the order of time */
	int (*join_end)(void *own, int *needs_order);
	void (*free)(void *own);                                          /* also NULL */
};

/* Return  NULL: with these options the format does not print totals that can be joined */
const struct t2x_adder *t2x_adder_find(const struct t2x_writer *format, const struct t2x_options *options);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_lines.h - the stage between model, or filter, and one of git's three writers, for what is done with whole lines:
 * --columns puts columns in front of them, --last keeps the last of each thread.
 */
#ifndef T2X_LINES_H
#define T2X_LINES_H

#include "model/t2x_writer.h"

/* Which columns: the words of --columns, with commas between them. */
enum { T2X_LINES_PID = 1, T2X_LINES_PROGRAM = 2 };

/* Return  T2X_LINES_...; 0: the text is something else */
unsigned t2x_lines_columns(const char *text);

/* The writer, or the stage in front of it if the options ask for one. */
const struct t2x_writer *t2x_lines_writer(const struct t2x_writer *writer, const struct t2x_options *options);

#endif

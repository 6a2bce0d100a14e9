/* SPDX-License-Identifier: MIT */
/*
 * t2x_usage.h - what t2expand says of itself: --help, --list-formats, the formats in a message.  The formats and their
 * options are those of t2x_formats.def.
 */
#ifndef T2X_USAGE_H
#define T2X_USAGE_H

#include <stddef.h>
#include <stdio.h>

#include "text/t2x_formats.h"

void t2x_usage_help(FILE *to);

/* A line for each format: name, suffix, traits with commas between them ("-": none), help. */
void t2x_usage_formats(FILE *to);

/* The formats that know the option; NULL: all.  Return  to, "normal, perf, event" */
const char *t2x_usage_names(char *to, size_t size, const struct t2x_format_option *option);

#endif

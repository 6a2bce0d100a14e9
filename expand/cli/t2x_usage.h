/* SPDX-License-Identifier: MIT */
/*
 * t2x_usage.h - what t2expand, and t2, says of itself: --help, --list-formats, --list-options, formats in a message.
 * Made of tables, but for the one screen of t2expand: t2x_options.def, t2x_commands.def, t2x_formats.def.
 */
#ifndef T2X_USAGE_H
#define T2X_USAGE_H

#include <stddef.h>
#include <stdio.h>

#include "t2x_commands.h"
#include "text/t2x_formats.h"

enum t2x_group {
#define T2X_GROUP(id, heading) T2X_GROUP_##id,
#include "t2x_options.def"
	T2X_GROUPS
};

enum t2x_cli_option_name {
#define T2X_CLI_OPTION(id, name, value, group, commands, help) T2X_CLI_##id,
#include "t2x_options.def"
	T2X_CLI_OPTIONS
};

struct t2x_cli_option {
	const char *name;
	const char *value;        /* what --help calls it; "[=...]": may be left out; NULL: there is none */
	enum t2x_group group;
	const char *commands;     /* whose help shows it, with blanks between them; "": all; NULL: none */
	const char *help;
};

extern const struct t2x_cli_option t2x_cli_options[T2X_CLI_OPTIONS];

/* A screen of t2expand; or of t2, or of one of its commands.  is_all: every option */
void t2x_usage_help(FILE *to, const struct t2x_front *front, int is_all);

/* The version of t2expand, and that of the format. */
void t2x_usage_version(FILE *to, const struct t2x_front *front);

/* A line for each format: name, suffix, traits with commas between them ("-": none), help. */
void t2x_usage_formats(FILE *to);

/*
 * A line for each option: --NAME, --NAME=VALUE or --NAME[=VALUE], and help.  Of t2 also one for each command; of a
 * command only the options that its --help shows.
 */
void t2x_usage_options(FILE *to, const struct t2x_front *front);

/* The formats that know the option; NULL: all.  Return  to, "normal, perf, event" */
const char *t2x_usage_names(char *to, size_t size, const struct t2x_format_option *option);

/* The layout of events, as "xml" or "md"; NULL: the first.  Return  0: there is no such word */
int t2x_usage_layout(FILE *to, const char *how);

#endif

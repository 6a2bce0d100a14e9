/* SPDX-License-Identifier: MIT */
/*
 * t2x_options.h - what the command line of t2expand asks for.
 *
 * A command line that cannot be understood, --help, --version, --list-formats and --show_format end the program here.
 */
#ifndef T2X_OPTIONS_H
#define T2X_OPTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "t2x_commands.h"
#include "t2x_status.h"
#include "t2x_value.h"
#include "t2x_watched.h"
#include "query/t2x_diff_rows.h"
#include "query/t2x_filter.h"
#include "symbols/t2x_namer.h"
#include "text/t2x_formats.h"

/* Which ring files of those that are found. */
struct t2x_selection {
	uint32_t pid;                     /* 0: any */
	const char *program;              /* a pattern; NULL: any */
	uid_t user;                       /* whose they are */
	int has_older, has_newer;
	uint64_t older, newer;            /* seconds since the process is last known to have lived */
};

struct t2x_settings {
	struct t2x_front front;
	const struct t2x_format *format;
	int has_format;                   /* which was given */
	struct t2x_options options;
	const char *values[T2X_OPTIONS];  /* of options of formats: NULL: not given; "": without a value */
	int is_diff;                      /* the paths are runs to be compared */
	unsigned new_runs;                /* of these, at the end */
	int has_times;                    /* --diff shows what got slower or faster */
	int has_durations;                /* --diff shows how they differ */
	enum t2x_diff_form diff_form;
	double threshold;                 /* per cent that times may differ; below 0: any */
	struct t2x_filter filter;         /* which events; to be freed */
	struct t2x_symbols_places places; /* of the files that name addresses */
	const char *output;               /* NULL: standard output */
	int is_directory;                 /* it is one: a file in it for each process */
	int unpacks;                      /* it is one, for the files of the archive that the format is */
	int raw_text;                     /* nothing is escaped, not even on a terminal */
	enum t2x_when color;
	int no_pager;
	int quiet;                        /* no progress */
	unsigned jobs;                    /* threads, the main one included */
	const char *layout;               /* file of a foreign layout, or NULL */
	char *const *paths;
	unsigned npaths;
	char **rings;                     /* ring files to recover, by name; to be freed */
	unsigned nrings;
	int recover_all;                  /* those of all dead processes, too */
	uint32_t live;                    /* id of the living process whose ring file is read; 0: none */
	int asks;                         /* it is asked where its threads are, first */
	struct t2x_instant at;            /* whose state is wanted; not given: the end */
	struct t2x_watched watched;       /* what t2 follow, top and state are about; what NULL: no such command */
	int is_once;                      /* t2 top draws its table once */
	uint64_t seconds_ns;              /* it is followed for so long; 0: to its end */
	int delete_rings;                 /* when the output is complete */
	int selects;                      /* not all of recover_all: */
	struct t2x_selection select;
};

/* Fill in the settings, which point into argv, and their options at themselves. */
void t2x_options_read(struct t2x_settings *settings, int argc, char **argv);

#endif

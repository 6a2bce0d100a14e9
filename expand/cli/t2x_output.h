/* SPDX-License-Identifier: MIT */
/*
 * t2x_output.h - where the text goes: standard output, a terminal, a file, a new file in a directory, or, of a format
 * that is an archive, a directory of its own.
 *
 * A file in a directory has no name before it is complete, where the file system can do that (open(2), O_TMPFILE):
 * a file with a name is complete, even if t2expand is killed.  An existing file is never replaced.
 */
#ifndef T2X_OUTPUT_H
#define T2X_OUTPUT_H

#include <limits.h>

#include "t2x_preallocate.h"
#include "t2x_options.h"
#include "t2x_terminal.h"
#include "t2x_unpack.h"
#include "base/t2x_out.h"

struct t2x_output {
	struct t2x_out out;
	struct t2x_terminal terminal;         /* behind out, if the output is a terminal, or has colours */
	int is_terminal;
	int had_pager;
	int shows_progress;               /* a line of it may be on the terminal meanwhile */
	struct t2x_preallocated preallocated;   /* behind out, if the output is a regular file */
	struct t2x_unpack unpack;         /* behind out, if the output is a directory for an archive */
	int is_unpacked;
	int fd;
	int is_new;                       /* in a directory, of ours alone */
	int is_nameless;                  /* and without its name until it is complete */
	char path[PATH_MAX];              /* for messages; of a new file: its name */
	size_t stem;                      /* of a new file: bytes of path in front of a number and the suffix */
	const char *suffix;
};

/* Open what the settings name, and leave it as it is.  Return  NULL, or why it cannot be written */
const char *t2x_output_open(struct t2x_output *output, const struct t2x_settings *settings);

/* The same of a new file in the directory that they name, for a process with this session id. */
const char *t2x_output_create(struct t2x_output *output, const struct t2x_settings *settings, const char *sid);

/* Cut it to nothing; from now on out takes text.  Return  NULL, or why not; then there is nothing to be finished */
const char *t2x_output_start(struct t2x_output *output, const struct t2x_settings *settings);

/* Everything has been written; is_durable 1: it must be on the disk.  Return  0 or an errno: it is not complete */
int t2x_output_finish(struct t2x_output *output, int is_durable);

#endif

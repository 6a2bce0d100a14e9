/* SPDX-License-Identifier: MIT */
/*
 * t2x_files.h - the .tlg files that `t2 serve' shows: those named when it was started, and those in named directories.
 *
 * A client's name never becomes part of a path that is resolved: it is compared with the names that are there, and
 * opened in the directory itself, without following links.  In directories, files of other users are left out.
 */
#ifndef T2X_FILES_H
#define T2X_FILES_H

#include "base/t2x_out.h"

struct t2x_files {
	char *const *paths;               /* files and directories */
	unsigned n;
};

/* Return  NULL; or why they cannot be served, and *which is the path */
const char *t2x_files_check(const struct t2x_files *files, const char **which);

/* Call visit for the name of each file, those of directories sorted. */
typedef void t2x_files_visit_fn(void *owner, const char *name, uint64_t bytes);
void t2x_files_each(const struct t2x_files *files, t2x_files_visit_fn *visit, void *owner);

/* Open the file of this name, without its directory; the first, if there are several.  Return  -1: there is none */
int t2x_files_open(const struct t2x_files *files, const char *name);

#endif

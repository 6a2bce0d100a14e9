/* SPDX-License-Identifier: MIT */
/* configured.h - traced programs with git's configuration: files of the system and of the user, in t.dir. */
#ifndef CONFIGURED_H
#define CONFIGURED_H

/* Write a file of t.dir: "system" and "global" are those that are found. */
void config_write(const char *name, const char *text);

/* A whole file of t.dir; "" if there is none.  Overwritten by the next call. */
const char *config_read(const char *name);

/* Into the file name: the section trace2 with one target, a file of t.dir, and more lines. */
void config_target(const char *name, const char *key, const char *target, const char *more);

/* Two programs: begin, tell their names, return TRACED or UNTRACED.  Only the second goes by git's configuration. */
int run_plain(void *data);
int run_configured(void *data);

/* Run with these files, and no raw target but what is configured or in more.  Return  the program's exit status */
int config_run(int (*program)(void *), const char *const *more);

#endif

/* SPDX-License-Identifier: MIT */
/* configured.h - runs traced programs with git's configuration: files of the system and of the user, in t.dir. */
#ifndef CONFIGURED_H
#define CONFIGURED_H

/* Write a file of t.dir.  config_run() makes "system" and "global" git's configuration files. */
void config_write(const char *name, const char *text);

/* Return  a whole file of t.dir, "" if there is none.  The next call overwrites it */
const char *config_read(const char *name);

/* Write into the file name the section trace2, with one target (a file of t.dir) and more lines. */
void config_target(const char *name, const char *key, const char *target, const char *more);

/* Two programs: each records its name and returns TRACED or UNTRACED.  Only the second uses git's configuration. */
int run_plain(void *data);
int run_configured(void *data);

/* Run a program with these files.  Only they and more name a raw target.  Return  the program's exit status */
int config_run(int (*program)(void *), const char *const *more);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_config.h - finds and reads git's configuration files.
 *
 * It reads those of the system and of the user, where git finds them, and what they include by include.path.  It
 * follows neither includeIf nor `~name/`, and never reads the configuration of a repository or a worktree, or git's -c.
 *
 * It does not trust the files.  It reads at most 100 regular files of at most 1 MiB, at most 10 levels of inclusion,
 * and at most 1 MiB of settings, and ignores the rest.  It stops reading a file at its first line of bad syntax.
 */
#ifndef TR2_CONFIG_H
#define TR2_CONFIG_H

#include <stddef.h>

#include "trace2.h"

struct tr2_config_item {
	enum trace2_config_scope scope;   /* SYSTEM or GLOBAL */
	const char *key;                  /* "section.Subsection.key" */
	const char *value;                /* NULL: a key without "=" */
};

/*
 * Read the files and pass their settings to tr2_env_configure(); if CONFIG_PARAMS then asks for a list, keep all.
 * A program that has privileges which its caller does not have reads nothing.
 * Errors  a file that is absent, cannot be read or is no file is empty; with DST_DEBUG one line says what is bad
 * Thread  before others use settings    Signal unsafe    Alloc malloc    Errno kept
 */
void tr2_config_read(void);

/*
 * Go through what is kept, in the order of the files, system before global.
 * at      begins as 0
 * Return  1: item is set, valid until tr2_config_forget(); 0: that was all
 */
int tr2_config_next(size_t *at, struct tr2_config_item *item);

/* Free what is kept; settings of trace2 stay in force.  Signal unsafe */
void tr2_config_forget(void);

#endif

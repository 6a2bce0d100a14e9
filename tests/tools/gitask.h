/* SPDX-License-Identifier: MIT */
/* gitask.h - for tests: runs the installed git, if there is one. */
#ifndef GITASK_H
#define GITASK_H

#include <stddef.h>

/* Return  1: git is installed */
int gitask_is_there(void);

/*
 * Run `git ARGUMENTS` by the shell, outside of any repository.  Its environment has only PATH, HOME=home and the
 * variables that the words of `settings` set.  to: its standard output, truncated to size - 1 bytes, and a NUL.
 * Return  its exit status
 */
int gitask(const char *home, const char *settings, const char *arguments, char *to, size_t size, size_t *bytes);

#endif

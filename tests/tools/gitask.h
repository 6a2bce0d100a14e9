/* SPDX-License-Identifier: MIT */
/* gitask.h - for tests: what the installed git says, where there is one. */
#ifndef GITASK_H
#define GITASK_H

#include <stddef.h>

/* 1: there is a git to compare with. */
int gitask_is_there(void);

/*
 * Run `git ARGUMENTS` by the shell, outside of any repository, with nothing in its environment but PATH, HOME=home
 * and what the words of `settings` set.  to: its standard output, cut to size - 1 bytes, and a NUL.
 * Return  its exit status
 */
int gitask(const char *home, const char *settings, const char *arguments, char *to, size_t size, size_t *bytes);

#endif

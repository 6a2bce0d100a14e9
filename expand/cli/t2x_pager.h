/* SPDX-License-Identifier: MIT */
/*
 * t2x_pager.h - text on a terminal goes through a pager: $T2_PAGER, else $PAGER, else less, if it is there.
 *
 * It starts with the first text: what fails before that, and what prints nothing, has no pager.  What it makes of the
 * text, and whether it reads all of it, is not for t2expand to judge.
 */
#ifndef T2X_PAGER_H
#define T2X_PAGER_H

/* Return  the command of the shell; NULL: the text goes to the terminal */
const char *t2x_pager_find(void);

/* Start it between standard output and the terminal.  If it does not start, the text goes to the terminal. */
void t2x_pager_start(const char *command);

/* Everything is written: wait until it ends.  Return  1: there was one */
int t2x_pager_finish(void);

#endif

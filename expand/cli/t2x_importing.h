/* SPDX-License-Identifier: MIT */
/*
 * t2x_importing.h - `t2 import': traces that git has written itself become a .tlg file.
 *
 * It has options of its own, so main() asks for it before anything else.
 */
#ifndef T2X_IMPORTING_H
#define T2X_IMPORTING_H

/* Return  1: the command line is `t2 import' and what follows, and no request for help */
int t2x_importing_is_meant(int argc, char **argv);

/* Return  the exit status */
int t2x_importing_run(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_steer.h - `t2 ctl': asks running processes by their control pages, and prints their answers.
 *
 * Each process is asked for itself.  What one of them refuses is one line on standard error, and the others are asked
 * nevertheless.  runtime/api/tr2_steer.h says what the commands do.
 */
#ifndef T2X_STEER_H
#define T2X_STEER_H

/* 1: the command line is one of `t2 ctl'. */
int t2x_steer_is_meant(int argc, char **argv);

/* Do what it says.  Return  the exit status */
int t2x_steer_run(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_record.h - `t2 record': runs a program with the profiler in front of it.
 *
 * The program is executed in our place: it has our process id, descriptors and signals, and its exit status is ours.
 * What it gets is in its environment: LD_PRELOAD, TRACE2_PROF, TRACE2_RAW.
 */
#ifndef T2X_RECORD_H
#define T2X_RECORD_H

enum { T2X_EXIT_NOT_RUN = 126, T2X_EXIT_NOT_FOUND = 127 };   /* as env(1) has it */

/* 1: the command line is one of `t2 record'. */
int t2x_record_is_meant(int argc, char **argv);

/* Execute what it says.  Return  only if that fails: the exit status */
int t2x_record_run(int argc, char **argv);

#endif

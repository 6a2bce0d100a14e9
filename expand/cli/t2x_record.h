/* SPDX-License-Identifier: MIT */
/*
 * t2x_record.h - `t2 record': runs a program with the profiler in front of it.
 *
 * What the program gets is in its environment: LD_PRELOAD, TRACE2_PROF, TRACE2_RAW.  It has our descriptors, and is
 * sent the signals that are sent to us; we end as it does.  In between what its processes have left is collected,
 * t2x_collect.h.
 */
#ifndef T2X_RECORD_H
#define T2X_RECORD_H

/* 1: the command line is one of `t2 record'. */
int t2x_record_is_meant(int argc, char **argv);

/* Run what it says.  Return  the exit status; if a signal has ended the program, it ends us, too */
int t2x_record_run(int argc, char **argv);

#endif

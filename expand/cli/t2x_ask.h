/* SPDX-License-Identifier: MIT */
/*
 * t2x_ask.h - `t2 stacks': asks a process that is profiled with TRACE2_PROF=threads=SIGNAL where its threads are.
 *
 * Its ring file says by which signal, and how many threads have answered.  The answers are samples in its trace.  What
 * is believed of a process, and that no other one is signalled, t2x_target.h has.
 */
#ifndef T2X_ASK_H
#define T2X_ASK_H

#include "t2x_options.h"
#include "base/t2x_report.h"

/*
 * Ask settings->live, and wait for the answers, but not for long.  Unless --since was given, it becomes the moment of
 * the question.
 * Return  0: it cannot be asked, as is reported
 */
int t2x_ask(struct t2x_settings *settings, struct t2x_report *report);

#endif

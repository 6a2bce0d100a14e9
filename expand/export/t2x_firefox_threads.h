/* SPDX-License-Identifier: MIT */
/* t2x_firefox_threads.h - the tables of a profile's threads, and its counters. */
#ifndef T2X_FIREFOX_THREADS_H
#define T2X_FIREFOX_THREADS_H

#include "t2x_firefox_columns.h"

/* "threads":[...]; behind them ,"counters":[...]. */
void t2x_firefox_print_threads(const struct t2x_firefox_print *print);
void t2x_firefox_print_counters(const struct t2x_firefox_print *print);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * idx_report.h - prints the most frequent words, put in order by sort(1).
 */
#ifndef IDX_REPORT_H
#define IDX_REPORT_H

#include <stddef.h>

#include "idx_words.h"

enum { IDX_TOP_MAX = 1000 };

/*
 * Print "count word" lines of the `room` (at most IDX_TOP_MAX) most frequent words to stdout.
 * Return  0, or -1: reported
 */
int idx_report(const struct idx_words *words, size_t room);

#endif

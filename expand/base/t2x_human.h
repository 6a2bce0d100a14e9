/* SPDX-License-Identifier: MIT */
/* t2x_human.h - numbers as people read them: three digits, four below 1024 bytes, and a unit. */
#ifndef T2X_HUMAN_H
#define T2X_HUMAN_H

#include <stdint.h>

enum { T2X_HUMAN_BYTES = 40 };
enum t2x_human_kind { T2X_HUMAN_TIME, T2X_HUMAN_SIZE, T2X_HUMAN_COUNT };

/*
 * "123 ns", "12.3 KiB", "1234567".  number  of nanoseconds, bytes or things
 * width, unit_width  of a cell of a table, in which numbers and units lie below each other; both 0: none
 * Return  to
 */
const char *t2x_human(char to[T2X_HUMAN_BYTES], enum t2x_human_kind kind, double number, int width, int unit_width);

/* The same of a time, in a cell of 9 columns or in none. */
const char *t2x_human_time(char to[T2X_HUMAN_BYTES], uint64_t ns, int is_cell);

#endif

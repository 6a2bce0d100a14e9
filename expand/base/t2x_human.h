/* SPDX-License-Identifier: MIT */
/* t2x_human.h - durations and sizes as people read them: three digits and a unit. */
#ifndef T2X_HUMAN_H
#define T2X_HUMAN_H

#include <stdint.h>

enum { T2X_HUMAN_BYTES = 24 };

/* "123 ns", "1.23 us", "12.3 ms", "1234 s".  is_cell: 9 columns, the units below each other.  Return  to */
const char *t2x_human_time(char to[T2X_HUMAN_BYTES], uint64_t ns, int is_cell);

/* "123 B", "1.23 KiB", "12.3 MiB" */
const char *t2x_human_bytes(char to[T2X_HUMAN_BYTES], uint64_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * idx_error.h - what went wrong goes to stderr and into the trace.
 */
#ifndef IDX_ERROR_H
#define IDX_ERROR_H

/* Print "t2index: " and the message as one line.  Any thread. */
void idx_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: MIT */
/* printed.h - for tests: what a command of the shell prints. */
#ifndef PRINTED_H
#define PRINTED_H

/*
 * Run a command, a printf() format.  $expand is t2expand of this build.
 * Return  the first line that it prints, without the line end, up to 255 bytes; valid until the next call
 */
const char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_capture.h - take the arguments of a printf-style format as they are, for the expander to format.
 */
#ifndef TR2_CAPTURE_H
#define TR2_CAPTURE_H

#include <stdarg.h>

#include "tr2_emit.h"

/*
 * Append the arguments of format's conversions to args.  Strings are pointed to, cut at their precision.
 * errnum  what %m shows    text  room for that, 128 bytes
 * Return  1; 0: something in it cannot be put off (%n, wide characters, long double, %1$d, more than
 *         TR2_FIXED_ARGS arguments, ...): render the message now
 * Signal  safe    Cost  1 ns a conversion, and the strings' lengths
 */
int tr2_capture(struct tr2_args *args, const char *format, va_list ap, int errnum, char text[128]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_capture.h - take the arguments of a printf-style format as they are, for the expander to format.
 */
#ifndef TR2_CAPTURE_H
#define TR2_CAPTURE_H

#include <stdarg.h>

#include "tr2_emit.h"
#include "tr2_format.h"

/* Arguments to come.  (Where a va_list is an array, only in a struct has its address one type everywhere.) */
struct tr2_va {
	va_list ap;
};

/*
 * Append the arguments that format takes from va, which is used up, to args.  Strings are pointed to, cut at their
 * precision.
 * format  one that can be put off    errnum  what %m shows    text  room for that, 128 bytes
 * Signal  safe    Cost  1 ns a conversion, and the strings' lengths
 */
void tr2_capture(struct tr2_args *args, const struct tr2_format *format, struct tr2_va *va, int errnum,
		 char text[128]);

#endif

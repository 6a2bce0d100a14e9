/* SPDX-License-Identifier: MIT */
/*
 * tr2_format.h - a printf-style format, parsed once: which arguments it takes, in order.
 */
#ifndef TR2_FORMAT_H
#define TR2_FORMAT_H

#include <stdint.h>

/* The C type by which one argument is read from the list. */
enum tr2_take {
	TR2_TAKE_INT = 1, TR2_TAKE_SCHAR, TR2_TAKE_SHORT, TR2_TAKE_LONG, TR2_TAKE_LLONG, TR2_TAKE_INTMAX,
	TR2_TAKE_PTRDIFF,
	TR2_TAKE_UINT, TR2_TAKE_UCHAR, TR2_TAKE_USHORT, TR2_TAKE_ULONG, TR2_TAKE_ULLONG, TR2_TAKE_UINTMAX,
	TR2_TAKE_SIZE,
	TR2_TAKE_DOUBLE, TR2_TAKE_POINTER,
	TR2_TAKE_CHAR,            /* %c: an int, of which a byte is used */
	TR2_TAKE_STRING,
	TR2_TAKE_STRING_STAR,     /* its precision is the argument before */
	TR2_TAKE_STRING_CUT,      /* its precision is in the next two bytes, low byte first */
	TR2_TAKE_ERRNO,           /* %m: no argument */
};

enum { TR2_FORMAT_TAKES = 15, TR2_FORMAT_NOT_DEFERRED = 255 };

struct tr2_format {
	uint8_t take[TR2_FORMAT_TAKES + 1];   /* ends with a 0; TR2_FORMAT_NOT_DEFERRED: render the message at once */
};

/*
 * Parse a format.  What cannot be deferred: %n, wide characters, long double, %1$d, locale's flags, unknown
 * conversions, and more arguments than there is room for (15; a string's fixed precision takes the room of two).
 * Signal  safe    Cost  about 2 ns a byte
 */
struct tr2_format tr2_format_parse(const char *text);

#endif

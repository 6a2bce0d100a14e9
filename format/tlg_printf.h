/* SPDX-License-Identifier: MIT */
/*
 * tlg_printf.h - parses printf conversions, "%-8.*lu".  The recorder finds out which arguments a format has, the reader
 * prints them.  Both have to find the same conversions, or arguments and conversions would not match.
 *
 * No libc, no allocation.    Signal  safe
 */
#ifndef TLG_PRINTF_H
#define TLG_PRINTF_H

#include <stdint.h>

enum tlg_printf_flag {
	TLG_PRINTF_LEFT = 1, TLG_PRINTF_PLUS = 2, TLG_PRINTF_BLANK = 4, TLG_PRINTF_ALTERNATE = 8, TLG_PRINTF_ZERO = 16,
	TLG_PRINTF_GROUP = 32,    /* ': thousands are grouped as the locale has it */
};

enum tlg_printf_length {
	TLG_LENGTH_NONE, TLG_LENGTH_CHAR, TLG_LENGTH_SHORT, TLG_LENGTH_LONG, TLG_LENGTH_LLONG, TLG_LENGTH_INTMAX,
	TLG_LENGTH_SIZE, TLG_LENGTH_PTRDIFF, TLG_LENGTH_LONG_DOUBLE,
	TLG_LENGTHS
};

/* What a conversion prints. */
enum tlg_printf_kind {
	TLG_PRINTF_UNKNOWN,       /* a conversion that is not supported: %n, "%1$d", wide characters, ... */
	TLG_PRINTF_SIGNED,        /* d i */
	TLG_PRINTF_UNSIGNED,      /* o u x X */
	TLG_PRINTF_CHAR,          /* c */
	TLG_PRINTF_STRING,        /* s */
	TLG_PRINTF_DOUBLE,        /* a A e E f F g G */
	TLG_PRINTF_POINTER,       /* p */
	TLG_PRINTF_ERRNO,         /* m: strerror(errno), takes no argument */
	TLG_PRINTF_PERCENT,       /* %: itself */
};

/* A width or a precision of a conversion. */
struct tlg_printf_count {
	enum { TLG_COUNT_NONE, TLG_COUNT_STAR, TLG_COUNT_DIGITS } kind;
	int32_t value;            /* of the digits, INT32_MAX at most */
};

struct tlg_printf {
	unsigned flags;           /* enum tlg_printf_flag */
	struct tlg_printf_count width, precision;   /* a precision of "." alone is 0 */
	enum tlg_printf_length length;
	enum tlg_printf_kind kind;
	char letter;
};

/*
 * Parse one conversion.
 * p       behind its %
 * Return  the byte behind its letter; NULL: the format ends before that
 */
const char *tlg_printf_parse(const char *p, struct tlg_printf *to);

#endif

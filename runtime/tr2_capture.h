/* SPDX-License-Identifier: MIT */
/*
 * tr2_capture.h - take the arguments of a printf-style format as they are, for the expander to format.
 *
 * Inline, as what follows is: with a call for each argument a message took twice as long.
 */
#ifndef TR2_CAPTURE_H
#define TR2_CAPTURE_H

#include <stdarg.h>

#include "tr2_args.h"
#include "tr2_format.h"

/* Arguments to come.  (Where a va_list is an array, only in a struct has its address one type everywhere.) */
struct tr2_va {
	va_list ap;
};

static inline int64_t tr2_capture_signed(struct tr2_va *va, unsigned take)
{
	switch (take) {
	case TR2_TAKE_SCHAR:
		return (signed char)va_arg(va->ap, int);
	case TR2_TAKE_SHORT:
		return (short)va_arg(va->ap, int);
	case TR2_TAKE_LONG:
		return va_arg(va->ap, long);
	case TR2_TAKE_LLONG:
		return va_arg(va->ap, long long);
	case TR2_TAKE_INTMAX:
		return va_arg(va->ap, intmax_t);
	case TR2_TAKE_PTRDIFF:
		return va_arg(va->ap, ptrdiff_t);
	case TR2_TAKE_CHAR:
		return (unsigned char)va_arg(va->ap, int);
	default:
		return va_arg(va->ap, int);
	}
}

static inline uint64_t tr2_capture_unsigned(struct tr2_va *va, unsigned take)
{
	switch (take) {
	case TR2_TAKE_UCHAR:
		return (unsigned char)va_arg(va->ap, unsigned);
	case TR2_TAKE_USHORT:
		return (unsigned short)va_arg(va->ap, unsigned);
	case TR2_TAKE_ULONG:
		return va_arg(va->ap, unsigned long);
	case TR2_TAKE_ULLONG:
		return va_arg(va->ap, unsigned long long);
	case TR2_TAKE_UINTMAX:
		return va_arg(va->ap, uintmax_t);
	case TR2_TAKE_SIZE:
		return va_arg(va->ap, size_t);
	default:
		return va_arg(va->ap, unsigned);
	}
}

static inline int64_t tr2_capture_double(struct tr2_va *va)
{
	double value = va_arg(va->ap, double);
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* What %m shows. */
const char *tr2_capture_errno(char *to, size_t size);

/* With a precision the string need not end by itself; a negative one counts as none. */
static inline void tr2_capture_cut(struct tr2_args *args, const char *text, int64_t precision)
{
	if (text && precision >= 0)
		tr2_args_bytes(args, text, strnlen(text, (size_t)precision));
	else
		tr2_args_text(args, text);
}

/*
 * Append the arguments that the format takes from va, which is used up, to args.  Strings are pointed to, cut at their
 * precision.  errno is what %m shows, and kept.
 * take    of a tr2_format
 * Return  0: it cannot be put off
 * Signal  safe    Cost  1 ns a conversion, and the strings' lengths
 */
static inline int tr2_capture(struct tr2_args *args, const uint8_t *take, struct tr2_va *va)
{
	for (; *take; take++) {
		switch (*take) {
		case TR2_TAKE_STRING:
			tr2_args_text(args, va_arg(va->ap, const char *));
			break;
		case TR2_TAKE_STRING_STAR:
			tr2_capture_cut(args, va_arg(va->ap, const char *), args->value[args->nvalues - 1].value);
			break;
		case TR2_TAKE_STRING_CUT:
			tr2_capture_cut(args, va_arg(va->ap, const char *), take[1] | take[2] << 8);
			take += 2;
			break;
		case TR2_TAKE_DOUBLE:
			tr2_args_add(args, TLG_ARG_DOUBLE, tr2_capture_double(va));
			break;
		case TR2_TAKE_POINTER:
			tr2_args_add(args, TLG_ARG_POINTER, (int64_t)(uintptr_t)va_arg(va->ap, void *));
			break;
		case TR2_TAKE_ERRNO:
			tr2_args_text(args, tr2_capture_errno(args->room, sizeof(args->room)));
			break;
		case TR2_TAKE_UINT: case TR2_TAKE_UCHAR: case TR2_TAKE_USHORT: case TR2_TAKE_ULONG:
		case TR2_TAKE_ULLONG: case TR2_TAKE_UINTMAX: case TR2_TAKE_SIZE:
			tr2_args_uint(args, tr2_capture_unsigned(va, *take));
			break;
		case TR2_TAKE_INT: case TR2_TAKE_SCHAR: case TR2_TAKE_SHORT: case TR2_TAKE_LONG:
		case TR2_TAKE_LLONG: case TR2_TAKE_INTMAX: case TR2_TAKE_PTRDIFF: case TR2_TAKE_CHAR:
			tr2_args_int(args, tr2_capture_signed(va, *take));
			break;
		default:
			return 0;
		}
	}
	return 1;
}

#endif

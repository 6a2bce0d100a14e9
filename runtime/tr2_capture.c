/* SPDX-License-Identifier: MIT */
/* tr2_capture.c - from a list of arguments to what is recorded of them. */
#include "tr2_capture.h"

#include <stddef.h>
#include <string.h>

static int64_t take_signed(struct tr2_va *va, unsigned take)
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

static uint64_t take_unsigned(struct tr2_va *va, unsigned take)
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

static void take_double(struct tr2_args *args, struct tr2_va *va)
{
	double value = va_arg(va->ap, double);
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	tr2_args_add(args, TLG_ARG_DOUBLE, bits);
}

/* With a precision the string need not end by itself; a negative one counts as none. */
static void take_string(struct tr2_args *args, struct tr2_va *va, int64_t precision)
{
	const char *text = va_arg(va->ap, const char *);

	if (text && precision >= 0)
		tr2_args_bytes(args, text, strnlen(text, (size_t)precision));
	else
		tr2_args_text(args, text);
}

void tr2_capture(struct tr2_args *args, const struct tr2_format *format, struct tr2_va *va, int errnum,
		 char text[128])
{
	for (unsigned i = 0; i < format->count; i++) {
		unsigned take = format->take[i];
		switch (take) {
		case TR2_TAKE_STRING:
			take_string(args, va, -1);
			break;
		case TR2_TAKE_STRING_STAR:
			take_string(args, va, args->fixed[args->nfixed - 1].value);
			break;
		case TR2_TAKE_STRING_CUT:
			take_string(args, va, format->take[i + 1] | format->take[i + 2] << 8);
			i += 2;
			break;
		case TR2_TAKE_DOUBLE:
			take_double(args, va);
			break;
		case TR2_TAKE_POINTER:
			tr2_args_add(args, TLG_ARG_POINTER, (int64_t)(uintptr_t)va_arg(va->ap, void *));
			break;
		case TR2_TAKE_ERRNO:
			tr2_args_text(args, strerror_r(errnum, text, 128));
			break;
		case TR2_TAKE_UINT: case TR2_TAKE_UCHAR: case TR2_TAKE_USHORT: case TR2_TAKE_ULONG:
		case TR2_TAKE_ULLONG: case TR2_TAKE_UINTMAX: case TR2_TAKE_SIZE:
			tr2_args_uint(args, take_unsigned(va, take));
			break;
		default:
			tr2_args_int(args, take_signed(va, take));
		}
	}
}

/* SPDX-License-Identifier: MIT */
/* tr2_capture.c - from a list of arguments to what is recorded of them. */
#include "tr2_capture.h"

#include <stddef.h>
#include <string.h>

/* The arguments to come.  A va_list that is passed on by address has to be in a struct to have one everywhere. */
struct source {
	va_list ap;
};

static int64_t take_signed(struct source *source, unsigned take)
{
	switch (take) {
	case TR2_TAKE_SCHAR:
		return (signed char)va_arg(source->ap, int);
	case TR2_TAKE_SHORT:
		return (short)va_arg(source->ap, int);
	case TR2_TAKE_LONG:
		return va_arg(source->ap, long);
	case TR2_TAKE_LLONG:
		return va_arg(source->ap, long long);
	case TR2_TAKE_INTMAX:
		return va_arg(source->ap, intmax_t);
	case TR2_TAKE_PTRDIFF:
		return va_arg(source->ap, ptrdiff_t);
	case TR2_TAKE_CHAR:
		return (unsigned char)va_arg(source->ap, int);
	default:
		return va_arg(source->ap, int);
	}
}

static uint64_t take_unsigned(struct source *source, unsigned take)
{
	switch (take) {
	case TR2_TAKE_UCHAR:
		return (unsigned char)va_arg(source->ap, unsigned);
	case TR2_TAKE_USHORT:
		return (unsigned short)va_arg(source->ap, unsigned);
	case TR2_TAKE_ULONG:
		return va_arg(source->ap, unsigned long);
	case TR2_TAKE_ULLONG:
		return va_arg(source->ap, unsigned long long);
	case TR2_TAKE_UINTMAX:
		return va_arg(source->ap, uintmax_t);
	case TR2_TAKE_SIZE:
		return va_arg(source->ap, size_t);
	default:
		return va_arg(source->ap, unsigned);
	}
}

static void take_double(struct tr2_args *args, struct source *source)
{
	double value = va_arg(source->ap, double);
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	tr2_args_add(args, TLG_ARG_DOUBLE, bits);
}

/* With a precision the string need not end by itself; a negative one counts as none. */
static void take_string(struct tr2_args *args, struct source *source, int64_t precision)
{
	const char *text = va_arg(source->ap, const char *);

	if (text && precision >= 0)
		tr2_args_bytes(args, text, strnlen(text, (size_t)precision));
	else
		tr2_args_text(args, text);
}

void tr2_capture(struct tr2_args *args, const struct tr2_format *format, va_list ap, int errnum, char text[128])
{
	struct source source;

	va_copy(source.ap, ap);
	for (unsigned i = 0; i < format->count; i++) {
		unsigned take = format->take[i];
		switch (take) {
		case TR2_TAKE_STRING:
			take_string(args, &source, -1);
			break;
		case TR2_TAKE_STRING_STAR:
			take_string(args, &source, args->fixed[args->nfixed - 1].value);
			break;
		case TR2_TAKE_STRING_CUT:
			take_string(args, &source, format->take[i + 1] | format->take[i + 2] << 8);
			i += 2;
			break;
		case TR2_TAKE_DOUBLE:
			take_double(args, &source);
			break;
		case TR2_TAKE_POINTER:
			tr2_args_add(args, TLG_ARG_POINTER, (int64_t)(uintptr_t)va_arg(source.ap, void *));
			break;
		case TR2_TAKE_ERRNO:
			tr2_args_text(args, strerror_r(errnum, text, 128));
			break;
		case TR2_TAKE_UINT: case TR2_TAKE_UCHAR: case TR2_TAKE_USHORT: case TR2_TAKE_ULONG:
		case TR2_TAKE_ULLONG: case TR2_TAKE_UINTMAX: case TR2_TAKE_SIZE:
			tr2_args_uint(args, take_unsigned(&source, take));
			break;
		default:
			tr2_args_int(args, take_signed(&source, take));
		}
	}
	va_end(source.ap);
}

/* SPDX-License-Identifier: MIT */
/* tr2_capture.c - walking a format for the types of its arguments. */
#include "tr2_capture.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* The arguments to come.  A va_list that is passed on by address has to be in a struct to have one everywhere. */
struct source {
	va_list ap;
	struct tr2_args *args;
	int errnum;
	char *text;               /* room for %m */
};

enum length { NORMAL, CHAR, SHORT, LONG, LONG_LONG, MAXIMUM, SIZE, POINTER_DIFFERENCE };

static const char *skip_digits(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

/* A width or precision: digits, or an argument, which is recorded.  value: INT_MIN for none. */
static const char *take_count(struct source *source, const char *p, int *value)
{
	*value = INT_MIN;
	if (*p == '*') {
		*value = va_arg(source->ap, int);
		tr2_args_int(source->args, *value);
		return p + 1;
	}
	if (*p >= '0' && *p <= '9') {
		*value = 0;
		for (const char *digit = p; *digit >= '0' && *digit <= '9'; digit++)
			*value = *value < INT_MAX / 10 ? *value * 10 + (*digit - '0') : INT_MAX;
	}
	return skip_digits(p);
}

static const char *take_length(const char *p, enum length *length)
{
	*length = NORMAL;
	switch (*p) {
	case 'h':
		*length = p[1] == 'h' ? CHAR : SHORT;
		return p + (p[1] == 'h' ? 2 : 1);
	case 'l':
		*length = p[1] == 'l' ? LONG_LONG : LONG;
		return p + (p[1] == 'l' ? 2 : 1);
	case 'q':
		*length = LONG_LONG;
		return p + 1;
	case 'j':
		*length = MAXIMUM;
		return p + 1;
	case 'z':
		*length = SIZE;
		return p + 1;
	case 't':
		*length = POINTER_DIFFERENCE;
		return p + 1;
	default:
		return p;
	}
}

static int64_t take_signed(struct source *source, enum length length)
{
	switch (length) {
	case CHAR:
		return (signed char)va_arg(source->ap, int);
	case SHORT:
		return (short)va_arg(source->ap, int);
	case LONG:
		return va_arg(source->ap, long);
	case LONG_LONG:
		return va_arg(source->ap, long long);
	case MAXIMUM:
		return va_arg(source->ap, intmax_t);
	case SIZE:
	case POINTER_DIFFERENCE:
		return va_arg(source->ap, ptrdiff_t);
	default:
		return va_arg(source->ap, int);
	}
}

static uint64_t take_unsigned(struct source *source, enum length length)
{
	switch (length) {
	case CHAR:
		return (unsigned char)va_arg(source->ap, unsigned);
	case SHORT:
		return (unsigned short)va_arg(source->ap, unsigned);
	case LONG:
		return va_arg(source->ap, unsigned long);
	case LONG_LONG:
		return va_arg(source->ap, unsigned long long);
	case MAXIMUM:
		return va_arg(source->ap, uintmax_t);
	case SIZE:
	case POINTER_DIFFERENCE:
		return va_arg(source->ap, size_t);
	default:
		return va_arg(source->ap, unsigned);
	}
}

static void take_double(struct source *source)
{
	double value = va_arg(source->ap, double);
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	tr2_args_add(source->args, TLG_ARG_DOUBLE, bits);
}

/* With a precision the string need not end by itself. */
static void take_string(struct source *source, int precision)
{
	const char *text = va_arg(source->ap, const char *);

	if (text && precision >= 0)
		tr2_args_bytes(source->args, text, strnlen(text, (size_t)precision));
	else
		tr2_args_text(source->args, text);
}

static void take_errno(struct source *source)
{
	tr2_args_text(source->args, strerror_r(source->errnum, source->text, 128));
}

/* The argument of one conversion.  0: it cannot be put off. */
static int take_argument(struct source *source, char conversion, enum length length, int precision)
{
	switch (conversion) {
	case 'd':
	case 'i':
		tr2_args_int(source->args, take_signed(source, length));
		return 1;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		tr2_args_uint(source->args, take_unsigned(source, length));
		return 1;
	case 'c':
		tr2_args_int(source->args, (unsigned char)va_arg(source->ap, int));
		return length == NORMAL;
	case 's':
		if (length == NORMAL)
			take_string(source, precision);
		return length == NORMAL;
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		take_double(source);
		return 1;
	case 'p':
		tr2_args_add(source->args, TLG_ARG_POINTER, (int64_t)(uintptr_t)va_arg(source->ap, void *));
		return 1;
	case 'm':
		take_errno(source);
		return 1;
	case '%':
		return 1;
	default:
		return 0;   /* unknown; or %n, which writes to memory */
	}
}

static int take_all(struct source *source, const char *p)
{
	int width, precision;
	enum length length;

	while ((p = strchr(p, '%'))) {
		p++;
		p += strspn(p, "-+ #0");
		p = take_count(source, p, &width);
		precision = INT_MIN;
		if (*p == '.') {
			p = take_count(source, p + 1, &precision);
			precision = precision == INT_MIN ? 0 : precision;
		}
		p = take_length(p, &length);
		/* one conversion can take three arguments; "$", "L", "I" and "'" are left to the C library */
		if (source->args->nfixed > TR2_FIXED_ARGS - 3 || !take_argument(source, *p, length, precision))
			return 0;
		p++;
	}
	return 1;
}

int tr2_capture(struct tr2_args *args, const char *format, va_list ap, int errnum, char text[128])
{
	struct source source = { .args = args, .errnum = errnum, .text = text };
	int done;

	va_copy(source.ap, ap);
	done = take_all(&source, format);
	va_end(source.ap);
	if (!done)
		args->nfixed = 0;
	return done;
}

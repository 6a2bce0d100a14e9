/* SPDX-License-Identifier: MIT */
/* tlg_printf.c - see tlg_printf.h. */
#include "tlg_printf.h"

#include <stddef.h>

static unsigned find_flag(char c)
{
	switch (c) {
	case '-':
		return TLG_PRINTF_LEFT;
	case '+':
		return TLG_PRINTF_PLUS;
	case ' ':
		return TLG_PRINTF_BLANK;
	case '#':
		return TLG_PRINTF_ALTERNATE;
	case '0':
		return TLG_PRINTF_ZERO;
	case '\'':
		return TLG_PRINTF_GROUP;
	default:
		return 0;
	}
}

static const char *parse_flags(const char *p, unsigned *flags)
{
	for (unsigned flag; (flag = find_flag(*p)); p++)
		*flags |= flag;
	return p;
}

static const char *parse_count(const char *p, struct tlg_printf_count *count)
{
	if (*p == '*') {
		count->kind = TLG_COUNT_STAR;
		return p + 1;
	}
	for (; *p >= '0' && *p <= '9'; p++) {
		int32_t digit = *p - '0';

		count->kind = TLG_COUNT_DIGITS;
		count->value = count->value > (INT32_MAX - digit) / 10 ? INT32_MAX : count->value * 10 + digit;
	}
	return p;
}

static const char *parse_length(const char *p, enum tlg_printf_length *length)
{
	switch (*p) {
	case 'h':
		*length = p[1] == 'h' ? TLG_LENGTH_CHAR : TLG_LENGTH_SHORT;
		return p + (p[1] == 'h' ? 2 : 1);
	case 'l':
		*length = p[1] == 'l' ? TLG_LENGTH_LLONG : TLG_LENGTH_LONG;
		return p + (p[1] == 'l' ? 2 : 1);
	case 'q':
		*length = TLG_LENGTH_LLONG;
		return p + 1;
	case 'j':
		*length = TLG_LENGTH_INTMAX;
		return p + 1;
	case 'z':
		*length = TLG_LENGTH_SIZE;
		return p + 1;
	case 't':
		*length = TLG_LENGTH_PTRDIFF;
		return p + 1;
	case 'L':
		*length = TLG_LENGTH_LONG_DOUBLE;
		return p + 1;
	default:
		return p;
	}
}

/* The kind of a conversion.  Characters and strings with a length are wide, and not supported. */
static enum tlg_printf_kind find_kind(char letter, enum tlg_printf_length length)
{
	switch (letter) {
	case 'd':
	case 'i':
		return TLG_PRINTF_SIGNED;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		return TLG_PRINTF_UNSIGNED;
	case 'c':
		return length == TLG_LENGTH_NONE ? TLG_PRINTF_CHAR : TLG_PRINTF_UNKNOWN;
	case 's':
		return length == TLG_LENGTH_NONE ? TLG_PRINTF_STRING : TLG_PRINTF_UNKNOWN;
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		return TLG_PRINTF_DOUBLE;
	case 'p':
		return TLG_PRINTF_POINTER;
	case 'm':
		return TLG_PRINTF_ERRNO;
	case '%':
		return TLG_PRINTF_PERCENT;
	default:
		return TLG_PRINTF_UNKNOWN;
	}
}

const char *tlg_printf_parse(const char *p, struct tlg_printf *to)
{
	*to = (struct tlg_printf){ .flags = 0 };
	p = parse_count(parse_flags(p, &to->flags), &to->width);
	if (*p == '.') {
		p = parse_count(p + 1, &to->precision);
		if (to->precision.kind == TLG_COUNT_NONE)
			to->precision.kind = TLG_COUNT_DIGITS;
	}
	p = parse_length(p, &to->length);
	to->letter = *p;
	to->kind = find_kind(*p, to->length);
	return *p ? p + 1 : NULL;
}

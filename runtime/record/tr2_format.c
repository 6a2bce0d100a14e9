/* SPDX-License-Identifier: MIT */
/* tr2_format.c - walking a format for the types of its arguments. */
#include "tr2_format.h"

#include <stddef.h>
#include <string.h>

enum length { NORMAL, CHAR, SHORT, LONG, LONG_LONG, MAXIMUM, SIZE, POINTER_DIFFERENCE };

/* A width or a precision as it stands in the format. */
struct count {
	enum { NONE, STAR, DIGITS } kind;
	unsigned value;           /* of DIGITS; at most 65536 */
};

/* What has been found so far. */
struct parse {
	struct tr2_format format;
	unsigned count;
};

static int append(struct parse *parse, unsigned byte)
{
	if (parse->count == TR2_FORMAT_TAKES)
		return 0;
	parse->format.take[parse->count++] = (uint8_t)byte;
	return 1;
}

/* NULL: no room for the argument that it takes. */
static const char *parse_count(struct parse *parse, const char *p, struct count *count)
{
	*count = (struct count){ NONE, 0 };
	if (*p == '*') {
		count->kind = STAR;
		return append(parse, TR2_TAKE_INT) ? p + 1 : NULL;
	}
	for (; *p >= '0' && *p <= '9'; p++) {
		count->kind = DIGITS;
		count->value = count->value * 10 + (unsigned)(*p - '0');
		count->value = count->value < 65536 ? count->value : 65536;
	}
	return p;
}

static const char *parse_length(const char *p, enum length *length)
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

static unsigned signed_take(enum length length)
{
	static const uint8_t takes[] = {
		[NORMAL] = TR2_TAKE_INT, [CHAR] = TR2_TAKE_SCHAR, [SHORT] = TR2_TAKE_SHORT, [LONG] = TR2_TAKE_LONG,
		[LONG_LONG] = TR2_TAKE_LLONG, [MAXIMUM] = TR2_TAKE_INTMAX, [SIZE] = TR2_TAKE_PTRDIFF,
		[POINTER_DIFFERENCE] = TR2_TAKE_PTRDIFF,
	};

	return takes[length];
}

static unsigned unsigned_take(enum length length)
{
	static const uint8_t takes[] = {
		[NORMAL] = TR2_TAKE_UINT, [CHAR] = TR2_TAKE_UCHAR, [SHORT] = TR2_TAKE_USHORT, [LONG] = TR2_TAKE_ULONG,
		[LONG_LONG] = TR2_TAKE_ULLONG, [MAXIMUM] = TR2_TAKE_UINTMAX, [SIZE] = TR2_TAKE_SIZE,
		[POINTER_DIFFERENCE] = TR2_TAKE_SIZE,
	};

	return takes[length];
}

static int append_string(struct parse *parse, const struct count *precision)
{
	if (precision->kind == STAR)
		return append(parse, TR2_TAKE_STRING_STAR);
	if (precision->kind == NONE)
		return append(parse, TR2_TAKE_STRING);
	return precision->value < 65536 && append(parse, TR2_TAKE_STRING_CUT) &&
	       append(parse, precision->value & 255) && append(parse, precision->value >> 8);
}

/* The argument of one conversion.  0: it cannot be deferred. */
static int parse_conversion(struct parse *parse, char conversion, enum length length,
			    const struct count *precision)
{
	switch (conversion) {
	case 'd':
	case 'i':
		return append(parse, signed_take(length));
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		return append(parse, unsigned_take(length));
	case 'c':
		return length == NORMAL && append(parse, TR2_TAKE_CHAR);
	case 's':
		return length == NORMAL && append_string(parse, precision);
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		return append(parse, TR2_TAKE_DOUBLE);
	case 'p':
		return append(parse, TR2_TAKE_POINTER);
	case 'm':
		return append(parse, TR2_TAKE_ERRNO);
	case '%':
		return 1;
	default:
		return 0;   /* unknown; or %n, which writes to memory; or "$", "L", "I" and "'", for the C library */
	}
}

struct tr2_format tr2_format_parse(const char *text)
{
	static const struct tr2_format not_deferred = { { TR2_FORMAT_NOT_DEFERRED } };
	struct parse parse = { .count = 0 };
	struct count width, precision;
	enum length length;

	while ((text = strchr(text, '%'))) {
		text++;
		text = parse_count(&parse, text + strspn(text, "-+ #0"), &width);
		if (!text)
			return not_deferred;
		precision = (struct count){ NONE, 0 };
		if (*text == '.') {
			text = parse_count(&parse, text + 1, &precision);
			if (!text)
				return not_deferred;
			precision.kind = precision.kind == NONE ? DIGITS : precision.kind;
		}
		text = parse_length(text, &length);
		if (!parse_conversion(&parse, *text, length, &precision))
			return not_deferred;
		text++;
	}
	return parse.format;
}

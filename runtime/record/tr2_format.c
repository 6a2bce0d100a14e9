/* SPDX-License-Identifier: MIT */
/* tr2_format.c - walking a format for the types of its arguments. */
#include "tr2_format.h"

#include <string.h>

#include "tlg_printf.h"

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

static const uint8_t signed_takes[TLG_LENGTHS] = {
	[TLG_LENGTH_NONE] = TR2_TAKE_INT, [TLG_LENGTH_CHAR] = TR2_TAKE_SCHAR, [TLG_LENGTH_SHORT] = TR2_TAKE_SHORT,
	[TLG_LENGTH_LONG] = TR2_TAKE_LONG, [TLG_LENGTH_LLONG] = TR2_TAKE_LLONG, [TLG_LENGTH_INTMAX] = TR2_TAKE_INTMAX,
	[TLG_LENGTH_SIZE] = TR2_TAKE_PTRDIFF, [TLG_LENGTH_PTRDIFF] = TR2_TAKE_PTRDIFF,
};

static const uint8_t unsigned_takes[TLG_LENGTHS] = {
	[TLG_LENGTH_NONE] = TR2_TAKE_UINT, [TLG_LENGTH_CHAR] = TR2_TAKE_UCHAR, [TLG_LENGTH_SHORT] = TR2_TAKE_USHORT,
	[TLG_LENGTH_LONG] = TR2_TAKE_ULONG, [TLG_LENGTH_LLONG] = TR2_TAKE_ULLONG,
	[TLG_LENGTH_INTMAX] = TR2_TAKE_UINTMAX, [TLG_LENGTH_SIZE] = TR2_TAKE_SIZE,
	[TLG_LENGTH_PTRDIFF] = TR2_TAKE_SIZE,
};

static int append_star(struct parse *parse, const struct tlg_printf_count *count)
{
	return count->kind != TLG_COUNT_STAR || append(parse, TR2_TAKE_INT);
}

static int append_string(struct parse *parse, const struct tlg_printf_count *precision)
{
	unsigned value = (unsigned)precision->value;

	if (precision->kind == TLG_COUNT_STAR)
		return append(parse, TR2_TAKE_STRING_STAR);
	if (precision->kind == TLG_COUNT_NONE)
		return append(parse, TR2_TAKE_STRING);
	return value < 65536 && append(parse, TR2_TAKE_STRING_CUT) && append(parse, value & 255) &&
	       append(parse, value >> 8);
}

/* The argument that a conversion prints.  0: it cannot be deferred */
static int append_argument(struct parse *parse, const struct tlg_printf *conversion)
{
	switch (conversion->kind) {
	case TLG_PRINTF_SIGNED:
		return append(parse, signed_takes[conversion->length]);
	case TLG_PRINTF_UNSIGNED:
		return append(parse, unsigned_takes[conversion->length]);
	case TLG_PRINTF_CHAR:
		return append(parse, TR2_TAKE_CHAR);
	case TLG_PRINTF_STRING:
		return append_string(parse, &conversion->precision);
	case TLG_PRINTF_DOUBLE:
		return append(parse, TR2_TAKE_DOUBLE);
	case TLG_PRINTF_POINTER:
		return append(parse, TR2_TAKE_POINTER);
	case TLG_PRINTF_ERRNO:
		return append(parse, TR2_TAKE_ERRNO);
	case TLG_PRINTF_PERCENT:
		return 1;
	default:
		return 0;
	}
}

/* Long double and the locale's thousands are for the C library. */
static int append_conversion(struct parse *parse, const struct tlg_printf *conversion)
{
	return !(conversion->flags & TLG_PRINTF_GROUP) && conversion->length != TLG_LENGTH_LONG_DOUBLE &&
	       append_star(parse, &conversion->width) && append_star(parse, &conversion->precision) &&
	       append_argument(parse, conversion);
}

struct tr2_format tr2_format_parse(const char *text)
{
	static const struct tr2_format not_deferred = { { TR2_FORMAT_NOT_DEFERRED } };
	struct parse parse = { .count = 0 };
	struct tlg_printf conversion;

	while ((text = strchr(text, '%'))) {
		text = tlg_printf_parse(text + 1, &conversion);
		if (!text || !append_conversion(&parse, &conversion))
			return not_deferred;
	}
	return parse.format;
}

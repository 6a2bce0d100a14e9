/* SPDX-License-Identifier: MIT */
/* t2x_json_scan.c - see t2x_json_scan.h. */
#include "t2x_json_scan.h"

#include <string.h>

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* ---- values ------------------------------------------------------------------------------------- */

/* p is behind the opening quote.  Return  the closing quote; NULL: there is none */
static const char *find_quote(const char *p, const char *end)
{
	while (p < end && *p != '"')
		p += *p == '\\' ? 2 : 1;
	return p < end ? p : NULL;
}

/* Return  the byte behind the number; NULL: it has no digits */
static const char *scan_number(const char *p, const char *end)
{
	const char *digits = p + (*p == '-');

	for (p = digits; p < end && is_digit(*p); p++)
		;
	if (p == digits)
		return NULL;
	while (p < end && (is_digit(*p) || strchr(".eE+-", *p)))
		p++;
	return p;
}

/*
 * Find the end of an array or object: brackets must pair, strings must end.  What lies between them is not checked
 * further, for whoever walks through it checks it.
 */
static const char *scan_nested(const char *p, const char *end)
{
	char open[T2X_JSON_DEPTH];
	unsigned depth = 0;

	for (; p < end; p++) {
		if (*p == '"') {
			p = find_quote(p + 1, end);
			if (!p)
				return NULL;
		} else if (*p == '{' || *p == '[') {
			if (depth == T2X_JSON_DEPTH)
				return NULL;
			open[depth++] = *p;
		} else if (*p == '}' || *p == ']') {
			if (open[--depth] != (*p == '}' ? '{' : '['))
				return NULL;
			if (!depth)
				return p + 1;
		}
	}
	return NULL;
}

static const char *scan_word(const char *p, const char *end, const char *word)
{
	const size_t n = strlen(word);

	return (size_t)(end - p) >= n && !memcmp(p, word, n) ? p + n : NULL;
}

const char *t2x_json_scan(const char *p, const char *end, struct t2x_json_item *item)
{
	const char *behind;

	if (p >= end)
		return NULL;
	*item = (struct t2x_json_item){ .text = p };
	switch (*p) {
	case '"':
		item->text = p + 1;
		behind = find_quote(p + 1, end);
		item->length = behind ? (size_t)(behind - item->text) : 0;
		return behind ? behind + 1 : NULL;
	case '{':
	case '[':
		item->type = *p == '{' ? T2X_JSON_OBJECT : T2X_JSON_ARRAY;
		behind = scan_nested(p, end);
		break;
	case 't':
		item->type = T2X_JSON_TRUE;
		behind = scan_word(p, end, "true");
		break;
	case 'f':
		item->type = T2X_JSON_FALSE;
		behind = scan_word(p, end, "false");
		break;
	case 'n':
		item->type = T2X_JSON_NULL;
		behind = scan_word(p, end, "null");
		break;
	default:
		item->type = T2X_JSON_NUMBER;
		behind = scan_number(p, end);
		break;
	}
	item->length = behind ? (size_t)(behind - p) : 0;
	return behind;
}

/* ---- members ------------------------------------------------------------------------------------ */

const char *t2x_json_next(const char *p, const char *end, struct t2x_json_item *key, struct t2x_json_item *value,
			  int *is_bad)
{
	p = skip_blanks(p, end);
	*is_bad = 0;
	if (p < end && (*p == '}' || *p == ']'))
		return NULL;
	*is_bad = 1;
	if (p < end && *p == ',')
		p = skip_blanks(p + 1, end);
	if (key) {
		p = t2x_json_scan(p, end, key);
		p = p && key->type == T2X_JSON_STRING ? skip_blanks(p, end) : NULL;
		if (!p || p >= end || *p != ':')
			return NULL;
		p = skip_blanks(p + 1, end);
	}
	p = t2x_json_scan(p, end, value);
	p = p ? skip_blanks(p, end) : NULL;
	if (!p || p >= end || !strchr(",}]", *p) || !*p)
		return NULL;
	*is_bad = 0;
	return p;
}

/* ---- strings ------------------------------------------------------------------------------------ */

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits at p.  Return  -1: they are not there */
static int32_t hex_digits(const char *p, const char *end)
{
	int32_t value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);
		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

/* The escape \uXXXX at p, or two of a pair.  Return  the bytes used; *code: what they mean */
static size_t read_code(const char *p, const char *end, uint32_t *code)
{
	int32_t high = hex_digits(p + 2, end), low;

	*code = '?';
	if (high < 0)
		return 2;
	*code = 0xfffd;
	if (high >= 0xd800 && high < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		low = hex_digits(p + 8, end);
		if (low >= 0xdc00 && low < 0xe000) {
			*code = 0x10000 + ((uint32_t)(high - 0xd800) << 10 | (uint32_t)(low - 0xdc00));
			return 12;
		}
	}
	if (high && (high < 0xd800 || high >= 0xe000))
		*code = (uint32_t)high;
	return 6;
}

static char *put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 63));
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	}
	return to;
}

size_t t2x_json_unescape(char *to, const struct t2x_json_item *item)
{
	static const char from[] = "nrtfb", means[] = "\n\r\t\f\b";
	const char *p = item->text, *end = p + item->length, *letter;
	char *begin = to;
	uint32_t code;

	while (p < end) {
		if (*p != '\\' || p + 1 == end) {
			*to++ = *p ? *p : '?';   /* no text of a trace has a NUL */
			p++;
		} else if (p[1] == 'u' && end - p >= 6) {
			p += read_code(p, end, &code);
			to = put_utf8(to, code);
		} else {
			letter = p[1] ? strchr(from, p[1]) : NULL;
			*to++ = letter ? means[letter - from] : p[1] ? p[1] : '?';
			p += 2;
		}
	}
	return (size_t)(to - begin);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Digits from *p on.  Return  0: none, or too many */
static int read_digits(const char **p, const char *end, uint64_t *value)
{
	const char *first = *p;

	*value = 0;
	for (; *p < end && is_digit(**p); ++*p) {
		unsigned digit = (unsigned)(**p - '0');
		if (*value > (UINT64_MAX - digit) / 10)
			return 0;
		*value = 10 * *value + digit;
	}
	return *p > first;
}

int t2x_json_integer(const struct t2x_json_item *item, int64_t *value)
{
	const char *p = item->text, *end = p + item->length;
	const int is_negative = item->length && *p == '-';
	uint64_t digits;

	p += is_negative;
	if (item->type != T2X_JSON_NUMBER || !read_digits(&p, end, &digits) || p != end ||
	    (is_negative && digits > UINT64_C(1) << 63))
		return 0;
	*value = (int64_t)(is_negative ? -digits : digits);
	return 1;
}

int t2x_json_microseconds(const struct t2x_json_item *item, int64_t *us)
{
	const char *p = item->text, *end = p + item->length;
	const int is_negative = item->length && *p == '-';
	uint64_t seconds, fraction = 0;

	p += is_negative;
	if (item->type != T2X_JSON_NUMBER || !read_digits(&p, end, &seconds) || seconds > INT64_MAX / 8000000)
		return 0;
	if (p < end && *p == '.')
		p++;
	for (int i = 0; i < 6; i++)
		fraction = 10 * fraction + (p < end && is_digit(*p) ? (unsigned)(*p++ - '0') : 0);
	while (p < end && is_digit(*p))
		p++;
	*us = (int64_t)(seconds * 1000000 + fraction) * (is_negative ? -1 : 1);
	return p == end;
}

/* SPDX-License-Identifier: MIT */
/* t2x_json_check.c - RFC 8259, without recursion. */
#include "t2x_json_check.h"

#include <string.h>

/* The state of parsing.  Each parse_ function returns 0 if the text does not have what it parses. */
struct reader {
	const char *p, *end;
	unsigned depth;
	char closing[T2X_JSON_DEPTH];  /* ] or } of each array and object that is open */
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static char peek(const struct reader *r)
{
	return r->p < r->end ? *r->p : '\0';
}

static int take(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return 0;
	r->p++;
	return 1;
}

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
		r->p++;
}

static int parse_word(struct reader *r, const char *word)
{
	while (*word && take(r, *word))
		word++;
	return !*word;
}

static int parse_digits(struct reader *r)
{
	const char *from = r->p;

	while (is_digit(peek(r)))
		r->p++;
	return r->p > from;
}

static int parse_number(struct reader *r)
{
	take(r, '-');
	if (!take(r, '0') && !parse_digits(r))
		return 0;
	if (take(r, '.') && !parse_digits(r))
		return 0;
	if (!take(r, 'e') && !take(r, 'E'))
		return 1;
	if (!take(r, '+'))
		take(r, '-');
	return parse_digits(r);
}

static int parse_escape(struct reader *r)
{
	char c = peek(r);

	if (!c || !strchr("\"\\/bfnrtu", c))
		return 0;
	r->p++;
	for (int i = 0; c == 'u' && i < 4; i++, r->p++)
		if (!is_hex(peek(r)))
			return 0;
	return 1;
}

static int parse_string(struct reader *r)
{
	if (!take(r, '"'))
		return 0;
	while (r->p < r->end && (unsigned char)*r->p >= 0x20) {
		char c = *r->p++;

		if (c == '"')
			return 1;
		if (c == '\\' && !parse_escape(r))
			return 0;
	}
	return 0;
}

static int parse_key(struct reader *r)
{
	skip_blanks(r);
	if (!parse_string(r))
		return 0;
	skip_blanks(r);
	return take(r, ':');
}

static int parse_scalar(struct reader *r)
{
	switch (peek(r)) {
	case '"':
		return parse_string(r);
	case 't':
		return parse_word(r, "true");
	case 'f':
		return parse_word(r, "false");
	case 'n':
		return parse_word(r, "null");
	default:
		return parse_number(r);
	}
}

/* Parse up to the end of the next scalar or empty container: open arrays and objects in front of it. */
static int parse_value(struct reader *r)
{
	for (;;) {
		char c, closing;

		skip_blanks(r);
		c = peek(r);
		if (c != '{' && c != '[')
			return parse_scalar(r);
		if (r->depth == T2X_JSON_DEPTH)
			return 0;
		r->p++;
		closing = c == '{' ? '}' : ']';
		r->closing[r->depth++] = closing;
		skip_blanks(r);
		if (peek(r) == closing)
			return 1;
		if (closing == '}' && !parse_key(r))
			return 0;
	}
}

/* Behind a value: close the arrays and objects that end here.  Return  1: another value must follow; 0: none may */
static int go_on(struct reader *r)
{
	while (r->depth) {
		char closing = r->closing[r->depth - 1];

		skip_blanks(r);
		if (take(r, ','))
			return closing == ']' || parse_key(r);
		if (!take(r, closing))
			return 0;
		r->depth--;
	}
	return 0;
}

int t2x_json_is_value(const char *text, size_t n)
{
	struct reader r = { .p = text, .end = text + n };

	do {
		if (!parse_value(&r))
			return 0;
	} while (go_on(&r));
	skip_blanks(&r);
	return !r.depth && r.p == r.end;
}

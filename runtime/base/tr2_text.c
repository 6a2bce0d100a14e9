/* SPDX-License-Identifier: MIT */
/* tr2_text.c - see tr2_text.h. */
#include "tr2_text.h"

#include <string.h>

struct tr2_text tr2_text_begin(char *buffer, size_t size)
{
	*buffer = '\0';
	return (struct tr2_text){ buffer, buffer + size - 1 };
}

void tr2_text_add(struct tr2_text *text, const char *piece)
{
	while (*piece && text->at < text->end)
		*text->at++ = *piece++;
	*text->at = '\0';
}

static void add_number(struct tr2_text *text, uint64_t value, unsigned width, unsigned base)
{
	char digits[21];
	unsigned first = sizeof(digits) - 1;
	const unsigned padded = first - width;

	digits[first] = '\0';
	do {
		digits[--first] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || first > padded);
	tr2_text_add(text, digits + first);
}

void tr2_text_decimal(struct tr2_text *text, uint64_t value, unsigned width)
{
	add_number(text, value, width, 10);
}

void tr2_text_hex(struct tr2_text *text, uint64_t value, unsigned width)
{
	add_number(text, value, width, 16);
}

static int fold(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int tr2_text_is(const char *text, const char *other)
{
	while (*text && fold(*text) == fold(*other)) {
		text++;
		other++;
	}
	return fold(*text) == fold(*other);
}

int tr2_text_begins(const char *text, const char *beginning)
{
	while (*beginning && fold(*text) == fold(*beginning)) {
		text++;
		beginning++;
	}
	return !*beginning;
}

#ifdef __GLIBC__
const char *tr2_text_error(int error)
{
	const char *text = strerrordesc_np(error);

	return text ? text : "unknown error";
}

const char *tr2_text_error_as_said(int error, char *to, size_t size)
{
	return strerror_r(error, to, size);
}
#else
/* musl's texts lie in memory: it opens no catalogue here. */
const char *tr2_text_error(int error)
{
	return strerror(error);
}

/* The strerror_r() of POSIX */
const char *tr2_text_error_as_said(int error, char *to, size_t size)
{
	*to = '\0';
	strerror_r(error, to, size);
	return to;
}
#endif

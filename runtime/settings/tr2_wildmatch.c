/* SPDX-License-Identifier: MIT */
/* tr2_wildmatch.c - one pass with one place to go back to: a later star makes all earlier ones final. */
#include "tr2_wildmatch.h"

#include <stddef.h>
#include <string.h>

static int is_between(unsigned char c, unsigned char min, unsigned char max)
{
	return c >= min && c <= max;
}

static int is_lower(unsigned char c)
{
	return is_between(c, 'a', 'z');
}

static unsigned char fold(unsigned char c)
{
	return is_between(c, 'A', 'Z') ? (unsigned char)(c + 32) : c;
}

/* ---- brackets ----------------------------------------------------------------------------------- */

static int is_punctuation(unsigned char c)
{
	return is_between(c, '!', '/') || is_between(c, ':', '@') || is_between(c, '[', '`') ||
	       is_between(c, '{', '~');
}

static int is_digit(unsigned char c)
{
	return is_between(c, '0', '9');
}

/* 1, 0, or -1: no such class.  c is folded, so a capital is a small letter. */
static int is_in_class(unsigned char c, const char *name, size_t length)
{
	const struct { const char *name; int has; } classes[] = {
		{ "alnum", is_lower(c) || is_digit(c) },
		{ "alpha", is_lower(c) },
		{ "blank", c == ' ' || c == '\t' },
		{ "cntrl", c < 0x20 || c == 0x7f },
		{ "digit", is_digit(c) },
		{ "graph", is_between(c, '!', '~') },
		{ "lower", is_lower(c) },
		{ "print", is_between(c, ' ', '~') },
		{ "punct", is_punctuation(c) },
		{ "space", c == ' ' || c == '\t' || c == '\n' || c == '\r' },
		{ "upper", is_lower(c) },
		{ "xdigit", is_digit(c) || is_between(c, 'a', 'f') },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == length && !memcmp(classes[i].name, name, length))
			return classes[i].has;
	return -1;
}

/* A range counts for a letter in both its cases. */
static int is_in_range(unsigned char c, unsigned char min, unsigned char max)
{
	return is_between(c, min, max) || (is_lower(c) && is_between((unsigned char)(c - 32), min, max));
}

/* The byte at *at, or behind the backslash there; *at moves past it.  '\0': the pattern ends. */
static unsigned char take_byte(const char **at)
{
	unsigned char c;

	*at += **at == '\\';
	c = (unsigned char)**at;
	*at += c != '\0';
	return c;
}

/* "[:name:]" at *at: 1 or 0, *at behind it; -1: none is there; -2: its name is unknown, or the pattern ends. */
static int take_class(const char **at, unsigned char c)
{
	const char *name = *at + 2, *end;
	int found;

	if (strncmp(*at, "[:", 2))
		return -1;
	end = strchr(name, ']');
	if (!end)
		return -2;
	if (end == name || end[-1] != ':')
		return -1;
	found = is_in_class(c, name, (size_t)(end - 1 - name));
	*at = end + 1;
	return found < 0 ? -2 : found;
}

/* The set behind "[": is the folded byte c in it?  *at moves behind its "]".  0 too if the pattern ends first. */
static int match_set(const char **at, unsigned char c)
{
	const char *p = *at;
	int negated = *p == '!' || *p == '^', found = 0;
	unsigned char last = '\0';         /* of a range the first; '\0': none can begin here */

	p += negated;
	do {
		int class = take_class(&p, c);
		int is_range = *p == '-' && last && p[1] && p[1] != ']';
		unsigned char byte;
		if (class == -2)
			return 0;
		if (class >= 0) {
			found |= class;
			last = '\0';
			continue;
		}
		p += is_range;
		byte = take_byte(&p);
		if (!byte)
			return 0;
		found |= is_range ? is_in_range(c, last, byte) : c == byte;
		last = is_range ? '\0' : byte;
	} while (*p != ']');
	*at = p + 1;
	return found != negated;
}

/* ---- the pattern -------------------------------------------------------------------------------- */

/* One element of the pattern, not a star, against one byte of the text.  *at moves behind the element. */
static int match_one(const char **at, unsigned char text)
{
	unsigned char c = (unsigned char)**at;

	if (c == '\\')
		return take_byte(at) == fold(text);
	++*at;
	if (c == '[')
		return match_set(at, fold(text));
	return c == '?' || fold(c) == fold(text);
}

int tr2_wildmatch(const char *pattern, const char *text)
{
	const char *star = NULL;           /* behind the last star */
	const char *from = NULL;           /* where the text begins that this star does not take */

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern && match_one(&pattern, (unsigned char)*text)) {
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* SPDX-License-Identifier: MIT */
/* tr2_config_parse.c - one byte after the other; letters and blanks are ASCII's, whatever the locale. */
#include "tr2_config_parse.h"

#include <string.h>

void tr2_config_parse_begin(struct tr2_config_parser *parser, char *text, size_t bytes)
{
	memset(parser, 0, sizeof(*parser));
	parser->text = text;
	parser->bytes = bytes;
	parser->line = 1;
	if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		parser->at = 3;
}

/* ---- bytes -------------------------------------------------------------------------------------- */

static int is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_key_byte(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next byte; "\r\n" is one '\n', and so is the end, as often as it is asked for. */
static int next_byte(struct tr2_config_parser *p)
{
	int c;

	if (p->at >= p->bytes) {
		p->ended = 1;
		return '\n';
	}
	p->line += p->line_ended;
	c = (unsigned char)p->text[p->at++];
	if (c == '\r' && p->at < p->bytes && p->text[p->at] == '\n')
		c = (unsigned char)p->text[p->at++];
	p->line_ended = c == '\n';
	return c;
}

/* ---- keys --------------------------------------------------------------------------------------- */

static void push_byte(struct tr2_config_parser *p, int c)
{
	if (p->length + 1 < sizeof(p->key)) {
		p->key[p->length] = (char)c;
		p->key[p->length + 1] = '\0';
	}
	p->length++;
}

static void push_folded(struct tr2_config_parser *p, int c)
{
	push_byte(p, c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Behind `[section` and a blank: `"sub section"]`.  0: bad syntax. */
static int parse_subsection(struct tr2_config_parser *p, int c)
{
	while (is_blank(c) && c != '\n')
		c = next_byte(p);
	if (c != '"')
		return 0;
	push_byte(p, '.');
	while ((c = next_byte(p)) != '"') {
		if (c == '\\')
			c = next_byte(p);
		if (c == '\n')
			return 0;
		push_byte(p, c);
	}
	return next_byte(p) == ']';
}

/* Behind `[`.  0: bad syntax. */
static int parse_section(struct tr2_config_parser *p)
{
	int c;

	p->length = 0;
	while ((c = next_byte(p)) != ']') {
		if (is_blank(c)) {
			if (!parse_subsection(p, c))
				return 0;
			break;
		}
		if (!is_key_byte(c) && c != '.')
			return 0;
		push_folded(p, c);
	}
	if (!p->length)
		return 0;
	push_byte(p, '.');
	p->section = p->length;
	return 1;
}

/* ---- values ------------------------------------------------------------------------------------- */

/* What `\c` in a value means; -1: nothing. */
static int unescape(int c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return -1;
	}
}

/*
 * Behind `=`.  Blanks around it go, those within stay; both kinds of comment end it, but not in quotes.
 * Each byte written stands for at least one that was read, the NUL for the line end.  0: bad syntax.
 */
static int parse_value(struct tr2_config_parser *p)
{
	size_t n = 0, kept = 0;            /* bytes written; of these without the blanks at the end */
	int c, is_quoted = 0, is_comment = 0;
	char *value = p->text + p->at;

	p->value = value;
	while ((c = next_byte(p)) != '\n') {
		if (is_comment || (!is_quoted && (c == ';' || c == '#'))) {
			is_comment = 1;
			continue;
		}
		if (is_blank(c) && !is_quoted) {
			if (n)
				value[n++] = (char)c;
			continue;
		}
		if (c == '"') {
			is_quoted = !is_quoted;
		} else if (c != '\\') {
			value[n++] = (char)c;
		} else if ((c = next_byte(p)) != '\n') {
			c = unescape(c);
			if (c < 0)
				return 0;
			value[n++] = (char)c;
		}
		kept = n;
	}
	value[kept] = '\0';
	return !is_quoted;
}

/* A key's first letter was read.  0: bad syntax. */
static int parse_setting(struct tr2_config_parser *p, int c)
{
	p->length = p->section;
	do
		push_folded(p, c);
	while (is_key_byte(c = next_byte(p)));
	while (c == ' ' || c == '\t')
		c = next_byte(p);
	p->value = NULL;
	return c == '=' ? parse_value(p) : c == '\n';
}

int tr2_config_parse_next(struct tr2_config_parser *parser)
{
	int is_comment = 0;

	for (;;) {
		int c = next_byte(parser);
		if (c == '\n') {
			if (parser->ended)
				return 0;
			is_comment = 0;
		} else if (c == '#' || c == ';') {
			is_comment = 1;
		} else if (is_comment || is_blank(c)) {
			continue;
		} else if (c == '[') {
			if (!parse_section(parser))
				return -1;
		} else {
			if (!is_letter(c) || !parse_setting(parser, c))
				return -1;
			if (parser->length < sizeof(parser->key))
				return 1;
		}
	}
}

/* ---- patterns: one pass with one place to go back to, for a later star makes all earlier ones final --- */

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

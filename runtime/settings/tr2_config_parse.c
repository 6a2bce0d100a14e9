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

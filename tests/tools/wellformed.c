/* SPDX-License-Identifier: MIT */
/* wellformed.c - see wellformed.h. */
#include "wellformed.h"

#include <expat.h>
#include <stdint.h>
#include <string.h>

const char *wellformed_lines(const char *text, size_t n)
{
	return n && text[n - 1] != '\n' ? "the last line does not end" : NULL;
}

/* ---- JSON: each function returns the byte behind what it is for, or NULL ------------------------------------ */

enum { DEPTH = 1000 };

static const char *json_value(const char *p, const char *end, unsigned depth);

static const char *blanks(const char *p, const char *end)
{
	while (p && p < end && memchr(" \t\r\n", *p, 4))
		p++;
	return p;
}

/* Skip what follows a backslash. */
static const char *json_escape(const char *p, const char *end)
{
	if (p == end || !memchr("\"\\/bfnrtu", *p, 9))
		return NULL;
	if (*p != 'u')
		return p + 1;
	return end - p > 4 && strspn(p + 1, "0123456789abcdefABCDEF") >= 4 ? p + 5 : NULL;
}

static const char *json_string(const char *p, const char *end)
{
	if (p == end || *p != '"')
		return NULL;
	for (p++; p && p < end && (unsigned char)*p >= ' ';) {
		if (*p == '"')
			return p + 1;
		p = *p == '\\' ? json_escape(p + 1, end) : p + 1;
	}
	return NULL;
}

static const char *json_members(const char *p, const char *end, char closing, unsigned depth)
{
	p = blanks(p, end);
	if (p < end && *p == closing)
		return p + 1;
	for (;;) {
		if (closing == '}') {
			p = json_string(blanks(p, end), end);
			p = blanks(p, end);
			if (!p || p == end || *p++ != ':')
				return NULL;
		}
		p = blanks(json_value(p, end, depth + 1), end);
		if (!p || p == end)
			return NULL;
		if (*p == closing)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static const char *digits(const char *p, const char *end)
{
	const char *from = p;

	while (p && p < end && *p >= '0' && *p <= '9')
		p++;
	return p > from ? p : NULL;
}

static const char *json_number(const char *p, const char *end)
{
	p += p < end && *p == '-';
	p = p < end && *p == '0' ? p + 1 : digits(p, end);
	if (p && p < end && *p == '.')
		p = digits(p + 1, end);
	if (p && p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		p = digits(p, end);
	}
	return p;
}

static const char *json_value(const char *p, const char *end, unsigned depth)
{
	static const char *const words[] = { "true", "false", "null" };

	p = blanks(p, end);
	if (!p || p == end || depth > DEPTH)
		return NULL;
	if (*p == '{' || *p == '[')
		return json_members(p + 1, end, *p == '{' ? '}' : ']', depth);
	if (*p == '"')
		return json_string(p, end);
	for (unsigned i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n))
			return p + n;
	}
	return json_number(p, end);
}

const char *wellformed_json(const char *text, size_t n)
{
	const char *end = text + n;

	if (wellformed_lines(text, n))
		return wellformed_lines(text, n);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		if (*text != '{' || blanks(json_value(text, stop, 0), stop) != stop)
			return "a line is no JSON object";
		text = stop + 1;
	}
	return NULL;
}

const char *wellformed_json_document(const char *text, size_t n)
{
	const char *end = text + n;

	if (wellformed_lines(text, n))
		return wellformed_lines(text, n);
	return !n || blanks(json_value(text, end, 0), end) == end ? NULL : "the text is not one JSON value";
}

/* ---- XML ---------------------------------------------------------------------------------------------------- */

const char *wellformed_xml(const char *text, size_t n)
{
	XML_Parser parser = XML_ParserCreate("UTF-8");
	const char *wrong = NULL;

	if (!parser)
		return "no memory";
	if (XML_Parse(parser, "<root>", 6, 0) != XML_STATUS_OK || XML_Parse(parser, text, (int)n, 0) != XML_STATUS_OK ||
	    XML_Parse(parser, "</root>", 7, 1) != XML_STATUS_OK)
		wrong = XML_ErrorString(XML_GetErrorCode(parser));
	XML_ParserFree(parser);
	return wrong;
}

/* ---- terminals ---------------------------------------------------------------------------------------------- */

/* Ranges of the bytes of a character, from Unicode's table 3-7. */
static const struct sequence {
	unsigned char low[4], high[4];
	unsigned n;
} sequences[] = {
	{ { 0x00 }, { 0x7f }, 1 },
	{ { 0xc2, 0x80 }, { 0xdf, 0xbf }, 2 },
	{ { 0xe0, 0xa0, 0x80 }, { 0xe0, 0xbf, 0xbf }, 3 },
	{ { 0xe1, 0x80, 0x80 }, { 0xec, 0xbf, 0xbf }, 3 },
	{ { 0xed, 0x80, 0x80 }, { 0xed, 0x9f, 0xbf }, 3 },
	{ { 0xee, 0x80, 0x80 }, { 0xef, 0xbf, 0xbf }, 3 },
	{ { 0xf0, 0x90, 0x80, 0x80 }, { 0xf0, 0xbf, 0xbf, 0xbf }, 4 },
	{ { 0xf1, 0x80, 0x80, 0x80 }, { 0xf3, 0xbf, 0xbf, 0xbf }, 4 },
	{ { 0xf4, 0x80, 0x80, 0x80 }, { 0xf4, 0x8f, 0xbf, 0xbf }, 4 },
};

static int is_sequence(const struct sequence *sequence, const unsigned char *p, size_t n)
{
	if (n < sequence->n)
		return 0;
	for (unsigned i = 0; i < sequence->n; i++)
		if (p[i] < sequence->low[i] || p[i] > sequence->high[i])
			return 0;
	return 1;
}

/* Return  the length of the character; 0: none begins here */
static size_t character(const unsigned char *p, size_t n)
{
	for (unsigned i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (is_sequence(&sequences[i], p, n))
			return sequences[i].n;
	return 0;
}

/* Characters that are forbidden, besides bytes below 0x20. */
static const char *const forbidden[] = {
	"\x7f", "\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
	"\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7",
	"\xe2\x81\xa8", "\xe2\x81\xa9",
};

const char *wellformed_screen(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	while (n) {
		size_t length;

		if (*p == '\n' || (*p >= ' ' && *p < 0x7f)) {
			p++;
			n--;
			continue;
		}
		length = character(p, n);
		if (!length)
			return "not UTF-8";
		if ((*p < 0x20 && *p != '\n') || (length == 2 && p[0] == 0xc2 && p[1] < 0xa0))
			return "a control character";
		for (unsigned i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
			if (length == strlen(forbidden[i]) && !memcmp(p, forbidden[i], length))
				return "a character that may not reach a terminal";
		p += length;
		n -= length;
	}
	return NULL;
}

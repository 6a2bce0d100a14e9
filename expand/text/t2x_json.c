/* SPDX-License-Identifier: MIT */
/* t2x_json.c - see t2x_json.h. */
#include "t2x_json.h"

/* Return  nonzero if one of the eight bytes must be escaped in JSON, rarely also otherwise; 0: none must be */
static uint64_t needs_escape(uint64_t bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	uint64_t quote = bytes ^ (ones * '"'), backslash = bytes ^ (ones * '\\');
	uint64_t found = (bytes - ones * 0x20) & ~bytes;

	found |= (quote - ones) & ~quote;
	found |= (backslash - ones) & ~backslash;
	return found & highs;
}

static uint64_t load(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, 8);
	return bytes;
}

/* Load four to seven bytes as eight, some of them twice. */
static uint64_t load_short(const char *text, size_t n)
{
	uint32_t first, last;

	memcpy(&first, text, 4);
	memcpy(&last, text + n - 4, 4);
	return (uint64_t)last << 32 | first;
}

/* Return  how many bytes from the start need no escape */
static size_t find_escape(const char *text, size_t n)
{
	size_t i = 0;

	if (n >= 4 && n < 8 && !needs_escape(load_short(text, n)))
		return n;
	for (; n - i >= 8; i += 8) {
		if (needs_escape(load(text + i)))
			break;
	}
	/* Check the last few bytes in one step, together with some bytes before them. */
	if (n >= 8 && n - i < 8 && !needs_escape(load(text + n - 8)))
		return n;
	while (i < n && (unsigned char)text[i] >= 0x20 && text[i] != '"' && text[i] != '\\')
		i++;
	return i;
}

static void put_escape(struct t2x_out *out, unsigned char c)
{
	static const char names[] = "\"\"\\\\\nn\rr\tt\ff\bb", hex[] = "0123456789abcdef";

	for (const char *p = names; *p; p += 2) {
		if ((unsigned char)*p == c) {
			t2x_out_char(out, '\\');
			t2x_out_char(out, p[1]);
			return;
		}
	}
	t2x_out_literal(out, "\\u00");
	t2x_out_char(out, hex[c >> 4]);
	t2x_out_char(out, hex[c & 15]);
}

void t2x_json_escaped(struct t2x_out *out, const char *text, size_t n)
{
	for (;;) {
		size_t clean = find_escape(text, n);

		t2x_out_bytes(out, text, clean);
		if (clean == n)
			return;
		put_escape(out, (unsigned char)text[clean]);
		text += clean + 1;
		n -= clean + 1;
	}
}

static void put_string(struct t2x_out *out, const char *value, size_t n)
{
	t2x_out_char(out, '"');
	t2x_json_escaped(out, value, n);
	t2x_out_char(out, '"');
}

void t2x_json_text(struct t2x_out *out, const char *key, const char *value, size_t n)
{
	t2x_json_key(out, key);
	put_string(out, value, n);
}

void t2x_json_arg(struct t2x_out *out, const char *key, const struct t2x_arg *arg)
{
	if (arg->type == TLG_ARG_TEXT)
		t2x_json_text(out, key, arg->text, arg->length);
}

void t2x_json_argv(struct t2x_out *out, const char *key, const char *before, const struct t2x_arg *argv,
		   unsigned n)
{
	t2x_json_key(out, key);
	t2x_out_char(out, '[');
	if (before)
		put_string(out, before, strlen(before));
	for (unsigned i = 0; i < n; i++) {
		if (before || i)
			t2x_out_char(out, ',');
		put_string(out, argv[i].text, argv[i].length);
	}
	t2x_out_char(out, ']');
}

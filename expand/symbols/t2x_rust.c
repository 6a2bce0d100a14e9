/* SPDX-License-Identifier: MIT */
/*
 * t2x_rust.c - see t2x_rust.h; here the legacy names, t2x_rust_v0.c has the others.
 */
#include "t2x_rust.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_punycode.h"
#include "t2x_rust_v0.h"

enum { HASH_BYTES = 17 };         /* h and 16 digits */

/* An element of a path: its length, its text.  Return  NULL: it is none */
static const char *take_element(const char **at, size_t *n)
{
	const char *text = *at;

	for (*n = 0; *text >= '0' && *text <= '9' && *n < 100000; text++)
		*n = *n * 10 + (size_t)(*text - '0');
	if (!*n || strnlen(text, *n) < *n)
		return NULL;
	*at = text + *n;
	return text;
}

/* Behind the end may be what a compiler has added, ".llvm.4711". */
static int is_end(const char *at)
{
	return *at == 'E' && (!at[1] || at[1] == '.');
}

static int is_hash(const char *text, size_t n)
{
	return n == HASH_BYTES && text[0] == 'h' && strspn(text + 1, "0123456789abcdef") >= n - 1;
}

/* "$LT$" is "<", "$u7b$" the character with this number.  Return  what it stands for; 0: nothing, its length is *n */
static uint32_t find_escape(const char *text, size_t length, size_t *n)
{
	static const struct { const char *escape; unsigned char stands_for; } escapes[] = {
		{ "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' }, { "$GT$", '>' },
		{ "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' },
	};
	char *end;
	unsigned long number;

	for (unsigned i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		*n = strlen(escapes[i].escape);
		if (*n <= length && !strncmp(text, escapes[i].escape, *n))
			return escapes[i].stands_for;
	}
	if (length < 4 || text[1] != 'u' || !strchr("0123456789abcdef", text[2]))
		return 0;
	number = strtoul(text + 2, &end, 16);
	*n = (size_t)(end - text) + 1;
	if (*n > length || *end != '$' || number < ' ' || number > 0x10ffff || (number >= 0xd800 && number < 0xe000))
		return 0;
	return (uint32_t)number;
}

/* An element as people write it, which is never longer.  Return  behind it */
static char *put_element(char *to, const char *text, size_t n)
{
	/* identifiers do not begin with $, so an underscore is in front of it */
	size_t at = n > 1 && text[0] == '_' && text[1] == '$', length = 0;

	while (at < n) {
		uint32_t letter = text[at] == '$' ? find_escape(text + at, n - at, &length) : 0;

		if (letter) {
			to = t2x_punycode_put(to, letter);
			at += length;
		} else if (text[at] == '.' && at + 1 < n && text[at + 1] == '.') {
			*to++ = ':';
			*to++ = ':';
			at += 2;
		} else {
			*to++ = text[at++];
		}
	}
	return to;
}

/* In front of an element are two bytes where a number of a digit or two was: so there is room for twice that. */
static char *demangle_legacy(const char *path)
{
	char *name = malloc(2 * strlen(path) + 1), *to = name;
	const char *at = path, *element, *hash = NULL;
	size_t n;

	while (name && (element = take_element(&at, &n))) {
		if (is_end(at) && is_hash(element, n)) {
			hash = element;
			break;
		}
		if (to != name) {
			*to++ = ':';
			*to++ = ':';
		}
		to = put_element(to, element, n);
	}
	if (!name || !hash || to == name) {
		free(name);
		return NULL;
	}
	*to = '\0';
	return name;
}

char *t2x_rust_demangle(const char *mangled)
{
	if (!strncmp(mangled, "_R", 2))
		return t2x_rust_v0_demangle(mangled + 2);
	return strncmp(mangled, "_ZN", 3) ? NULL : demangle_legacy(mangled + 3);
}

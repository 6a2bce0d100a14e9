/* SPDX-License-Identifier: MIT */
/* t2x_guard.c - see t2x_guard.h. */
#include "t2x_guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

int t2x_guard_host(const char *host, unsigned port)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	char with_port[64];

	for (unsigned i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(with_port, sizeof(with_port), "%s:%u", names[i], port);
		if (!strcasecmp(host, with_port) || (port == 80 && !strcasecmp(host, names[i])))
			return 1;
	}
	return 0;
}

/* Every character of the text is compared, wherever the first difference is. */
static int is_same(const char *text, size_t n, const char *token)
{
	const size_t length = strlen(token);
	volatile unsigned char difference = n != length;

	for (size_t i = 0; i < n; i++)
		difference |= (unsigned char)((unsigned char)text[i] ^ (unsigned char)token[length ? i % length : 0]);
	return !difference && length;
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Base64.  Return  bytes; -1: it is none, or too long */
static int decode(char *to, int size, const char *from)
{
	unsigned bits = 0, nbits = 0;
	int n = 0;

	for (; *from && *from != '='; from++) {
		if (value_of(*from) < 0)
			return -1;
		bits = bits << 6 | (unsigned)value_of(*from);
		nbits += 6;
		if (nbits < 8)
			continue;
		nbits -= 8;
		if (n == size)
			return -1;
		to[n++] = (char)(bits >> nbits & 0xff);
	}
	while (*from == '=')
		from++;
	return *from ? -1 : n;
}

static const char *skip_blanks(const char *text)
{
	while (*text == ' ')
		text++;
	return text;
}

int t2x_guard_token(const char *authorization, const char *token)
{
	char pair[T2X_GUARD_TOKEN_MAX + 64];
	const char *colon;
	int n;

	if (authorization && !strncasecmp(authorization, "Bearer ", 7)) {
		authorization = skip_blanks(authorization + 7);
		return is_same(authorization, strlen(authorization), token);
	}
	if (!authorization || strncasecmp(authorization, "Basic ", 6) != 0)
		return 0;
	n = decode(pair, sizeof(pair), skip_blanks(authorization + 6));
	colon = n > 0 ? memchr(pair, ':', (size_t)n) : NULL;
	return colon && is_same(colon + 1, (size_t)(pair + n - colon - 1), token);
}

int t2x_guard_is_token(const char *text)
{
	size_t n = strlen(text);

	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~' || *at == ':')
			return 0;
	return n >= T2X_GUARD_TOKEN_MIN && n <= T2X_GUARD_TOKEN_MAX;
}

int t2x_guard_is_foreign(const char *site)
{
	return site && strcasecmp(site, "same-origin") != 0 && strcasecmp(site, "none") != 0;
}

/* SPDX-License-Identifier: MIT */
/* t2x_pprof.c - see t2x_pprof.h. */
#include "t2x_pprof.h"

#include <string.h>

enum { CLOCK_MS = 30000, TRACE_MS = 1000 };

/* ---- bytes ---------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int t2x_pprof_decode(char *to, size_t size, const char *from, size_t n, int is_query)
{
	size_t length = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)from[i];

		if (c == '%') {
			if (n - i < 3 || digit_of(from[i + 1]) < 0 || digit_of(from[i + 2]) < 0)
				return 0;
			c = (unsigned char)(digit_of(from[i + 1]) * 16 + digit_of(from[i + 2]));
			i += 2;
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		if (c < ' ' || c == 127 || length + 1 >= size)
			return 0;
		to[length++] = (char)c;
	}
	to[length] = '\0';
	return 1;
}

/* Seconds with at most three decimals, as milliseconds.  Return  0: text is no such number, or 0, or too large */
static uint32_t parse_ms(const char *text)
{
	uint32_t ms = 0, unit = 1000;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		ms = ms * 10 + (uint32_t)(*text - '0') * 1000;
		if (ms > T2X_PPROF_MAX_MS)
			return 0;
	}
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && unit > 1; text++)
			ms += (uint32_t)(*text - '0') * (unit /= 10);
	return *text || ms > T2X_PPROF_MAX_MS ? 0 : ms;
}

int t2x_pprof_address(const char **text, uint64_t *address)
{
	const char *at = *text;
	unsigned digits = 0;

	while (*at == '+' || *at == ' ')
		at++;
	if (*at == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (*address = 0; digit_of(*at) >= 0; at++, digits++)
		*address = *address << 4 | (uint64_t)digit_of(*at);
	if (!digits || digits > 16 || (*at && *at != '+' && *at != ' ' && *at != '\n' && *at != '\r'))
		return 0;
	*text = at;
	return 1;
}

/* ---- the query -------------------------------------------------------------------------------------- */

static void take_seconds(struct t2x_pprof *asked, const char *value)
{
	asked->ms = parse_ms(value);
	if (!asked->ms)
		asked->why = "seconds= needs a number above 0, and not above 300";
}

static void take_debug(struct t2x_pprof *asked, const char *value)
{
	if (*value < '0' || *value > '2' || value[1])
		asked->why = "debug= is 0, 1 or 2";
	else
		asked->debug = (unsigned)(*value - '0');
}

static void take_format(struct t2x_pprof *asked, const char *value)
{
	if (!strcmp(value, "chrome"))
		asked->is_chrome = 1;
	else if (strcmp(value, "tlg") != 0)
		asked->why = "format= is tlg or chrome";
}

/* Of a key that comes twice the first one counts, as in Go.  Unknown keys mean nothing. */
static void take_pair(struct t2x_pprof *asked, const char *pair, size_t n, unsigned *taken)
{
	static const struct {
		const char *key;
		void (*take)(struct t2x_pprof *asked, const char *value);
	} keys[] = { { "seconds", take_seconds }, { "debug", take_debug }, { "format", take_format } };
	const char *equals = memchr(pair, '=', n);
	size_t length = equals ? (size_t)(equals - pair) : n;
	char key[32], value[64];

	if (!equals || !t2x_pprof_decode(key, sizeof(key), pair, length, 1))
		return;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].key) != 0 || *taken & 1u << i)
			continue;
		*taken |= 1u << i;
		if (t2x_pprof_decode(value, sizeof(value), equals + 1, n - length - 1, 1))
			keys[i].take(asked, value);
		else
			asked->why = "a value of the query is too long, or is no text";
	}
}

void t2x_pprof_query(struct t2x_pprof *asked, const char *query)
{
	unsigned taken = 0;

	asked->why = NULL;
	asked->ms = 0;
	asked->debug = 0;
	asked->is_chrome = 0;
	while (*query && !asked->why) {
		size_t n = strcspn(query, "&");

		take_pair(asked, query, n, &taken);
		query += n;
		query += *query == '&';
	}
	if (!asked->why && asked->ms && asked->debug)
		asked->why = "seconds and debug params are incompatible";
}

/* ---- the path --------------------------------------------------------------------------------------- */

const char *const t2x_pprof_names[] = { "allocs", "block", "cmdline", "goroutine", "heap", "mutex", "profile", "symbol",
					"threadcreate", "threads", "trace", "wall", NULL };

/* Names of Go's that we know by others. */
static const struct {
	const char *path, *profile;
} profiles[] = {
	{ "profile", "cpu" }, { "goroutine", "threads" },
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) { #name, #name },
#define PROF_VIEW(id, name, kind, form, shown) { #name, #name },
#include "prof_kinds.def"
};

void t2x_pprof_path(struct t2x_pprof *asked, const char *path)
{
	const size_t n = strlen(path) < T2X_PPROF_NAME ? strlen(path) : 0;   /* no profile has a longer name */

	asked->page = !*path		       ? T2X_PPROF_LIST :
		      !strcmp(path, "trace")   ? T2X_PPROF_TRACE :
		      !strcmp(path, "cmdline") ? T2X_PPROF_CMDLINE :
		      !strcmp(path, "symbol")  ? T2X_PPROF_SYMBOL :
						 T2X_PPROF_PROFILE;
	memcpy(asked->profile, path, n);
	asked->profile[n] = '\0';
	asked->is_kind = 0;
	for (unsigned i = 0; i < sizeof(profiles) / sizeof(profiles[0]) && !asked->is_kind; i++) {
		if (strcmp(profiles[i].path, path) != 0)
			continue;
		memcpy(asked->profile, profiles[i].profile, strlen(profiles[i].profile) + 1);
		asked->is_kind = 1;
	}
}

uint32_t t2x_pprof_ms(const struct t2x_pprof *asked)
{
	if (asked->ms)
		return asked->ms;
	if (asked->page == T2X_PPROF_TRACE)
		return TRACE_MS;
	return !strcmp(asked->profile, "cpu") || !strcmp(asked->profile, "wall") ? CLOCK_MS : 0;
}

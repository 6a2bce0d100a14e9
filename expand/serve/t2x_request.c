/* SPDX-License-Identifier: MIT */
/* t2x_request.c - see t2x_request.h. */
#include "t2x_request.h"

#include <stdio.h>
#include <string.h>

static void refuse(struct t2x_request *request, unsigned status, const char *why)
{
	request->page = T2X_PAGE_NONE;
	request->status = status;
	request->why = why;
}

/* ---- bytes ---------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Replace %XX, in a query also +.
 * Return  0: a % without two digits, a control character, or the text is too long
 */
static int decode(char *to, size_t size, const char *from, size_t n, int is_query)
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
		if (ms > T2X_REQUEST_MAX_MS)
			return 0;
	}
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && unit > 1; text++)
			ms += (uint32_t)(*text - '0') * (unit /= 10);
	return *text || ms > T2X_REQUEST_MAX_MS ? 0 : ms;
}

int t2x_request_address(const char **text, uint64_t *address)
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

static void take_seconds(struct t2x_request *request, const char *value)
{
	request->ms = parse_ms(value);
	if (!request->ms)
		refuse(request, 400, "seconds= needs a number above 0, and not above 300");
}

static void take_debug(struct t2x_request *request, const char *value)
{
	if (*value < '0' || *value > '2' || value[1])
		refuse(request, 400, "debug= is 0, 1 or 2");
	else
		request->debug = (unsigned)(*value - '0');
}

static void take_format(struct t2x_request *request, const char *value)
{
	if (!strcmp(value, "chrome"))
		request->is_chrome = 1;
	else if (strcmp(value, "tlg") != 0)
		refuse(request, 400, "format= is tlg or chrome");
}

/* Of a key that comes twice the first one counts, as in Go.  Unknown keys mean nothing. */
static void take_pair(struct t2x_request *request, const char *pair, size_t n, unsigned *taken)
{
	static const struct {
		const char *key;
		void (*take)(struct t2x_request *request, const char *value);
	} keys[] = { { "seconds", take_seconds }, { "debug", take_debug }, { "format", take_format } };
	const char *equals = memchr(pair, '=', n);
	size_t length = equals ? (size_t)(equals - pair) : n;
	char key[32], value[64];

	if (!equals || !decode(key, sizeof(key), pair, length, 1))
		return;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].key) != 0 || *taken & 1u << i)
			continue;
		*taken |= 1u << i;
		if (decode(value, sizeof(value), equals + 1, n - length - 1, 1))
			keys[i].take(request, value);
		else
			refuse(request, 400, "a value of the query is too long, or is no text");
	}
}

static void take_query(struct t2x_request *request, const char *query)
{
	unsigned taken = 0;

	while (*query && request->page != T2X_PAGE_NONE) {
		size_t n = strcspn(query, "&");

		take_pair(request, query, n, &taken);
		query += n;
		query += *query == '&';
	}
	if (request->page != T2X_PAGE_NONE && request->ms && request->debug)
		refuse(request, 400, "seconds and debug params are incompatible");
}

/* ---- the path --------------------------------------------------------------------------------------- */

/* A name that is in a directory, whatever a client wants it to be. */
static void take_name(struct t2x_request *request, const char *name, enum t2x_page page)
{
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= sizeof(request->name)) {
		refuse(request, 404, "there is no such file");
		return;
	}
	memcpy(request->name, name, strlen(name) + 1);
	request->page = page;
}

/* Names of Go's that we know by others. */
static const struct {
	const char *path, *profile;
} profiles[] = {
	{ "profile", "cpu" }, { "goroutine", "threads" },
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) { #name, #name },
#define PROF_VIEW(id, name, kind, form, shown) { #name, #name },
#include "prof_kinds.def"
};

static void take_pprof(struct t2x_request *request, const char *path)
{
	request->is_pprof = 1;
	refuse(request, 404, "Unknown profile");
	if (!*path)
		request->page = T2X_PAGE_PPROF;
	else if (!strcmp(path, "trace"))
		request->page = T2X_PAGE_TRACE;
	else if (!strcmp(path, "cmdline"))
		request->page = T2X_PAGE_CMDLINE;
	else if (!strcmp(path, "symbol"))
		request->page = T2X_PAGE_SYMBOL;
	for (unsigned i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i].path, path) != 0)
			continue;
		snprintf(request->profile, sizeof(request->profile), "%s", profiles[i].profile);
		request->page = T2X_PAGE_PROFILE;
	}
}

/* path  behind "/pid/" */
static void take_process(struct t2x_request *request, const char *path)
{
	static const char pprof[] = "debug/pprof/";
	uint64_t pid = 0;

	request->is_pprof = strstr(path, "debug/pprof") != NULL;
	for (; *path >= '0' && *path <= '9' && pid <= INT32_MAX; path++)
		pid = pid * 10 + (uint64_t)(*path - '0');
	refuse(request, 404, "there is no such page");
	if (!pid || pid > INT32_MAX || (*path && *path != '/')) {
		request->why = "there is no such process";
		return;
	}
	request->pid = (uint32_t)pid;
	path += *path == '/';
	if (!*path)
		request->page = path[-1] == '/' ? T2X_PAGE_VIEW : T2X_PAGE_MOVED;
	else if (!strncmp(path, pprof, sizeof(pprof) - 1))
		take_pprof(request, path + sizeof(pprof) - 1);
	else if (!strncmp(path, pprof, sizeof(pprof) - 2) && !path[sizeof(pprof) - 2])
		request->page = T2X_PAGE_MOVED;
}

static void take_path(struct t2x_request *request, const char *path)
{
	static const struct {
		const char *path;
		enum t2x_page page;
	} pages[] = {
		{ "/", T2X_PAGE_INDEX }, { "/processes.json", T2X_PAGE_PROCESSES }, { "/healthz", T2X_PAGE_HEALTH },
		{ "/metrics", T2X_PAGE_METRICS },
	};

	refuse(request, 404, "there is no such page");
	for (unsigned i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(path, pages[i].path))
			request->page = pages[i].page;
	if (!strncmp(path, "/pid/", 5))
		take_process(request, path + 5);
	else if (!strncmp(path, "/file/", 6))
		take_name(request, path + 6, T2X_PAGE_FILE);
	else if (!strncmp(path, "/ring/", 6))
		take_name(request, path + 6, T2X_PAGE_RING);
}

/* Changes need POST.  None of the pages makes a lasting one; symbol takes a list that may be too long for a path. */
static void check_method(struct t2x_request *request, const char *method)
{
	int is_post = !strcmp(method, "POST");

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 && !is_post)
		refuse(request, 405, "the method is GET or HEAD");
	else if (is_post && request->page != T2X_PAGE_SYMBOL && request->page != T2X_PAGE_NONE)
		refuse(request, 405, "the method is GET or HEAD");
}

void t2x_request_parse(struct t2x_request *request, const char *method, const char *target)
{
	size_t length = strcspn(target, "?");
	const char *query = target[length] ? target + length + 1 : "";
	char path[T2X_REQUEST_TARGET];

	memset(request, 0, sizeof(*request));
	request->is_head = !strcmp(method, "HEAD");
	if (strlen(target) >= T2X_REQUEST_TARGET) {
		refuse(request, 414, "the request is too long");
		return;
	}
	if (*target != '/' || !decode(path, sizeof(path), target, length, 0)) {
		refuse(request, 400, "the path of the request is damaged");
		return;
	}
	take_path(request, path);
	if (request->page == T2X_PAGE_SYMBOL)
		memcpy(request->symbols, query, strlen(query) + 1);
	else if (request->page != T2X_PAGE_NONE)
		take_query(request, query);
	check_method(request, method);
	if (request->page != T2X_PAGE_NONE) {
		request->status = 0;
		request->why = NULL;
	}
}

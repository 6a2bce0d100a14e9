/* SPDX-License-Identifier: MIT */
/* tr2_env.c - reading settings; git's rules for booleans and numbers. */
#include "tr2_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static char g_prefix[32] = "TRACE2";

void tr2_env_set_prefix(const char *prefix)
{
	if (prefix && *prefix)
		strncpy(g_prefix, prefix, sizeof(g_prefix) - 1);
}

const char *tr2_env_name(const char *name, char buf[64])
{
	size_t n = strlen(g_prefix);

	memcpy(buf, g_prefix, n + 1);
	if (*name) {
		buf[n++] = '_';
		strncpy(buf + n, name, 63 - n);
		buf[63] = '\0';
	}
	return buf;
}

const char *tr2_env_get(const char *name)
{
	char variable[64];
	const char *value = secure_getenv(tr2_env_name(name, variable));

	return value && *value ? value : NULL;
}

/* git's integer with a k, m or g suffix.  0: not a number. */
static int parse_number(const char *text, long long *value)
{
	static const struct { char suffix; int shift; } units[] = { { 'k', 10 }, { 'm', 20 }, { 'g', 30 } };
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	if (errno || end == text)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && *end; i++) {
		if ((*end | 0x20) != units[i].suffix)
			continue;
		if (__builtin_mul_overflow(*value, 1LL << units[i].shift, value))
			return 0;
		end++;
		break;
	}
	return !*end;
}

static int get_bool(const char *name, int otherwise)
{
	static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off" };
	const char *value = tr2_env_get(name);
	long long number;

	if (!value)
		return otherwise;
	for (int i = 0; i < 3; i++) {
		if (!strcasecmp(value, yes[i]))
			return 1;
		if (!strcasecmp(value, no[i]))
			return 0;
	}
	return parse_number(value, &number) ? number != 0 : otherwise;
}

static size_t get_size(const char *name, size_t otherwise, size_t least, size_t most)
{
	const char *value = tr2_env_get(name);
	long long number;

	if (!value || !parse_number(value, &number) || number <= 0)
		return otherwise;
	if ((unsigned long long)number < least)
		return least;
	return (unsigned long long)number > most ? most : (size_t)number;
}

void tr2_env_read(struct tr2_settings *settings)
{
	const char *debug = tr2_env_get("DST_DEBUG");
	int saved = errno;

	settings->raw_lz4 = get_bool("RAW_LZ4", 1);
	settings->cycle_bytes = get_size("RAW_CYCLE", 1 << 20, 1 << 12, 1 << 30);
	settings->ring_chunks = (unsigned)(get_size("RAW_RING", 24 << 16, 1 << 16, 64 << 16) >> 16);
	settings->dst_debug = debug && atoi(debug) > 0;
	settings->redact = get_bool("REDACT", 1);
	errno = saved;
}

void tr2_warn(const char *const *parts)
{
	char line[512] = "warning: trace2: ";
	size_t n = strlen(line);
	int saved = errno;

	for (; *parts; parts++) {
		size_t length = strlen(*parts);
		if (length > sizeof(line) - 1 - n)
			length = sizeof(line) - 1 - n;
		memcpy(line + n, *parts, length);
		n += length;
	}
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		errno = saved;   /* nowhere left to say it */
	errno = saved;
}

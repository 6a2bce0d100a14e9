/* SPDX-License-Identifier: MIT */
/* tr2_env.c - resolving settings; git's rules for booleans and numbers. */
#include "tr2_env.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tr2_memory.h"
#include "tr2_text.h"

struct tr2_settings tr2_g_settings;

static char g_prefix[32] = "TRACE2";

/* What git's configuration may hold: the variable behind the prefix, the key, what was configured. */
static struct {
	const char *name, *key;
	char *value;
} g_configured[] = {
	{ "", "trace2.normaltarget", NULL },
	{ "PERF", "trace2.perftarget", NULL },
	{ "EVENT", "trace2.eventtarget", NULL },
	{ "RAW", "trace2.rawtarget", NULL },
	{ "BRIEF", "trace2.normalbrief", NULL },
	{ "PERF_BRIEF", "trace2.perfbrief", NULL },
	{ "EVENT_BRIEF", "trace2.eventbrief", NULL },
	{ "EVENT_NESTING", "trace2.eventnesting", NULL },
	{ "RAW_LZ4", "trace2.rawlz4", NULL },
	{ "RAW_ENCODING", "trace2.rawencoding", NULL },
	{ "RAW_CYCLE", "trace2.rawcycle", NULL },
	{ "RAW_MEMORY", "trace2.rawmemory", NULL },
	{ "RAW_RING", "trace2.rawring", NULL },
	{ "RAW_POLICY", "trace2.rawpolicy", NULL },
	{ "RAW_WAIT", "trace2.rawwait", NULL },
	{ "RAW_SNAPSHOT", "trace2.rawsnapshot", NULL },
	{ "CONFIG_PARAMS", "trace2.configparams", NULL },
	{ "ENV_VARS", "trace2.envvars", NULL },
	{ "DST_DEBUG", "trace2.destinationdebug", NULL },
	{ "MAX_FILES", "trace2.maxfiles", NULL },
};

enum { CONFIGURABLE = sizeof(g_configured) / sizeof(g_configured[0]) };

TR2_NEAR static int g_is_configured;

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

	if (value && *value)
		return value;
	for (int i = 0; i < CONFIGURABLE; i++)
		if (!strcmp(g_configured[i].name, name))
			return g_configured[i].value;
	return NULL;
}

TR2_STARTUP int tr2_env_is_empty(void)
{
	for (char *const *variable = environ; variable && *variable; variable++) {
		size_t n = 0;

		while (g_prefix[n] && (*variable)[n] == g_prefix[n])
			n++;
		if (!g_prefix[n])
			return 0;
	}
	return !g_is_configured;
}

void tr2_env_configure(const char *key, const char *value)
{
	for (int i = 0; value && i < CONFIGURABLE; i++) {
		if (strcmp(g_configured[i].key, key))
			continue;
		free(g_configured[i].value);
		g_configured[i].value = strdup(value);
		g_is_configured = 1;
	}
}

/* git's integer: decimal, 0x hexadecimal or 0 octal, with a k, m or g suffix.  0: not a number. */
static int parse_number(const char *text, long long *value)
{
	static const struct { char suffix; int shift; } units[] = { { 'k', 10 }, { 'm', 20 }, { 'g', 30 } };
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 0);
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

int tr2_env_bool(const char *value, int otherwise)
{
	static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off" };
	long long number;

	if (!value)
		return otherwise;
	for (int i = 0; i < 3; i++) {
		if (tr2_text_is(value, yes[i]))
			return 1;
		if (tr2_text_is(value, no[i]))
			return 0;
	}
	return !*value ? 0 : parse_number(value, &number) ? number != 0 : otherwise;
}

/* atoi(), as git has it for some settings, but defined for every text. */
static int get_int(const char *name, int otherwise)
{
	const char *value = tr2_env_get(name);
	long number;

	if (!value)
		return otherwise;
	number = strtol(value, NULL, 10);
	return number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
}

int tr2_env_debug(void)
{
	return get_int("DST_DEBUG", 0) > 0;
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

static enum tr2_policy get_policy(void)
{
	const char *value = tr2_env_get("RAW_POLICY");

	if (value && tr2_text_is(value, "block"))
		return TR2_POLICY_BLOCK;
	return value && tr2_text_is(value, "overwrite") ? TR2_POLICY_OVERWRITE : TR2_POLICY_DISCARD;
}

static int is_packed(void)
{
	const char *value = tr2_env_get("RAW_ENCODING");

	return !value || !tr2_text_is(value, "plain");
}

/* For calls that may come while another thread changes the environment.  NULL: not set, or no memory */
static const char *copy_setting(const char *name)
{
	const char *value = tr2_env_get(name);
	size_t bytes = value ? strlen(value) + 1 : 0;
	char *copy = bytes ? tr2_memory_take(bytes) : NULL;

	return copy ? memcpy(copy, value, bytes) : NULL;
}

/* How much memory events may take.  What is asked for one thread is there for one thread, whatever all may have. */
static void read_memory(struct tr2_settings *settings)
{
	const size_t ring = settings->policy == TR2_POLICY_OVERWRITE ? 24 << 16 : 0;

	settings->ring_bytes = get_size("RAW_RING", ring, 2 << 16, TR2_MOST_MEMORY);
	settings->memory_bytes = get_size("RAW_MEMORY", 64 << 20, 4 << 16, TR2_MOST_MEMORY);
	if (settings->ring_bytes > settings->memory_bytes / 2)
		settings->memory_bytes += settings->ring_bytes;
}

void tr2_env_read(void)
{
	struct tr2_settings *settings = &tr2_g_settings;
	int saved = errno, max_files = get_int("MAX_FILES", 0);

	settings->raw_lz4 = tr2_env_bool(tr2_env_get("RAW_LZ4"), 1);
	settings->raw_packed = is_packed();
	settings->cycle_bytes = get_size("RAW_CYCLE", 1 << 20, 1 << 12, 1 << 30);
	settings->policy = get_policy();
	read_memory(settings);
	if (settings->policy == TR2_POLICY_OVERWRITE)
		settings->cycle_bytes = SIZE_MAX;   /* each snapshot is one cycle */
	settings->wait_ms = (unsigned)get_size("RAW_WAIT", 1000, 1, 60000);
	settings->dst_debug = tr2_env_debug();
	settings->max_files = max_files > 0 ? (unsigned)max_files : 0;
	settings->redact = tr2_env_bool(tr2_env_get("REDACT"), 1);
	settings->config_params = copy_setting("CONFIG_PARAMS");
	errno = saved;
}

void tr2_warn(const char *const *parts)
{
	char line[512] = "warning: ";
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

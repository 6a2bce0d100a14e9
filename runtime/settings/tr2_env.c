/* SPDX-License-Identifier: MIT */
/* tr2_env.c - the table of all settings, where their values come from, and what is wrong with them. */
#include "tr2_env.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tlg_parent.h"
#include "tr2_sid.h"
#include "tr2_value.h"
#include "base/tr2_atomic.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"

struct tr2_settings tr2_g_settings;

static char g_prefix[32] = "TRACE2";

enum { FLIGHT_BYTES = 1536 << 10 };    /* of a thread of a flight recorder */

/* ---- the table ---------------------------------------------------------------------------------- */

enum kind {
	TEXT,                     /* for callers of tr2_env_get() */
	COPY,                     /* a string, copied: another thread may change the environment while it is used */
	BOOL, COUNT, SIZE, TIME,  /* git's boolean, atoi(), git's number; milliseconds, or with "s" behind it */
	WORD,                     /* one of the words, which stands for its place among them, from 0 */
};

/*
 * Defaults and bounds are strings as a user would write them: messages name them, and check_man.sh compares them with
 * trace2-env(7).  No pointers, so there is nothing to relocate when a program is loaded.
 */
struct setting {
	char name[16], key[28];   /* behind the prefix; in git's configuration, "": not there */
	uint8_t kind, bytes, to;  /* the member that it goes to: its size, its place */
	char fallback[12], min[12], max[12];
	char words[32];
};

/*
 * All settings, a line each.  For a new one: a line here, a member in struct tr2_settings, an entry in trace2-env.7
 * with its words, or with "MIN to MAX", and "default DEFAULT".
 */
#define TO(member) sizeof(tr2_g_settings.member), offsetof(struct tr2_settings, member)
#define TEXT(name, key) { name, key, TEXT, 0, 0, "", "", "", "" }
#define COPY(name, key, member) { name, key, COPY, TO(member), "", "", "", "" }
#define BOOL(name, key, member, fallback) { name, key, BOOL, TO(member), fallback, "0", "1", "" }
#define COUNT(name, key, member, fallback, min) { name, key, COUNT, TO(member), fallback, min, "2147483647", "" }
#define SIZE(name, key, member, fallback, min, max) { name, key, SIZE, TO(member), fallback, min, max, "" }
#define TIME(name, key, member, fallback, min, max) { name, key, TIME, TO(member), fallback, min, max, "" }
#define WORD(name, key, member, fallback, words) { name, key, WORD, TO(member), fallback, "", "", words }
static const struct setting settings[] = {
	COUNT("DST_DEBUG", "trace2.destinationdebug", dst_debug, "0", "0"),   /* the first: it speaks of the others */
	TEXT("", "trace2.normaltarget"),
	TEXT("PERF", "trace2.perftarget"),
	TEXT("EVENT", "trace2.eventtarget"),
	TEXT("RAW", "trace2.rawtarget"),
	BOOL("BRIEF", "trace2.normalbrief", brief[0], "false"),
	BOOL("PERF_BRIEF", "trace2.perfbrief", brief[1], "false"),
	BOOL("EVENT_BRIEF", "trace2.eventbrief", brief[2], "false"),
	COUNT("EVENT_NESTING", "trace2.eventnesting", event_nesting, "2", "1"),
	BOOL("RAW_LZ4", "trace2.rawlz4", raw_lz4, "true"),
	WORD("RAW_ENCODING", "trace2.rawencoding", raw_packed, "packed", "plain packed"),
	SIZE("RAW_CYCLE", "trace2.rawcycle", cycle_bytes, "1m", "4k", "1g"),
	SIZE("RAW_RING", "trace2.rawring", ring_bytes, "all", "128k", "8g"),   /* all of it: 0 */
	SIZE("RAW_MEMORY", "trace2.rawmemory", memory_bytes, "64m", "256k", "8g"),
	WORD("RAW_POLICY", "trace2.rawpolicy", policy, "discard", "discard block overwrite"),
	TIME("RAW_WAIT", "trace2.rawwait", wait_ms, "1s", "1ms", "60s"),
	WORD("RAW_THREAD", "trace2.rawthread", thread, "auto", "auto init late off"),
	TIME("RAW_FLUSH", "trace2.rawflush", flush_ms, "1s", "1ms", "60s"),
	TEXT("RAW_SNAPSHOT", "trace2.rawsnapshot"),
	COPY("CONFIG_PARAMS", "trace2.configparams", config_params),
	TEXT("ENV_VARS", "trace2.envvars"),
	COUNT("MAX_FILES", "trace2.maxfiles", max_files, "0", "0"),
	BOOL("REDACT", "", redact, "true"),
	TEXT("SIGNALS", ""),
	TEXT("CTL", "trace2.ctl"),   /* see ctl/tr2_page.h */
	TEXT("PROF", ""),         /* libtrace2-prof's, see prof/tr2p_settings.h */
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static char *g_configured[SETTINGS];   /* in git's configuration */
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

/* The value of a setting, by its place in the table. */
static const char *get_value(int i)
{
	char variable[64];
	const char *value = secure_getenv(tr2_env_name(settings[i].name, variable));

	return value && *value ? value : g_configured[i];
}

/* The place in the table of a name that is so long; -1: there is none. */
static int find_setting(const char *name, size_t length)
{
	for (int i = 0; i < SETTINGS; i++)
		if (!strncmp(settings[i].name, name, length) && !settings[i].name[length])
			return i;
	return -1;
}

/* The same of the variable that goes on so behind the prefix: "_NAME=value", "=value". */
static int find_variable(const char *rest)
{
	size_t length = 0;

	while (rest[length] && rest[length] != '=')
		length++;
	if (!length)
		return find_setting("", 0);
	return *rest == '_' ? find_setting(rest + 1, length - 1) : -1;
}

const char *tr2_env_get(const char *name)
{
	int i = find_setting(name, strlen(name));

	return i < 0 ? NULL : get_value(i);
}

/* What stands behind the prefix in "PREFIX_NAME=value"; NULL: another variable. */
TR2_STARTUP static const char *skip_prefix(const char *variable)
{
	size_t n = 0;

	while (g_prefix[n] && variable[n] == g_prefix[n])
		n++;
	return g_prefix[n] ? NULL : variable + n;
}

TR2_STARTUP int tr2_env_is_empty(void)
{
	for (char *const *variable = environ; variable && *variable; variable++)
		if (skip_prefix(*variable))
			return 0;
	return !g_is_configured;
}

void tr2_env_configure(const char *key, const char *value)
{
	for (int i = 0; value && i < SETTINGS; i++) {
		if (strcmp(settings[i].key, key))
			continue;
		free(g_configured[i]);
		g_configured[i] = strdup(value);
		g_is_configured = 1;
	}
}

/*
 * The process behind the colon of "1:PID", which alone reports, until it becomes another program.  Before tr2_sid().
 * Return  0: each process reports; -1: none
 */
static pid_t find_reporter(void)
{
	const char *value = get_value(0), *colon = value ? strchr(value, ':') : NULL;
	long long number = 0;

	if (colon)
		tr2_value_count(colon + 1, &number);
	if (number <= 0 || number > INT32_MAX)
		return 0;
	return tlg_parent_is(secure_getenv("GIT_TRACE2_PARENT_SID"), (pid_t)number) ? -1 : (pid_t)number;
}

int tr2_env_debug(void)
{
	const char *value = get_value(0);
	const pid_t reporter = find_reporter();
	long long number = 0;

	if (value)
		tr2_value_count(value, &number);
	return number > 0 && (!reporter || reporter == tr2_sys_getpid());
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The number that a text stands for.  0: none */
static int parse_value(const struct setting *setting, const char *text, long long *number)
{
	switch ((enum kind)setting->kind) {
	case BOOL:
		return tr2_value_bool(text, number);
	case COUNT:
		return tr2_value_count(text, number);
	case SIZE:
		return tr2_value_number(text, number);
	case TIME:
		return tr2_value_time(text, number);
	case WORD:
		return tr2_value_word(text, setting->words, number);
	default:
		return 0;
	}
}

/* The number of a default or a bound. */
static long long parse_own(const struct setting *setting, const char *text)
{
	long long number = 0;

	parse_value(setting, text, &number);
	return number;
}

/*
 * What counts instead of a value.
 * is_known, number  as parse_value() has found
 * Return            NULL: the value itself does
 */
static const char *find_instead(const struct setting *setting, int is_known, long long number)
{
	if (!is_known)
		return setting->fallback;
	if (*setting->min && number < parse_own(setting, setting->min))
		return number <= 0 ? setting->fallback : setting->min;
	if (*setting->max && number > parse_own(setting, setting->max))
		return setting->max;
	return NULL;
}

/* Other threads may read it: each number is one by itself. */
static void store_number(const struct setting *setting, long long number)
{
	unsigned char *to = (unsigned char *)&tr2_g_settings + setting->to;
	size_t value = (unsigned long long)number > SIZE_MAX ? SIZE_MAX : (size_t)number;

	if (setting->bytes == sizeof(unsigned))
		tr2_store_rlx((unsigned *)(void *)to, (unsigned)number); /* relaxed: a number by itself */
	else
		tr2_store_rlx((size_t *)(void *)to, value); /* relaxed: as above */
}

static void read_number(const struct setting *setting, const char *value)
{
	const char *instead = setting->fallback;
	char variable[64];
	long long number = 0;
	int is_known = value && parse_value(setting, value, &number);

	if (value)
		instead = find_instead(setting, is_known, number);
	store_number(setting, instead ? parse_own(setting, instead) : number);
	if (value && instead && tr2_g_settings.dst_debug)
		tr2_warning(is_known ? "value out of range" : "unknown value", " for '",
			    tr2_env_name(setting->name, variable), "': '", value, "', using '", instead, "'");
}

/* Without memory it is as if it were not set. */
static void copy_text(const struct setting *setting, const char *value)
{
	size_t bytes = value ? strlen(value) + 1 : 0;
	char *copy = bytes ? tr2_memory_acquire(bytes) : NULL;
	const char **to = (const char **)(void *)((unsigned char *)&tr2_g_settings + setting->to);

	*to = copy ? memcpy(copy, value, bytes) : NULL;
}

/* A variable with the prefix that is no setting: usually a typing error. */
static void report_unknown(void)
{
	for (char *const *variable = environ; variable && *variable; variable++) {
		const char *rest = skip_prefix(*variable);
		char name[128];

		if (!rest || *rest != '_' || find_variable(rest) >= 0 || tr2_sid_is_variable(*variable))
			continue;
		strncpy(name, *variable, sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		name[strcspn(name, "=")] = '\0';
		tr2_warning("unknown setting '", name, "'");
	}
}

/* A flight recorder holds what it has; a thread that is to have more than half of all gets it besides. */
static void bound_memory(struct tr2_settings *to)
{
	if (to->ring_bytes > TR2_MAX_MEMORY)
		to->ring_bytes = TR2_MAX_MEMORY;
	if (to->memory_bytes > TR2_MAX_MEMORY)
		to->memory_bytes = TR2_MAX_MEMORY;
	if (!to->ring_bytes && to->policy == TR2_POLICY_OVERWRITE)
		to->ring_bytes = FLIGHT_BYTES;
	if (to->ring_bytes > to->memory_bytes / 2)
		to->memory_bytes += to->ring_bytes;
}

/* Bit i: the setting with this place in the table is in the environment.  One look, instead of one for each of them. */
static uint64_t find_variables(void)
{
	uint64_t found = 0;

	static_assert(SETTINGS <= 64, "a bit for each setting");
	for (char *const *variable = environ; variable && *variable; variable++) {
		const char *rest = skip_prefix(*variable);
		int i = rest ? find_variable(rest) : -1;

		if (i >= 0)
			found |= UINT64_C(1) << i;
	}
	return found;
}

void tr2_env_read(void)
{
	struct tr2_settings *to = &tr2_g_settings;
	uint64_t there = find_variables();
	int saved = errno;

	to->reporter = 0;   /* a page that is read before it is written is faulted in twice */
	to->reporter = find_reporter();
	for (int i = 0; i < SETTINGS; i++) {
		const char *value = there >> i & 1 ? get_value(i) : g_configured[i];

		if (settings[i].kind == COPY)
			copy_text(&settings[i], value);
		else if (settings[i].kind != TEXT)
			read_number(&settings[i], value);
	}
	to->is_flush_set = tr2_env_get("RAW_FLUSH") != NULL;
	bound_memory(to);
	if (to->policy == TR2_POLICY_OVERWRITE)
		to->cycle_bytes = SIZE_MAX;   /* each snapshot is one cycle */
	if (to->dst_debug)
		report_unknown();
	errno = saved;
}

/* ---- changing ----------------------------------------------------------------------------------- */

/* Settings that can change, and the key of each: its name without RAW_, in small letters. */
static const struct setting *find_changeable(const char *key, size_t length)
{
	static const char names[][12] = { "FLUSH", "WAIT", "POLICY", "MEMORY", "RING", "CYCLE" };
	char name[16] = "RAW_";

	for (size_t i = 0; length && i < sizeof(names) / sizeof(names[0]); i++) {
		strcpy(name + 4, names[i]);
		if (strlen(names[i]) == length && tr2_text_begins(key, names[i]))
			return &settings[find_setting(name, strlen(name))];
	}
	return NULL;
}

/* Why not this number; NULL: it can be stored. */
static const char *find_objection(const struct setting *setting, long long number)
{
	static struct tr2_settings first;   /* as they were at the start, which decided about memory */
	const struct tr2_settings *now = &tr2_g_settings;

	if (!first.memory_bytes)
		first = *now;
	if (find_instead(setting, 1, number))
		return "is out of range";
	if (now->policy == TR2_POLICY_OVERWRITE && setting->to != offsetof(struct tr2_settings, flush_ms))
		return "cannot change in a flight recorder";
	if (setting->to == offsetof(struct tr2_settings, policy) && number == TR2_POLICY_OVERWRITE)
		return "cannot become overwrite: a flight recorder has to be one from the start";
	if (setting->to == offsetof(struct tr2_settings, memory_bytes) && (size_t)number > first.memory_bytes)
		return "cannot be more than at the start";
	return NULL;
}

static int object(char *why, size_t size, const char *what, const char *objection)
{
	struct tr2_text text = tr2_text_begin(why, size);

	tr2_text_add(&text, what);
	tr2_text_add(&text, " ");
	tr2_text_add(&text, objection);
	return 0;
}

int tr2_env_change(const char *assignment, int is_dry, char *why, size_t size)
{
	const char *equals = strchr(assignment, '=');
	const struct setting *setting = equals ? find_changeable(assignment, (size_t)(equals - assignment)) : NULL;
	const char *objection;
	long long number = 0;

	if (!setting)
		return object(why, size, assignment,
			      "is not KEY=VALUE, of flush, wait, policy, memory, ring, cycle and text outputs");
	if (!parse_value(setting, equals + 1, &number))
		return object(why, size, assignment, "has no value that the setting may have");
	objection = find_objection(setting, number);
	if (objection)
		return object(why, size, assignment, objection);
	if (!is_dry)
		store_number(setting, number);
	return 1;
}

TR2_STARTUP void tr2_env_check(void)
{
	if (!tr2_env_is_empty() && tr2_env_debug())
		tr2_env_read();
}

void tr2_env_pass_over(const char *name, const char *word)
{
	char variable[64];

	if (tr2_g_settings.dst_debug)
		tr2_warning("unknown value for '", tr2_env_name(name, variable), "': '", word, "', ignored");
}

void tr2_warn(const char *const *parts)
{
	char line[512] = "warning: ";
	size_t n = strlen(line);
	int saved = errno;
	sigset_t pending;
	uint64_t mask;

	if (tr2_g_settings.reporter && tr2_g_settings.reporter != tr2_sys_getpid())
		return;
	for (; *parts; parts++) {
		size_t length = strlen(*parts);
		if (length > sizeof(line) - 1 - n)
			length = sizeof(line) - 1 - n;
		memcpy(line + n, *parts, length);
		n += length;
	}
	line[n++] = '\n';
	tr2_mask_all(&mask);
	tr2_sys_sigpending(&pending);
	if (tr2_sys_write(STDERR_FILENO, line, n) < 0)
		tr2_mask_take_back(errno, &pending);   /* nowhere left to say it */
	tr2_mask_restore(&mask);
	errno = saved;
}

/* SPDX-License-Identifier: MIT */
/* tr2_sid.c - computing and exporting the session id; the only user of libmd. */
#include "tr2_sid.h"

#include <sha1.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "tlg_date.h"
#include "tlg_parent.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"

static const char sid_variable[] = "GIT_TRACE2_PARENT_SID";
static const char name_variable[] = "GIT_TRACE2_PARENT_NAME";

enum {
	OWN_BYTES = 96, SID_BYTES = 1024,
	NAMES_BYTES = 65536,      /* with a variable twice as long no program can be started */
};

/*
 * What the environment points to, "GIT_TRACE2_PARENT_SID=" and the session id: a forked child, which must not allocate,
 * lengthens it where it is.
 */
static struct {
	char name[sizeof(sid_variable)];   /* and "=" */
	char sid[SID_BYTES];
} g_exported;
static char *g_own;
static char g_host[16];
static int g_is_after_exec;

/* "H" and the first 8 digits of the host name's SHA-1. */
static void find_host(void)
{
	struct tr2_text found = tr2_text_begin(g_host, sizeof(g_host)), *text = &found;
	char name[256] = "";
	uint8_t digest[SHA1_DIGEST_LENGTH];
	SHA1_CTX context;

	if (gethostname(name, sizeof(name) - 1)) {
		tr2_text_add(text, "Localhost");
		return;
	}
	SHA1Init(&context);
	SHA1Update(&context, (const uint8_t *)name, strlen(name));
	SHA1Final(digest, &context);
	tr2_text_add(text, "H");
	for (int i = 0; i < 4; i++)
		tr2_text_hex(text, digest[i], 2);
}

void tr2_sid_date(int64_t seconds, char date[TR2_SID_DATE])
{
	struct tr2_text text = tr2_text_begin(date, TR2_SID_DATE);
	const struct tlg_date day = tlg_date_of((uint32_t)(seconds / 86400));
	unsigned second = (unsigned)(seconds % 86400);

	tr2_text_decimal(&text, day.year, 4);
	tr2_text_decimal(&text, day.month, 2);
	tr2_text_decimal(&text, day.day, 2);
	tr2_text_add(&text, "T");
	tr2_text_decimal(&text, second / 3600, 2);
	tr2_text_decimal(&text, second / 60 % 60, 2);
	tr2_text_decimal(&text, second % 60, 2);
}

static void format_own(char *own)
{
	struct tr2_text text = tr2_text_begin(own, OWN_BYTES);
	char date[TR2_SID_DATE];
	struct timespec now;

	tr2_sys_clock(CLOCK_REALTIME, &now);
	tr2_sid_date(now.tv_sec, date);
	tr2_text_add(&text, date);
	tr2_text_add(&text, ".");
	tr2_text_decimal(&text, (uint64_t)now.tv_nsec / 1000, 6);
	tr2_text_add(&text, "Z-");
	tr2_text_add(&text, g_host);
	tr2_text_add(&text, "-P");
	tr2_text_hex(&text, (uint32_t)tr2_sys_getpid(), 8);
}

/* The place for the own component behind n bytes of ancestors; of those that are too long none are kept. */
static size_t find_place(size_t n)
{
	return n > SID_BYTES - OWN_BYTES - 2 ? 0 : n;   /* no process tree is that deep */
}

static int has_name(const char *variable, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(variable, name, length) && variable[length] == '=';
}

/*
 * putenv() may be the program's, as bash's, which knows no environment before its main() has taken what is in environ:
 * there the new id replaces the one that the process came with.
 */
static void export_sid(void)
{
	putenv(g_exported.name);
	for (char **variable = environ; variable && *variable; variable++)
		if (has_name(*variable, sid_variable))
			*variable = g_exported.name;
}

const char *tr2_sid(void)
{
	const char *parent = secure_getenv(sid_variable);   /* which is libc's, where getenv() is the program's */
	size_t n;

	if (g_own)
		return g_exported.sid;
	g_is_after_exec = tlg_parent_is(parent, tr2_sys_getpid());
	n = parent ? find_place(strlen(parent)) : 0;
	memcpy(g_exported.name, sid_variable, sizeof(sid_variable) - 1);
	g_exported.name[sizeof(sid_variable) - 1] = '=';
	if (n) {
		memcpy(g_exported.sid, parent, n);
		g_exported.sid[n++] = '/';
	}
	g_own = g_exported.sid + n;
	find_host();
	format_own(g_own);
	export_sid();
	return g_exported.sid;
}

/*
 * The old id goes on to be one until the new one is: other threads of the child may be about to start programs.  So
 * what comes behind it is written first, its NUL becomes the "/" last.
 */
const char *tr2_sid_fork(void)
{
	char *sid = g_exported.sid;
	size_t n = find_place(strlen(sid));

	g_own = n ? sid + n + 1 : sid;
	format_own(g_own);
	if (n)
		sid[n] = '/';
	return sid;
}

const char *tr2_sid_own(void)
{
	tr2_sid();
	return g_own;
}

int tr2_sid_is_first(void)
{
	return tr2_sid_own() == g_exported.sid;
}

int tr2_sid_is_after_exec(void)
{
	tr2_sid();
	return g_is_after_exec;
}

int tr2_sid_is_variable(const char *variable)
{
	return has_name(variable, sid_variable) || has_name(variable, name_variable);
}

const char *tr2_sid_add_name(const char *name)
{
	TR2_LARGE static char all[NAMES_BYTES];
	struct tr2_text text = tr2_text_begin(all, sizeof(all));
	const char *names = getenv(name_variable);

	if (names && *names) {
		tr2_text_add(&text, names);
		tr2_text_add(&text, "/");
	}
	tr2_text_add(&text, name ? name : "");
	setenv(name_variable, all, 1);
	return all;
}

uint32_t tr2_sid_stream(void)
{
	uint32_t value = 0;

	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value))
		value = (uint32_t)(tr2_clock_raw() * UINT32_C(2654435761)) ^ (uint32_t)tr2_sys_getpid();
	return value ? value : 1;
}

/* SPDX-License-Identifier: MIT */
/* tr2p_settings.c - the table of words that TRACE2_PROF may have, and what they start. */
#include "tr2p_settings.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tlg_parent.h"
#include "tlg_units.h"
#include "trace2_prof.h"
#include "tr2p_init.h"
#include "tr2p_kernel.h"
#include "tr2p_leaks.h"
#include "tr2p_remote.h"
#include "tr2p_sigpipe.h"
#include "tr2p_unwind.h"

enum { WORD_MAX = 64 };

struct tr2p_how tr2p_g_how;
int tr2p_g_is_first = 1;
static int g_was_another;         /* this process has called exec(2), and was traced before */

/* ---- the table ------------------------------------------------------------------------------------- */

static int start_cpu(uint64_t hz)
{
	return trace2_prof_start_cpu((unsigned)hz);
}

static int start_wall(uint64_t hz)
{
	return trace2_prof_start_wall((unsigned)hz);
}

static int start_heap(uint64_t bytes)
{
	trace2_prof_set_heap_rate((size_t)bytes);
	return 0;
}

static int start_block(uint64_t ns)
{
	trace2_prof_set_block_rate(ns);
	return 0;
}

static int start_mutex(uint64_t n)
{
	trace2_prof_set_mutex_fraction((unsigned)n);
	return 0;
}

static int report_leaks(uint64_t on)
{
	tr2p_leaks_at_exit(on ? STDERR_FILENO : 0);
	return 0;
}

static int start_threads(uint64_t signal)
{
	return tr2p_remote_start((int)signal);
}

static int start_threadcreate(uint64_t on)
{
	trace2_prof_set_threadcreate((int)on);
	return 0;
}

static int set_unwinder(uint64_t way)
{
#ifndef TR2P_HAS_FRAME_POINTERS
	if (way == TR2P_BY_FRAME_POINTERS)
		return ENOTSUP;
#endif
	tr2p_g_how.way = (enum tr2p_way)way;
	return 0;
}

static int set_frames(uint64_t frames)
{
	tr2p_g_how.frames = (unsigned)frames;
	return 0;
}

/* What is set before has to be known when the profiler begins. */
static int start_kernel(uint64_t on)
{
	int error = on ? tr2p_init() : 0;

	return error || !on ? error : tr2p_kernel_start();
}

/* Words, not numbers */
static const struct tlg_unit unwinders[] = { { "auto", TR2P_BY_BOTH }, { "libgcc", TR2P_BY_BOTH },
					     { "fp", TR2P_BY_FRAME_POINTERS }, { "tables", TR2P_BY_TABLES },
					     { "", 0 } };

/*
 * All words: how stacks are taken, then the kinds of profiles, each with a function start_NAME(), then what is reported
 * of them.  They are applied in this order.
 */
static const struct word {
	char name[16];
	const struct tlg_unit *units;
	const char *usual;                /* the value of the word alone; "": it needs one */
	uint64_t min, max;
	int (*start)(uint64_t value);     /* Return  0 or an error number */
} words[] = {
	{ "unwind", unwinders, "", 0, TR2P_BY_TABLES, set_unwinder },
	{ "frames", tlg_units_count, "", 1, 128, set_frames },
	{ "kernel", tlg_units_onoff, "1", 0, 1, start_kernel },
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) \
	{ #name, tlg_units_##rate, usual, min, max, start_##name },
#include "prof_kinds.def"
	{ "leaks", tlg_units_onoff, "1", 0, 1, report_leaks },
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

/* ---- reading --------------------------------------------------------------------------------------- */

/* Return  1: text is a value of this word */
static int parse_value(const struct word *word, const char *text, uint64_t *value)
{
	const struct tlg_unit *unit;

	if (word->units == unwinders) {
		unit = tlg_units_find(word->units, text);
		*value = unit ? unit->factor : 0;
		return unit != NULL;
	}
	if (word->units == tlg_units_signals) {
		*value = (uint64_t)tr2p_remote_parse(text);
		return *value != 0;
	}
	return tlg_units_parse(word->units, text, word->min, word->max, value);
}

struct wanted {
	int is_set;
	uint64_t value;
};

/* Return  0: there is no such word, or not with such a value */
static int read_word(struct wanted wanted[WORDS], const char *text, size_t length)
{
	char name[WORD_MAX];
	char *value;

	if (length >= sizeof(name))
		return 0;
	memcpy(name, text, length);
	name[length] = '\0';
	value = strchr(name, '=');
	if (value)
		*value++ = '\0';
	for (unsigned i = 0; i < WORDS; i++) {
		if (strcmp(words[i].name, name))
			continue;
		wanted[i].is_set = parse_value(&words[i], value ? value : words[i].usual, &wanted[i].value);
		return wanted[i].is_set;
	}
	return 0;
}

void tr2p_settings_apply(const char *list)
{
	struct wanted wanted[WORDS] = { { 0, 0 } };
	char text[WORD_MAX];
	int error;

	for (;; list++) {
		size_t length = strcspn(list, ",");
		if (length && !read_word(wanted, list, length) && tr2p_g_is_first) {
			size_t n = length < sizeof(text) ? length : sizeof(text) - 1;
			memcpy(text, list, n);
			text[n] = '\0';
			tr2p_warning("unknown value for 'TRACE2_PROF': '", text, "', ignored");
		}
		list += length;
		if (!*list)
			break;
	}
	for (unsigned i = 0; i < WORDS; i++) {
		error = wanted[i].is_set ? words[i].start(wanted[i].value) : 0;
		if (error)
			tr2p_warning("cannot start '", words[i].name, "' of 'TRACE2_PROF': ", strerrordesc_np(error));
	}
}

/* ---- the environment ------------------------------------------------------------------------------- */

const char *tr2p_setting(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value && *value ? value : NULL;
}

void tr2p_settings_find_parent(void)
{
	const char *parent = tr2p_setting("GIT_TRACE2_PARENT_SID");

	tr2p_g_is_first = !parent;
	g_was_another = tlg_parent_is(parent, getpid());
}

/* TRACE2_DST_DEBUG is a number above 0, and names no other process, or program, behind a colon. */
static int reports(void)
{
	const char *debug = tr2p_setting("TRACE2_DST_DEBUG"), *colon = debug ? strchr(debug, ':') : NULL;

	return debug && strtol(debug, NULL, 10) > 0 &&
	       (!colon || (!g_was_another && strtol(colon + 1, NULL, 10) == (long)getpid()));
}

void tr2p_warn(const char *const *parts)
{
	char line[512] = "warning: trace2: ";
	size_t n = strlen(line);
	int saved = errno, error;
	struct tr2p_sigpipe held;

	if (!reports())
		return;
	for (; *parts; parts++) {
		size_t length = strlen(*parts), left = sizeof(line) - 1 - n;
		memcpy(line + n, *parts, length < left ? length : left);
		n += length < left ? length : left;
	}
	line[n++] = '\n';
	tr2p_sigpipe_hold(&held);
	/* write() would be a cancellation point */
	error = syscall(SYS_write, STDERR_FILENO, line, n) < 0 ? errno : 0;
	tr2p_sigpipe_release(&held, error);
	errno = saved;
}

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
#include "tr2p_cpu.h"
#include "tr2p_create.h"
#include "tr2p_heap.h"
#include "tr2p_init.h"
#include "tr2p_kernel.h"
#include "tr2p_leaks.h"
#include "tr2p_remote.h"
#include "tr2p_sigpipe.h"
#include "tr2p_unwind.h"
#include "tr2p_wait.h"

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

/* ---- while the program runs ------------------------------------------------------------------------ */

static int is_cpu_on(void)
{
	return tr2p_cpu_is_on(TR2P_CLOCK_CPU);
}

static int is_wall_on(void)
{
	return tr2p_cpu_is_on(TR2P_CLOCK_WALL);
}

static void stop_heap(void)
{
	trace2_prof_set_heap_rate(0);
}

static void stop_block(void)
{
	trace2_prof_set_block_rate(0);
}

static void stop_mutex(void)
{
	trace2_prof_set_mutex_fraction(0);
}

static void stop_threadcreate(void)
{
	trace2_prof_set_threadcreate(0);
}

/* What can be stopped.  The others are for the start: how stacks are taken, and the signal that asks for them. */
static const struct stop {
	char name[16];
	void (*stop)(void);
	int (*is_on)(void);
} stops[] = {
	{ "cpu", trace2_prof_stop_cpu, is_cpu_on }, { "wall", trace2_prof_stop_wall, is_wall_on },
	{ "heap", stop_heap, tr2p_heap_is_on }, { "block", stop_block, tr2p_wait_block_is_on },
	{ "mutex", stop_mutex, tr2p_wait_mutex_is_on },
	{ "threadcreate", stop_threadcreate, tr2p_create_is_on },
};
enum { STOPS = sizeof(stops) / sizeof(stops[0]) };

static const struct stop *find_stop(const char *name, size_t length)
{
	for (unsigned i = 0; i < STOPS; i++)
		if (strlen(stops[i].name) == length && !strncmp(stops[i].name, name, length))
			return &stops[i];
	return NULL;
}

/* What a list asks for: by the number of the word, or of the stop. */
struct steering {
	struct wanted wanted[WORDS];
	int is_stopped[STOPS];
};

static int read_steered(struct steering *steering, const char *text, size_t length)
{
	const size_t name = strcspn(text, "=,") < length ? strcspn(text, "=,") : length;
	const struct stop *stop = find_stop(text, name);

	if (length == 3 && !strncmp(text, "off", 3)) {
		for (unsigned i = 0; i < STOPS; i++)
			steering->is_stopped[i] = 1;
		return 1;
	}
	if (!stop)
		return 0;
	if (length == name + 4 && !strncmp(text + name, "=off", 4))
		return steering->is_stopped[stop - stops] = 1;
	return read_word(steering->wanted, text, length);
}

static void append(char *to, size_t size, const char *piece)
{
	size_t n = strlen(to), length = strlen(piece);

	if (n + length < size)
		memcpy(to + n, piece, length + 1);
}

/* A word that is wrong; an error.  Return  0 */
static int refuse(char *why, size_t size, const char *what, const char *text, size_t length)
{
	char word[WORD_MAX] = "";

	memcpy(word, text, length < sizeof(word) ? length : sizeof(word) - 1);
	why[0] = '\0';
	append(why, size, what);
	append(why, size, word);
	return 0;
}

/* A profile that runs already is stopped first, so that the new rate counts. */
static int start_steered(const struct word *word, uint64_t value, char *why, size_t size)
{
	const struct stop *stop = find_stop(word->name, strlen(word->name));
	int error = word->start(value);

	if (error == EALREADY) {
		stop->stop();
		error = word->start(value);
	}
	if (!error)
		return 1;
	refuse(why, size, "cannot start ", word->name, strlen(word->name));
	append(why, size, ": ");
	append(why, size, strerrordesc_np(error));
	return 0;
}

static void list_stop(char *stop, size_t size, const char *name)
{
	if (*stop)
		append(stop, size, ",");
	append(stop, size, name);
	append(stop, size, "=off");
}

/* Which profiles run, with commas between them. */
static int list_running(char *to, size_t size)
{
	for (unsigned i = 0; i < STOPS; i++) {
		if (!stops[i].is_on())
			continue;
		append(to, size, *to ? "," : "");
		append(to, size, stops[i].name);
	}
	return 1;
}

int tr2p_settings_steer(const char *list, char *stop, unsigned long stop_size, char *why, unsigned long why_size)
{
	struct steering steering = { .is_stopped = { 0 } };

	if (stop)
		stop[0] = '\0';
	if (stop && !strcmp(list, "status"))
		return list_running(stop, stop_size);
	for (;; list++) {
		size_t length = strcspn(list, ",");
		if (!read_steered(&steering, list, length))
			return refuse(why, why_size, "no profile, or no rate of it, that can change now: ", list,
				      length);
		list += length;
		if (!*list)
			break;
	}
	for (unsigned i = 0; i < STOPS; i++)
		if (steering.is_stopped[i])
			stops[i].stop();
	for (unsigned i = 0; i < WORDS; i++) {
		if (!steering.wanted[i].is_set)
			continue;
		if (!start_steered(&words[i], steering.wanted[i].value, why, why_size))
			return 0;
		if (stop)
			list_stop(stop, stop_size, words[i].name);
	}
	return 1;
}

int tr2p_settings_is_on(const char *name)
{
	const struct stop *stop = find_stop(name, strlen(name));

	return stop && stop->is_on();
}

int tr2p_settings_start(const char *name)
{
	struct wanted wanted[WORDS] = { { 0, 0 } };
	int error = read_word(wanted, name, strlen(name)) ? 0 : EINVAL;

	for (unsigned i = 0; i < WORDS && !error; i++)
		if (wanted[i].is_set)
			error = words[i].start(wanted[i].value);
	return error;
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

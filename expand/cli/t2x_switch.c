/* SPDX-License-Identifier: MIT */
/* t2x_switch.c - see t2x_switch.h. */
#include "t2x_switch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "t2x_collect.h"
#include "t2x_record_words.h"
#include "base/t2x_escape.h"
#include "base/t2x_report.h"
#include "live/t2x_ctl_find.h"
#include "live/t2x_ctl_page.h"

enum {
	ANSWER_MS = 3000,         /* of the root */
	BRIEF_MS = 500,           /* of the others, of which there may be many */
	BEGIN_MS = 500,           /* until a session begins, so that an error is seen */
	LOOK_MS = 10,
};

/* A control page.  state: what the process was, and so what _off() has to do */
struct t2x_switched {
	char path[512];
	uint32_t pid;
	enum { UNKNOWN, NOT_OURS, WAS_OFF, WAS_ON, IS_OFF } state;
	int has_profiles;         /* that were started here */
};

/* ---- asking ------------------------------------------------------------------------------------- */

/* Return  1: it is done, or will be */
static int tell(struct t2x_ctl_page *page, const char *const *words, int nwords, unsigned ms,
		struct t2x_ctl_answer *answer)
{
	t2x_ctl_page_ask(page, words, nwords, ms, answer);
	return answer->kind != TLG_CTL_ERROR;
}

static int tell_word(struct t2x_ctl_page *page, const char *word, unsigned ms, struct t2x_ctl_answer *answer)
{
	return tell(page, &word, 1, ms, answer);
}

/* The value of a line "key: value" of an answer.  Return  "" if there is none */
static void find_value(const char *text, const char *key, char *value, size_t size)
{
	size_t n = strlen(key);

	*value = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) || strncmp(line + n, ": ", 2))
			continue;
		snprintf(value, size, "%.*s", (int)strcspn(line + n + 2, "\n"), line + n + 2);
		return;
	}
}

static int is_dormant(const char *state)
{
	return !strncmp(state, "dormant", strlen("dormant"));
}

static void put(void *to, const char *text, size_t n)
{
	fwrite(text, 1, n, to);
}

/* What a process has answered may be anything. */
static void report(struct t2x_switch *these, uint32_t pid, const char *why)
{
	struct t2x_escape escape = { .put = put, .to = stderr };

	if (these->has_reported)
		return;
	these->has_reported = 1;
	fprintf(stderr, "%s: process %u: ", t2x_report_name(), (unsigned)pid);
	t2x_escape_text(&escape, why, strlen(why));
	t2x_escape_end(&escape);
	fputc('\n', stderr);
}

/* ---- one process -------------------------------------------------------------------------------- */

/* Return  0: it answers that it cannot */
static int start_profiles(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page,
			  struct t2x_ctl_answer *answer)
{
	const char *words[] = { "profile", these->profiles };

	if (!*these->profiles)
		return 1;
	item->has_profiles = tell(page, words, 2, ANSWER_MS, answer);
	return item->has_profiles ||
	       (these->may_lack_profiler && strstr(answer->text, "libtrace2-prof is not in this process"));
}

static void stop_profiles(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page)
{
	struct t2x_ctl_answer answer;
	char list[256];
	const char *words[] = { "profile", list };

	t2x_record_stops(these->profiles, list, sizeof(list));
	if (*list && (item->has_profiles || these->is_of_all))
		tell(page, words, 2, ANSWER_MS, &answer);
	item->has_profiles = 0;
}

/* state  of the process.  Return  0 and why it is not recorded */
static int begin(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page, const char *state,
		 struct t2x_ctl_answer *answer)
{
	const char *words[] = { "on", these->path, "later" };

	item->state = !strncmp(state, "on", 2) ? WAS_ON : WAS_OFF;
	if (item->state == WAS_OFF && !tell(page, words, is_dormant(state) ? 3 : 1, ANSWER_MS, answer)) {
		item->state = NOT_OURS;
		return 0;
	}
	if (start_profiles(these, item, page, answer))
		return 1;
	if (item->state == WAS_OFF)
		tell_word(page, "off", ANSWER_MS, &(struct t2x_ctl_answer){ .kind = 0 });
	item->state = NOT_OURS;
	return 0;
}

/* What was recorded is in the file afterwards. */
static void end(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page)
{
	struct t2x_ctl_answer answer;
	int is_left_on = item->state == WAS_ON && !these->is_of_all;

	stop_profiles(these, item, page);
	item->state = IS_OFF;
	tell_word(page, is_left_on ? "flush" : "off", ANSWER_MS, &answer);
	if (strstr(answer.text, "snapshots only"))
		tell_word(page, "snapshot", ANSWER_MS, &answer);
	if (strstr(answer.text, "not all of it"))
		report(these, item->pid, answer.text);
}

/* ---- all of them -------------------------------------------------------------------------------- */

static int is_known(const struct t2x_switch *these, const char *path)
{
	for (unsigned i = 0; i < these->n; i++)
		if (!strcmp(these->items[i].path, path))
			return 1;
	return 0;
}

static int add(struct t2x_switch *these, const struct t2x_ctl_found *found)
{
	struct t2x_switched *item;

	if (these->n == these->space) {
		unsigned space = these->space ? 2 * these->space : 64;
		void *items = realloc(these->items, space * sizeof(*these->items));
		if (!items)
			return -ENOMEM;
		these->items = items;
		these->space = space;
	}
	item = &these->items[these->n++];
	*item = (struct t2x_switched){ .pid = found->pid };
	snprintf(item->path, sizeof(item->path), "%s", found->path);
	return 0;
}

/* target  as for t2x_ctl_find() */
static int look_for(struct t2x_switch *these, const char *target)
{
	struct t2x_ctl_list list;
	int error = t2x_ctl_find(&list, target);

	for (unsigned i = 0; i < list.n && !error; i++)
		if (!is_known(these, list.items[i].path))
			error = add(these, &list.items[i]);
	t2x_ctl_free(&list);
	return error;
}

/* A process that was not asked yet.  Return  0: it is none of ours, or records nothing any more */
static int meet(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page, char *state,
		size_t size)
{
	const unsigned ms = item->pid == (uint32_t)these->root ? ANSWER_MS : BRIEF_MS;
	struct t2x_ctl_answer answer;
	char sid[sizeof(answer.text)];

	item->state = NOT_OURS;
	if (!tell_word(page, "status", ms, &answer))
		return 0;
	find_value(answer.text, "sid", sid, sizeof(sid));
	find_value(answer.text, "state", state, size);
	return (item->pid == (uint32_t)these->root || t2x_collect_is_below(sid, these->root)) &&
	       strcmp(state, "ended") != 0;
}

static void switch_on(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page)
{
	struct t2x_ctl_answer answer;
	char state[128];

	if (item->state == UNKNOWN && meet(these, item, page, state, sizeof(state)) &&
	    !begin(these, item, page, state, &answer))
		report(these, item->pid, answer.text);
}

static void switch_off(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page)
{
	char state[128];

	if (item->state == UNKNOWN && these->is_of_all && meet(these, item, page, state, sizeof(state)))
		item->state = !strncmp(state, "on", 2) ? WAS_ON : IS_OFF;
	if (item->state == WAS_ON || item->state == WAS_OFF)
		end(these, item, page);
	else if (item->state == UNKNOWN)
		item->state = NOT_OURS;
}

int t2x_switch_on(struct t2x_switch *these)
{
	struct t2x_ctl_page page;
	int error = look_for(these, "all");

	for (unsigned i = 0; i < these->n; i++) {
		struct t2x_switched *item = &these->items[i];
		if (item->state != UNKNOWN || t2x_ctl_page_open(&page, item->path, item->pid))
			continue;
		switch_on(these, item, &page);
		t2x_ctl_page_close(&page);
	}
	return error;
}

/* A process that has ended is off. */
int t2x_switch_off(struct t2x_switch *these)
{
	struct t2x_ctl_page page;
	int error = look_for(these, "all");

	for (unsigned i = 0; i < these->n; i++) {
		struct t2x_switched *item = &these->items[i];
		if (item->state == NOT_OURS || item->state == IS_OFF)
			continue;
		if (!t2x_ctl_page_open(&page, item->path, item->pid)) {
			switch_off(these, item, &page);
			t2x_ctl_page_close(&page);
		} else if (item->state != UNKNOWN) {
			item->state = IS_OFF;
		}
	}
	return error;
}

void t2x_switch_free(struct t2x_switch *these)
{
	free(these->items);
	these->items = NULL;
	these->n = these->space = 0;
}

/* ---- the root ----------------------------------------------------------------------------------- */

static struct t2x_ctl_answer g_answer;

/* Its page.  Return  NULL or why it has none */
static const char *open_root(struct t2x_switch *these, struct t2x_ctl_page *page, struct t2x_switched **item)
{
	static char why[256];
	const char *closed = NULL;
	char pid[32];

	snprintf(pid, sizeof(pid), "%ld", (long)these->root);
	if (look_for(these, pid))
		return "there is no memory";
	for (unsigned i = 0; i < these->n; i++) {
		*item = &these->items[i];
		closed = t2x_ctl_page_open(page, (*item)->path, (*item)->pid);
		if (!closed)
			return NULL;
	}
	t2x_ctl_explain((uint32_t)these->root, why, sizeof(why));
	return closed ? closed : why;
}

const char *t2x_switch_look(struct t2x_switch *these, int *is_new, char *file, unsigned long size)
{
	struct t2x_switched *item;
	struct t2x_ctl_page page;
	const char *why = open_root(these, &page, &item);
	char state[128];

	if (why)
		return why;
	if (!tell_word(&page, "status", ANSWER_MS, &g_answer))
		why = g_answer.text;
	t2x_ctl_page_close(&page);
	find_value(g_answer.text, "state", state, sizeof(state));
	find_value(g_answer.text, "file", file, size);
	*is_new = is_dormant(state);
	return why ? why : !strcmp(state, "ended") ? "its trace has ended" : NULL;
}

/* A session that cannot begin is an error now, and not a missing file later.  Return  NULL or why */
static const char *await_session(struct t2x_ctl_page *page)
{
	const struct timespec pause = { 0, LOOK_MS * 1000000 };
	static char state[128];

	for (int ms = 0; ms < BEGIN_MS; ms += LOOK_MS) {
		if (!tell_word(page, "status", ANSWER_MS, &g_answer))
			return g_answer.text;
		find_value(g_answer.text, "state", state, sizeof(state));
		if (is_dormant(state))
			return state;
		if (!strcmp(state, "on"))
			return NULL;
		nanosleep(&pause, NULL);
	}
	return NULL;   /* with the program's next call */
}

static const char *begin_root(struct t2x_switch *these, struct t2x_switched *item, struct t2x_ctl_page *page)
{
	char state[128];
	const char *why;

	if (!tell_word(page, "status", ANSWER_MS, &g_answer))
		return g_answer.text;
	find_value(g_answer.text, "state", state, sizeof(state));
	if (!begin(these, item, page, state, &g_answer))
		return g_answer.text;
	why = is_dormant(state) ? await_session(page) : NULL;
	if (why) {
		stop_profiles(these, item, page);
		item->state = NOT_OURS;
	}
	return why;
}

const char *t2x_switch_root(struct t2x_switch *these)
{
	struct t2x_switched *item;
	struct t2x_ctl_page page;
	const char *why = open_root(these, &page, &item);

	if (why)
		return why;
	why = begin_root(these, item, &page);
	t2x_ctl_page_close(&page);
	return why;
}

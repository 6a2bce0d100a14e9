/* SPDX-License-Identifier: MIT */
/*
 * tr2p_labels.c - sets of labels, each there once: a list of pairs in the order of their keys.
 *
 * Sets are made under a lock, and read without one: a thread can only have a set that was finished before.
 */
#include "tr2p_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace2_prof.h"
#include "tr2p_mutex.h"
#include "tr2p_thread.h"
#include "tr2p_wall.h"

enum { SETS_MAX = 65536, SLOTS = 2 * SETS_MAX };

struct trace2_labels {
	size_t n;                     /* pairs */
	const char *list[];           /* key, value, ..., NULL; then the texts */
};

static struct sets {
	struct tr2p_mutex lock;
	struct trace2_labels **slots; /* by hash, open addressing; made with the first set */
	size_t count;
} g_sets = { .lock = TR2P_MUTEX_INIT };

/* ---- a set that is being made --------------------------------------------------------------------- */

struct draft {
	const char **list;            /* key, value, ... */
	size_t n;
};

/* Add a pair at its place, or replace the value of its key. */
static void put_pair(struct draft *draft, const char *key, const char *value)
{
	size_t at = 0;

	while (at < draft->n && strcmp(draft->list[2 * at], key) < 0)
		at++;
	if (at == draft->n || strcmp(draft->list[2 * at], key)) {
		memmove(&draft->list[2 * at + 2], &draft->list[2 * at], (draft->n - at) * 2 * sizeof(char *));
		draft->n++;
	}
	draft->list[2 * at] = key;
	draft->list[2 * at + 1] = value;
}

static uint64_t hash_of(const struct draft *draft)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < 2 * draft->n; i++)
		for (const char *at = draft->list[i];; at++) {
			hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
			if (!*at)
				break;
		}
	return hash ^ hash >> 32;
}

static int is_same(const struct trace2_labels *set, const struct draft *draft)
{
	if (set->n != draft->n)
		return 0;
	for (size_t i = 0; i < 2 * set->n; i++)
		if (strcmp(set->list[i], draft->list[i]))
			return 0;
	return 1;
}

/* The set with its texts in one piece of memory, which is never freed. */
static struct trace2_labels *make_set(const struct draft *draft)
{
	size_t bytes = sizeof(struct trace2_labels) + (2 * draft->n + 1) * sizeof(char *);
	struct trace2_labels *set;
	char *text;

	for (size_t i = 0; i < 2 * draft->n; i++)
		bytes += strlen(draft->list[i]) + 1;
	set = malloc(bytes);
	if (!set)
		return NULL;
	set->n = draft->n;
	text = (char *)&set->list[2 * draft->n + 1];
	for (size_t i = 0; i < 2 * draft->n; i++) {
		size_t n = strlen(draft->list[i]) + 1;
		set->list[i] = memcpy(text, draft->list[i], n);
		text += n;
	}
	set->list[2 * draft->n] = NULL;
	return set;
}

/* ---- all sets -------------------------------------------------------------------------------------- */

/* The set of this content, a new one if need be; g_sets is locked. */
static int intern(const struct draft *draft, const struct trace2_labels **result)
{
	size_t at = hash_of(draft) % SLOTS;

	if (!g_sets.slots && !(g_sets.slots = calloc(SLOTS, sizeof(*g_sets.slots))))
		return ENOMEM;
	for (; g_sets.slots[at]; at = (at + 1) % SLOTS)
		if (is_same(g_sets.slots[at], draft)) {
			*result = g_sets.slots[at];
			return 0;
		}
	if (g_sets.count == SETS_MAX)
		return ENOSPC;
	g_sets.slots[at] = make_set(draft);
	if (!g_sets.slots[at])
		return ENOMEM;
	g_sets.count++;
	*result = g_sets.slots[at];
	return 0;
}

static int make_draft(struct draft *draft, const struct trace2_labels *labels, const char *const *pairs)
{
	size_t n = labels ? labels->n : 0;

	for (size_t i = 0; pairs && pairs[i]; i += 2, n++)
		if (!pairs[i + 1])
			return EINVAL;
	draft->n = 0;
	draft->list = malloc((2 * n + 2) * sizeof(*draft->list));
	if (!draft->list)
		return ENOMEM;
	for (size_t i = 0; labels && i < labels->n; i++)
		put_pair(draft, labels->list[2 * i], labels->list[2 * i + 1]);
	for (size_t i = 0; pairs && pairs[i]; i += 2)
		put_pair(draft, pairs[i], pairs[i + 1]);
	return 0;
}

int trace2_prof_labels_with(const struct trace2_labels *labels, const char *const *pairs,
			    const struct trace2_labels **result)
{
	struct draft draft;
	int saved = errno, error;

	tr2p_enter();
	error = make_draft(&draft, labels, pairs);
	if (!error) {
		*result = NULL;
		if (draft.n) {
			tr2p_mutex_lock(&g_sets.lock);
			error = intern(&draft, result);
			tr2p_mutex_unlock(&g_sets.lock);
		}
		free(draft.list);
	}
	tr2p_leave();
	errno = saved;
	return error;
}

void tr2p_labels_lock(void)
{
	tr2p_mutex_lock(&g_sets.lock);
}

void tr2p_labels_unlock(void)
{
	tr2p_mutex_unlock(&g_sets.lock);
}

/* ---- what is asked of them ------------------------------------------------------------------------- */

const char *const *tr2p_labels_list(const struct trace2_labels *labels)
{
	return labels ? (const char *const *)labels->list : NULL;
}

const struct trace2_labels *trace2_prof_labels(void)
{
	return tr2p_g_thread.labels;
}

void trace2_prof_set_labels(const struct trace2_labels *labels)
{
	tr2p_g_thread.labels = labels;
	tr2p_wall_report_labels();
}

static void set_again(const struct trace2_labels *const *before)
{
	trace2_prof_set_labels(*before);
}

/* Also if run() throws, or ends the thread: see prof.mk. */
void trace2_prof_do(const struct trace2_labels *labels, void (*run)(void *data), void *data)
{
	__attribute__((cleanup(set_again))) const struct trace2_labels *const before = trace2_prof_labels();

	(void)before;   /* but for its end */
	trace2_prof_set_labels(labels);
	run(data);
}

const char *trace2_prof_label(const struct trace2_labels *labels, const char *key)
{
	for (size_t i = 0; labels && i < labels->n; i++)
		if (!strcmp(labels->list[2 * i], key))
			return labels->list[2 * i + 1];
	return NULL;
}

int trace2_prof_each_label(const struct trace2_labels *labels,
			   int (*visit)(const char *key, const char *value, void *data), void *data)
{
	int done = 0;

	for (size_t i = 0; labels && i < labels->n && !done; i++)
		done = visit(labels->list[2 * i], labels->list[2 * i + 1], data);
	return done;
}

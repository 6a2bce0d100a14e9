/* SPDX-License-Identifier: MIT */
/* t2x_steering.c - see t2x_steering.h. */
#include "t2x_steering.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_gate.h"
#include "live/t2x_ctl_page.h"
#include "profile/t2x_pprof.h"

enum { PROCESSES = 64, ASK_MS = 3000, MARGIN_MS = 5000 };

/* What can be switched on and off while a process runs. */
static const char *const kinds[] = { "cpu", "wall", "heap", "block", "mutex", "threadcreate" };
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), CPU = 0 };

/* A process that requests use. */
struct t2x_steered {
	unsigned users;                   /* requests; 0: the place is free.  Under the table's lock */
	uint32_t pid;
	char page[512];
	pthread_mutex_t lock;             /* of all that follows, and of the commands */
	unsigned uses[KINDS];             /* requests that have this one switched on */
	uint64_t until_ms;                /* when the last of them ends */
	int has_begun;                    /* the trace was switched on for them */
	unsigned running;                 /* requests that have begun and not ended */
};

struct t2x_steering {
	char directory[1024];
	pthread_mutex_t lock;
	struct t2x_steered processes[PROCESSES];
};

struct t2x_steering *t2x_steering_new(const char *directory)
{
	struct t2x_steering *steering = calloc(1, sizeof(*steering));

	if (!steering)
		return NULL;
	snprintf(steering->directory, sizeof(steering->directory), "%s", directory);
	pthread_mutex_init(&steering->lock, NULL);
	for (unsigned i = 0; i < PROCESSES; i++)
		pthread_mutex_init(&steering->processes[i].lock, NULL);
	return steering;
}

void t2x_steering_free(struct t2x_steering *steering)
{
	for (unsigned i = 0; steering && i < PROCESSES; i++)
		pthread_mutex_destroy(&steering->processes[i].lock);
	free(steering);
}

/* ---- places -------------------------------------------------------------------------------------------- */

/* Return  NULL: too many processes are in use */
static struct t2x_steered *acquire(struct t2x_steering *steering, const struct t2x_traced *traced)
{
	struct t2x_steered *found = NULL, *unused = NULL;

	pthread_mutex_lock(&steering->lock);
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct t2x_steered *process = &steering->processes[i];

		if (!process->users)
			unused = process;
		else if (process->pid == traced->pid && !strcmp(process->page, traced->page))
			found = process;
	}
	if (!found && unused) {
		found = unused;
		found->pid = traced->pid;
		memcpy(found->page, traced->page, sizeof(found->page));
		memset(found->uses, 0, sizeof(found->uses));
		found->until_ms = 0;
		found->has_begun = 0;
		found->running = 0;
	}
	if (found)
		found->users++;
	pthread_mutex_unlock(&steering->lock);
	return found;
}

static void release(struct t2x_steering *steering, struct t2x_steered *process)
{
	pthread_mutex_lock(&steering->lock);
	process->users--;
	pthread_mutex_unlock(&steering->lock);
}

/* ---- commands ------------------------------------------------------------------------------------------ */

struct talk {
	struct t2x_ctl_page page;
	struct t2x_ctl_answer answer;
	struct t2x_answered said;
};

/* Return  1: the process has done it, or will */
static int tell(struct talk *talk, const char *command, const char *one, const char *other)
{
	const char *const words[] = { command, one, other };

	t2x_ctl_page_ask(&talk->page, words, 1 + (one != NULL) + (other != NULL), ASK_MS, &talk->answer);
	return talk->answer.kind != TLG_CTL_ERROR;
}

static int ask_status(struct talk *talk)
{
	int is_answered = tell(talk, "status", NULL, NULL);

	t2x_answered_parse(&talk->said, is_answered ? talk->answer.text : "");
	return is_answered;
}

static int is_in_directory(const struct t2x_steering *steering, const char *file)
{
	const size_t n = strlen(steering->directory);

	return !strncmp(file, steering->directory, n) && file[n] == '/' && !strncmp(file + n, "/serve-", 7);
}

/* The name has the process's id and that of its page: no other process gets the same. */
static void name_file(const struct t2x_steering *steering, const struct t2x_steered *process, char *to, size_t size)
{
	const char *dash = strrchr(process->page, '-');

	snprintf(to, size, "%s/serve-%u-%.16s.tlg", steering->directory, (unsigned)process->pid, dash ? dash + 1 : "0");
}

/* The trace is on, if it may be.  Return  0, or a status */
static unsigned switch_on(struct talk *talk, const struct t2x_steering *steering, struct t2x_steered *process,
			  struct t2x_taking *taking, const char **why)
{
	const char *state = talk->said.state;
	const int is_ours = is_in_directory(steering, talk->said.file);

	snprintf(taking->file, sizeof(taking->file), "%s", talk->said.file);
	if (!strncmp(state, "on", 2)) {
		process->has_begun |= is_ours;   /* by a server that was killed */
		return 0;
	}
	if (!strcmp(state, "off") && !is_ours) {
		*why = "it is switched off: t2 ctl PID on";
		return 409;
	}
	if (!strncmp(state, "dormant", 7))
		name_file(steering, process, taking->file, sizeof(taking->file));
	else if (strcmp(state, "off") != 0) {
		*why = "its trace has ended";
		return 409;
	}
	if (!tell(talk, "on", *state == 'd' ? taking->file : NULL, NULL)) {
		*why = talk->answer.text;
		return 503;
	}
	process->has_begun = 1;
	return 0;
}

/* All that requests have switched on, and one that no request uses any more; -1: none.  Return  1: done */
static int apply(struct talk *talk, const struct t2x_steered *process, int ended)
{
	const uint64_t now = t2x_gate_clock();
	const uint64_t left = process->until_ms > now ? process->until_ms - now : 0;
	char list[128] = "", ms[32];
	size_t n = 0;
	int is_timed = 0;

	for (int i = 0; i < (int)KINDS; i++) {
		if (!process->uses[i] && i != ended)
			continue;
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s%s", n ? "," : "", kinds[i],
				      process->uses[i] ? "" : "=off");
		is_timed |= process->uses[i] != 0;
	}
	snprintf(ms, sizeof(ms), "%llums", (unsigned long long)(left + MARGIN_MS));
	return tell(talk, "profile", list, is_timed ? ms : NULL);
}

/* Return  0, or a status */
static unsigned start_profile(struct talk *talk, struct t2x_steered *process, struct t2x_taking *taking,
			      const char *profile, uint32_t ms, const char **why)
{
	const uint64_t until = t2x_gate_clock() + ms;
	int kind = 0;

	while (kind < (int)KINDS && strcmp(kinds[kind], profile) != 0)
		kind++;
	if (kind == (int)KINDS)
		return 0;
	if (kind == CPU && process->uses[CPU]) {
		*why = T2X_PPROF_IN_USE;
		return 500;
	}
	if (!process->uses[kind] && t2x_answered_has(&talk->said, profile))
		return 0;   /* it is the user's */
	if (!talk->said.has_profiles) {
		*why = "libtrace2-prof is not in this process, or is older than this t2: start it with t2 record";
		return 501;
	}
	process->uses[kind]++;
	process->until_ms = process->until_ms > until ? process->until_ms : until;
	taking->kind = kind;
	if (apply(talk, process, -1))
		return 0;
	process->uses[kind]--;
	taking->kind = -1;
	*why = talk->answer.text;
	return 503;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* What was begun for a request ends, unless others need it. */
static void finish(struct talk *talk, struct t2x_taking *taking)
{
	struct t2x_steered *process = taking->process;

	if (taking->kind >= 0 && !--process->uses[taking->kind])
		apply(talk, process, taking->kind);
	if (process->has_begun && !process->running) {
		tell(talk, "off", NULL, NULL);   /* which writes everything, too */
		process->has_begun = 0;
	} else {
		tell(talk, "flush", NULL, NULL);
	}
}

unsigned t2x_steering_begin(struct t2x_taking *taking, struct t2x_steering *steering, const struct t2x_traced *traced,
			    const char *profile, uint32_t ms, char *why, size_t size)
{
	struct talk talk;
	const char *reason;
	unsigned status = 503;

	*taking = (struct t2x_taking){ .steering = steering, .kind = -1 };
	taking->process = acquire(steering, traced);
	if (!taking->process) {
		snprintf(why, size, "too many processes are being profiled: try again");
		return 503;
	}
	pthread_mutex_lock(&taking->process->lock);
	reason = t2x_ctl_page_open(&talk.page, traced->page, traced->pid);
	if (!reason) {
		if (!ask_status(&talk))
			reason = talk.answer.text;
		else
			status = switch_on(&talk, steering, taking->process, taking, &reason);
		if (!status && profile)
			status = start_profile(&talk, taking->process, taking, profile, ms, &reason);
		if (!status)
			taking->process->running++;
		else if (taking->process->has_begun)
			finish(&talk, taking);
		taking->is_flight = !strcmp(talk.said.policy, "overwrite");
		t2x_ctl_page_close(&talk.page);
	}
	if (status)
		snprintf(why, size, "%s", reason ? reason : "it cannot be asked");
	pthread_mutex_unlock(&taking->process->lock);
	if (status) {
		release(steering, taking->process);
		taking->process = NULL;
	}
	return status;
}

void t2x_steering_end(struct t2x_taking *taking)
{
	struct t2x_steered *process = taking->process;
	struct talk talk;

	if (!process)
		return;
	pthread_mutex_lock(&process->lock);
	process->running--;
	if (!t2x_ctl_page_open(&talk.page, process->page, process->pid)) {
		finish(&talk, taking);
		t2x_ctl_page_close(&talk.page);
	} else if (taking->kind >= 0) {
		process->uses[taking->kind]--;   /* the process has ended */
	}
	pthread_mutex_unlock(&process->lock);
	release(taking->steering, process);
	taking->process = NULL;
}

int t2x_steering_flush(struct t2x_taking *taking, struct t2x_steering *steering, const struct t2x_traced *traced)
{
	struct talk talk;
	int is_answered;

	*taking = (struct t2x_taking){ .steering = steering, .kind = -1 };
	if (t2x_ctl_page_open(&talk.page, traced->page, traced->pid))
		return 0;
	is_answered = ask_status(&talk);
	if (is_answered) {
		snprintf(taking->file, sizeof(taking->file), "%s", talk.said.file);
		taking->is_flight = !strcmp(talk.said.policy, "overwrite");
		tell(&talk, "flush", NULL, NULL);
	}
	t2x_ctl_page_close(&talk.page);
	return is_answered;
}

void t2x_steering_sweep(struct t2x_steering *steering, const struct t2x_traced_list *list)
{
	struct talk talk;

	for (unsigned i = 0; i < list->n && list->items[i].is_alive; i++) {
		if (!list->items[i].page[0] || !is_in_directory(steering, list->items[i].file) ||
		    t2x_ctl_page_open(&talk.page, list->items[i].page, list->items[i].pid))
			continue;
		if (ask_status(&talk) && !strncmp(talk.said.state, "on", 2) &&
		    is_in_directory(steering, talk.said.file))
			tell(&talk, "off", NULL, NULL);
		t2x_ctl_page_close(&talk.page);
	}
}

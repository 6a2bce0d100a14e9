/* SPDX-License-Identifier: MIT */
/* t2x_totals_children.c - see t2x_totals_children.h. */
#include "t2x_totals_children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_totals_rows.h"

struct child {
	struct t2x_thread_record head;    /* tid: the id of the child */
	struct t2x_row *row;
};

size_t t2x_totals_child_bytes(void)
{
	return sizeof(struct child);
}

struct ended {
	struct t2x_thread_record head;    /* stream: the hash of the parent's session id, tid: the process id */
	uint64_t ns;
};

size_t t2x_totals_ended_bytes(void)
{
	return sizeof(struct ended);
}

/* "git", of "/usr/bin/git" */
static void name_program(char *name, size_t size, const struct t2x_event *ev)
{
	const struct t2x_arg *arg = ev->nargs > T2X_CHILD_ARGV ? &ev->args[T2X_CHILD_ARGV] : NULL;
	const char *text = arg && arg->text ? arg->text : "", *slash;
	size_t n = arg && arg->text ? arg->length : 0;

	if (ev->args[T2X_CHILD_FLAGS].value & TLG_CHILD_GIT) {
		text = "git";
		n = 3;
	}
	slash = memrchr(text, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	n = n < size ? n : size - 1;
	memcpy(name, text, n);
	name[n] = '\0';
}

/*
 * The exit of a child, as its parent has recorded it.  When the parent began to wait it has not: at the latest event in
 * front of this one it did not wait yet.
 */
static struct t2x_child_end find_end(const struct t2x_event *ev, uint64_t active_ns)
{
	return (struct t2x_child_end){
		.ns = ev->rel_ns, .lived_ns = UINT64_MAX,
		.idle_ns = active_ns && active_ns <= ev->ns ? ev->ns - active_ns : UINT64_MAX,
		.is_unknown = !ev->args[T2X_CHILD_START].value, .has_failed = ev->args[T2X_CHILD_CODE].value != 0,
	};
}

static uint32_t hash_sid(const char *sid, size_t n)
{
	uint32_t hash = 2166136261;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)sid[i]) * 16777619;
	return hash;
}

/* Whether the process was forked and runs the same program, with its parent's session id, which ends with a pid. */
static int is_fork(const struct t2x_process *process)
{
	const char *at = strrchr(process->sid, 'P');

	return at && strtoul(at + 1, NULL, 16) != process->pid;
}

static struct ended *find_ended(struct t2x_totals *totals, const struct t2x_family_member *member)
{
	struct t2x_process parent = { .stream = member->parent };

	return t2x_threads_get(&totals->ended, &(struct t2x_thread){ .process = &parent, .tid = member->pid });
}

void t2x_totals_end_process(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_process *process = ev->thread->process;
	const char *slash = strrchr(process->sid, '/');
	struct t2x_family_member member = { .pid = process->pid };
	struct ended *ended;

	if (!slash && !is_fork(process))
		return;               /* its parent is not traced */
	member.parent = hash_sid(process->sid, is_fork(process) ? strlen(process->sid)
								: (size_t)(slash - process->sid));
	if (totals->part) {
		t2x_totals_note(totals, &(struct t2x_note){
			.kind = T2X_NOTE_PROCESS_END, .process = member, .ns = ev->ns,
		});
		return;
	}
	ended = totals->ended.count < T2X_TOTALS_ENDED ? find_ended(totals, &member) : NULL;
	if (ended && ev->ns > ended->ns)
		ended->ns = ev->ns;
}

/* Since its start, if it has said that it ended, after its start and before its parent recorded that. */
static void find_lived(struct t2x_totals *totals, const struct t2x_family_member *member, uint64_t ns,
		       struct t2x_child_end *end)
{
	struct ended *ended = find_ended(totals, member);

	if (!ended)
		return;
	t2x_child_end_lived(end, ns, ended->ns);
	t2x_threads_remove(&totals->ended, ended);
}

/* A part does not know what other parts know of the child. */
static void note_child(struct t2x_totals *totals, const struct t2x_event *ev, const struct t2x_note *what)
{
	struct t2x_note note = *what;

	note.stream = ev->thread->process->stream;
	note.id = (uint32_t)ev->args[T2X_CHILD_ID].value;
	note.tid = ev->thread->tid;
	note.ns = ev->ns;
	t2x_totals_note(totals, &note);
}

/* What is remembered of a child until it has ended. */
static struct child *find_child(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_thread key = { .process = ev->thread->process, .tid = (uint32_t)ev->args[T2X_CHILD_ID].value };

	return t2x_threads_get(&totals->children, &key);
}

void t2x_totals_start_child(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_arg *class = &ev->args[T2X_CHILD_CLASS];
	char category[64], label[128];
	struct child *child;
	struct t2x_row *row;

	snprintf(category, sizeof(category), "%.*s", class->text ? (int)class->length : 1,
		 class->text ? class->text : "?");
	if (ev->args[T2X_CHILD_HOOK].text)
		strcpy(category, "hook");
	name_program(label, sizeof(label), ev);
	row = t2x_totals_names(totals, ev, T2X_ROW_CHILD, category, label);
	if (row)
		row->entered++;
	if (totals->part) {
		note_child(totals, ev, &(struct t2x_note){ .kind = T2X_NOTE_CHILD_START, .row = row });
		return;
	}
	child = find_child(totals, ev);
	if (child)
		child->row = row;
}

void t2x_totals_end_child(struct t2x_totals *totals, const struct t2x_event *ev, uint64_t active_ns)
{
	const struct t2x_process *process = ev->thread->process;
	const struct t2x_family_member member = {
		hash_sid(process->sid, strlen(process->sid)), (uint32_t)ev->args[T2X_CHILD_PID].value,
	};
	struct t2x_child_end end = find_end(ev, active_ns);
	struct child *child;
	struct t2x_row *row;

	if (totals->part) {
		note_child(totals, ev, &(struct t2x_note){
			.kind = T2X_NOTE_CHILD_EXIT, .end = end, .process = member, .is_first = !active_ns,
		});
		return;
	}
	find_lived(totals, &member, ev->ns, &end);
	child = find_child(totals, ev);
	row = child && child->row ? child->row : t2x_totals_names(totals, ev, T2X_ROW_CHILD, "?", "?");
	if (child)
		t2x_threads_remove(&totals->children, child);
	if (row)
		t2x_row_end_child(row, &end, &totals->budget);
}

/* SPDX-License-Identifier: MIT */
/* t2x_totals_children.c - see t2x_totals_children.h. */
#include "t2x_totals_children.h"

#include <stdio.h>
#include <string.h>

#include "t2x_totals_notes.h"
#include "t2x_totals_rows.h"

struct child {
	struct t2x_thread_record head;    /* tid: the id of the child */
	struct t2x_row *row;
};

size_t t2x_totals_child_bytes(void)
{
	return sizeof(struct child);
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
		.ns = ev->rel_ns, .idle_ns = active_ns && active_ns <= ev->ns ? ev->ns - active_ns : UINT64_MAX,
		.is_unknown = !ev->args[T2X_CHILD_START].value, .has_failed = ev->args[T2X_CHILD_CODE].value != 0,
	};
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
	const struct t2x_child_end end = find_end(ev, active_ns);
	struct child *child;
	struct t2x_row *row;

	if (totals->part) {
		note_child(totals, ev, &(struct t2x_note){
			.kind = T2X_NOTE_CHILD_EXIT, .end = end, .is_first = !active_ns,
		});
		return;
	}
	child = find_child(totals, ev);
	row = child && child->row ? child->row : t2x_totals_names(totals, ev, T2X_ROW_CHILD, "?", "?");
	if (child)
		t2x_threads_remove(&totals->children, child);
	if (row)
		t2x_row_end_child(row, &end, &totals->budget);
}

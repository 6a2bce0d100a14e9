/* SPDX-License-Identifier: MIT */
/* t2x_chrome_names.c - chrome: names of processes and threads, children and the arrows to them. */
#include "t2x_chrome_names.h"

#include <stdlib.h>

#include "text/t2x_json.h"
#include "text/t2x_utf8.h"

enum {
	LOOKED_AT = 1024,               /* open children among which one that ends is looked for */
	GUESSED = 1024,                 /* children without an end whose process is looked for among all */
};

/* ---- names -------------------------------------------------------------------------------------- */

/* An element of phase M up to its argument's value. */
static void begin_name(struct t2x_printer *printer, const struct t2x_spans *spans, const char *what, const char *key)
{
	const struct t2x_chrome *chrome = printer->own;

	t2x_chrome_begin(printer, t2x_chrome_place_of(spans), what, "__metadata", 'M', chrome->zero_ns);
	t2x_out_literal(printer->out, ",\"args\":{\"");
	t2x_out_string(printer->out, key);
	t2x_out_literal(printer->out, "\":");
}

static void end_name(struct t2x_printer *printer)
{
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

static void put_order(struct t2x_printer *printer, const struct t2x_spans *spans, const char *what, uint64_t order)
{
	begin_name(printer, spans, what, "sort_index");
	t2x_out_uint(printer->out, order);
	end_name(printer);
}

void t2x_chrome_name_process(struct t2x_printer *printer, const struct t2x_spans *spans)
{
	begin_name(printer, spans, "process_name", "name");
	t2x_processes_print_name(printer->out, t2x_traced_of(spans));
	end_name(printer);
}

/* The name that a process has inherited is told with it; others when they come. */
void t2x_chrome_name_thread(struct t2x_printer *printer, const struct t2x_spans *spans)
{
	struct t2x_traced *process = t2x_traced_of(spans);

	if (!process->is_told && process->name)
		t2x_chrome_name_process(printer, spans);
	if (!process->is_told)
		put_order(printer, spans, "process_sort_index", process->order);
	process->is_told = 1;
	put_order(printer, spans, "thread_sort_index", spans->tid);
	begin_name(printer, spans, "thread_name", "name");
	t2x_utf8_json(printer->out, spans->name, strlen(spans->name));
	end_name(printer);
}

/* ---- children ----------------------------------------------------------------------------------- */

/* A child that was started; whether it is a process of the trace is known when its process id is. */
struct child {
	struct child *next;
	int64_t id;
	uint64_t start_ns, slice;       /* slice: id of the asynchronous slice */
	uint32_t tid;                   /* of the thread that started it */
};

/* Children of a thread overlap: they are asynchronous, and have an id. */
static void begin_child(struct t2x_printer *printer, const struct t2x_traced *parent, const struct child *child,
			char phase, uint64_t ns)
{
	char name[T2X_MAX_DIGITS + 8] = "child ";

	*t2x_put_int(name + 6, child->id) = '\0';
	t2x_chrome_begin(printer, (struct t2x_chrome_place){ parent->pid, child->tid }, name, "child", phase, ns);
	t2x_json_int(printer->out, "id", (int64_t)child->slice);
}

/* Nothing if there is none. */
static void put_text(struct t2x_out *out, const char *key, const struct t2x_arg *arg)
{
	if (arg->type != TLG_ARG_TEXT || !arg->text)
		return;
	t2x_json_key(out, key);
	t2x_utf8_json(out, arg->text, arg->length);
}

void t2x_chrome_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_chrome *chrome = printer->own;
	struct t2x_traced *process = t2x_traced_of(ev->spans);
	struct child *child = calloc(1, sizeof(*child));

	if (!child)
		return;
	child->id = ev->args[T2X_CHILD_ID].value;
	child->start_ns = ev->ns;
	child->slice = ++chrome->flows;
	child->tid = ev->spans->tid;
	child->next = process->own;
	process->own = child;
	begin_child(printer, process, child, 'b', ev->ns);
	t2x_out_literal(printer->out, ",\"args\":{\"argv\":[");
	for (unsigned i = T2X_CHILD_ARGV; i < ev->nargs; i++) {
		if (i > T2X_CHILD_ARGV)
			t2x_out_char(printer->out, ',');
		t2x_utf8_json(printer->out, ev->args[i].text, ev->args[i].length);
	}
	t2x_out_char(printer->out, ']');
	put_text(printer->out, "hook_name", &ev->args[T2X_CHILD_HOOK]);
	put_text(printer->out, "child_class", &ev->args[T2X_CHILD_CLASS]);
	put_text(printer->out, "cd", &ev->args[T2X_CHILD_DIR]);
	t2x_chrome_put_place(printer->out, ",", ev->scope->file, ev->scope->line);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

/* One end of an arrow. */
static void put_flow(struct t2x_printer *printer, struct t2x_chrome_place place, char phase, uint64_t ns, uint64_t id)
{
	t2x_chrome_begin(printer, place, "child", "child", phase, ns);
	t2x_json_int(printer->out, "id", (int64_t)id);
	if (phase == 'f')
		t2x_out_literal(printer->out, ",\"bp\":\"e\"");
	t2x_chrome_end(printer);
}

static void put_arrow(struct t2x_printer *printer, struct t2x_traced *parent, const struct child *child,
		      struct t2x_traced *process)
{
	struct t2x_chrome *chrome = printer->own;
	uint64_t id = ++chrome->flows;

	put_flow(printer, (struct t2x_chrome_place){ parent->pid, child->tid }, 's', child->start_ns, id);
	put_flow(printer, (struct t2x_chrome_place){ process->pid, 0 }, 'f', process->start_ns, id);
}

/* The child with the event's id leaves the list.  Return  NULL: it is not there */
static struct child *take_child(struct t2x_traced *process, int64_t id)
{
	struct child *child = process->own, *before = NULL;
	unsigned steps = 0;

	while (child && child->id != id && ++steps < LOOKED_AT) {
		before = child;
		child = child->next;
	}
	if (!child || child->id != id)
		return NULL;
	if (before)
		before->next = child->next;
	else
		process->own = child->next;
	return child;
}

/* The process that a child was: it has the process id, and the parent's session id in front of its own. */
static struct t2x_traced *find_process(const struct t2x_chrome *chrome, const struct t2x_traced *parent,
					      int64_t pid)
{
	struct t2x_traced *process = t2x_map_get(&chrome->processes.pids, (uint32_t)pid);

	return process && process->parent && process->parent == parent->sid ? process : NULL;
}

void t2x_chrome_child_end(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_traced *parent = t2x_traced_of(ev->spans);
	struct child *child = take_child(parent, ev->args[T2X_CHILD_ID].value);
	struct t2x_traced *process = find_process(printer->own, parent, ev->args[T2X_CHILD_PID].value);

	if (!child)
		return;
	begin_child(printer, parent, child, 'e', ev->ns);
	t2x_out_literal(printer->out, ",\"args\":{\"pid\":");
	t2x_out_int(printer->out, ev->args[T2X_CHILD_PID].value);
	if (ev->style == TLG_STYLE_child_exit) {
		t2x_out_literal(printer->out, ",\"code\":");
		t2x_out_int(printer->out, ev->args[T2X_CHILD_CODE].value);
	}
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
	if (process)
		put_arrow(printer, parent, child, process);
	free(child);
}

/* Of a process that is forgotten; no arrow leads to them. */
void t2x_chrome_forget_children(struct t2x_processes *processes, struct t2x_traced *process)
{
	(void)processes;
	while (process->own) {
		struct child *child = process->own;

		process->own = child->next;
		free(child);
	}
}

/* Its process id is not known: it is the first process of this parent that began behind it, if there is one. */
static void guess_arrow(struct t2x_printer *printer, struct t2x_traced *parent, const struct child *child)
{
	const struct t2x_map *processes = &((struct t2x_chrome *)printer->own)->processes.spans.processes;
	struct t2x_traced *first = NULL;

	for (uint32_t i = 0; i < t2x_map_slots(processes); i++) {
		const struct t2x_spans_process *at = t2x_map_at(processes, i);
		struct t2x_traced *process = at ? at->own : NULL;
		if (process && process->parent && process->parent == parent->sid &&
		    process->start_ns >= child->start_ns && (!first || process->start_ns < first->start_ns))
			first = process;
	}
	if (first)
		put_arrow(printer, parent, child, first);
}

void t2x_chrome_finish_children(struct t2x_printer *printer)
{
	const struct t2x_map *processes = &((struct t2x_chrome *)printer->own)->processes.spans.processes;
	unsigned guesses = 0;

	for (uint32_t i = 0; i < t2x_map_slots(processes); i++) {
		const struct t2x_spans_process *at = t2x_map_at(processes, i);
		struct t2x_traced *process = at ? at->own : NULL;
		struct child *child;

		while (process && (child = process->own)) {
			process->own = child->next;
			if (guesses++ < GUESSED)
				guess_arrow(printer, process, child);
			free(child);
		}
	}
}

/* SPDX-License-Identifier: MIT */
/* t2x_processes.c - see t2x_processes.h. */
#include "t2x_processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_report.h"
#include "text/t2x_utf8.h"

const struct t2x_frame t2x_thread_frame = { .category = "trace2", .label = "thread", .file = "" };

static struct t2x_processes *processes_of(struct t2x_spans_table *table)
{
	return (struct t2x_processes *)(void *)table;   /* it is the first that they have */
}

/* ---- frames ------------------------------------------------------------------------------------- */

/* Of frames that are not const the processes are the owner. */
static void mark_frames(const struct t2x_spans *spans)
{
	for (uint32_t i = 0; i < spans->open; i++) {
		struct t2x_frame *frame = spans->spans[i].own;

		if (frame && frame->number)
			frame->is_used = 1;
	}
}

/* Next time when there are twice as many bytes: so what it costs is in proportion to the names that come. */
static __attribute__((noinline)) void forget_frames(struct t2x_processes *processes)
{
	for (const struct t2x_spans *spans = processes->spans.oldest; spans; spans = spans->newer)
		mark_frames(spans);
	t2x_frames_forget_unused(&processes->frames);
	processes->frames_next = 2 * processes->frames.bytes;
}

const struct t2x_frame *t2x_processes_frame(struct t2x_processes *processes, const struct t2x_scope *scope)
{
	struct t2x_frames *frames = &processes->frames;

	if (__builtin_expect(frames->bytes > T2X_FRAMES_BYTES / 2, 0) && processes->forgets_frames &&
	    frames->bytes + frames->refused > processes->frames_next)
		forget_frames(processes);
	return t2x_frames_of(frames, scope);
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Who had this session id first. */
static struct t2x_traced *find_sid(const struct t2x_processes *processes, uint64_t sid)
{
	struct t2x_traced *first = sid ? t2x_map_get(&processes->sids, (uint32_t)sid) : NULL;

	return first && first->sid == sid ? first : NULL;
}

/* Whether a process goes on from another one: only a forked child counts its time from the start of its parent. */
static int is_fork_of(const struct t2x_traced *other, const struct t2x_process *process)
{
	return process->start_ticks && other->start_ticks == process->start_ticks && other->pid != process->pid;
}

/* Of a known session id: a fork has the name of its parent, a later file of a process that of the process. */
static void inherit_name(struct t2x_processes *processes, struct t2x_traced *known, const struct t2x_process *process)
{
	struct t2x_traced *from = find_sid(processes, known->sid);

	if (!from) {
		if (known->sid)
			t2x_map_put(&processes->sids, (uint32_t)known->sid, known);
		from = find_sid(processes, known->parent);
		if (!from || !is_fork_of(from, process))
			return;
	}
	if (from == known)
		return;
	known->is_fork = from->is_fork || from->pid != process->pid;
	if (!known->name && from->name)
		known->name = strdup(from->name);
}

int t2x_processes_name(struct t2x_traced *process, const struct t2x_event *ev)
{
	const struct t2x_arg *name = ev->style == TLG_STYLE_start && ev->nargs ? &ev->args[0] :
				     ev->style == TLG_STYLE_cmd_name ? &ev->args[T2X_NAME_OWN] : NULL;
	size_t at = name && name->text ? name->length : 0;
	char *copy;

	while (at && name->text[at - 1] != '/')
		at--;
	copy = name && name->text && at < name->length ? strndup(name->text + at, name->length - at) : NULL;
	if (!copy)
		return 0;
	free(process->name);
	process->name = copy;
	return 1;
}

void t2x_processes_print_name(struct t2x_out *out, const struct t2x_traced *process)
{
	static const char mark[] = " [fork]";
	const char *name = process->name ? process->name : "";
	size_t n = strlen(name);
	char *marked = process->is_fork && process->name ? malloc(n + sizeof(mark)) : NULL;

	if (!marked) {
		t2x_utf8_json(out, name, n);
		return;
	}
	memcpy(marked, name, n);
	memcpy(marked + n, mark, sizeof(mark));
	t2x_utf8_json(out, marked, n + sizeof(mark) - 1);
	free(marked);
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Its own hash and that of its parent. */
static void learn_sid(struct t2x_traced *known, const struct t2x_process *process)
{
	const char *slash = strrchr(process->sid, '/');
	uint64_t seed = t2x_index_seed();

	known->start_ticks = process->start_ticks;
	known->sid = *process->sid ? t2x_index_hash(seed, process->sid, strlen(process->sid)) : 0;
	known->parent = slash ? t2x_index_hash(seed, process->sid, (size_t)(slash - process->sid)) : 0;
}

static struct t2x_traced *add_process(struct t2x_processes *processes, const struct t2x_event *ev)
{
	const struct t2x_process *process = ev->thread->process;
	struct t2x_traced *known = calloc(1, sizeof(*known));

	if (!known)
		return NULL;
	known->order = ++processes->count;
	known->start_ns = process->start_ns ? process->start_ns : ev->ns;
	known->pid = process->pid;
	if (t2x_map_get(&processes->pids, known->pid))
		known->pid = T2X_PROCESSES_FREE_PID + known->order;
	t2x_map_put(&processes->pids, known->pid, known);
	return known;
}

/* The thread's own level gets its frame when the thread is new. */
static void give_frame(struct t2x_spans *spans)
{
	if (spans->open && spans->spans[0].is_seen && !spans->spans[0].own)
		spans->spans[0].own = (void *)(uintptr_t)&t2x_thread_frame;
}

static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	struct t2x_processes *processes = processes_of(table);
	const struct t2x_process *process = ev->thread->process;
	const int is_new = !spans->process->own;

	if (is_new)
		spans->process->own = add_process(processes, ev);
	if (!spans->process->own)
		return 0;
	if (is_new || spans->process->number != process->number) {
		learn_sid(spans->process->own, process);
		inherit_name(processes, spans->process->own, process);
	}
	give_frame(spans);
	return !processes->meet_thread || processes->meet_thread(table, spans, ev, is_renamed);
}

static void remove_from(struct t2x_map *map, uint32_t key, const struct t2x_traced *process)
{
	if (t2x_map_get(map, key) == process)
		t2x_map_remove(map, key);
}

static void forget_process(struct t2x_spans_table *table, struct t2x_spans_process *process)
{
	struct t2x_processes *processes = processes_of(table);
	struct t2x_traced *known = process->own;

	if (!known)
		return;
	if (processes->forget_process)
		processes->forget_process(processes, known);
	remove_from(&processes->pids, known->pid, known);
	remove_from(&processes->sids, (uint32_t)known->sid, known);
	free(known->name);
	free(known);
}

void t2x_processes_begin(struct t2x_processes *processes, struct t2x_printer *printer)
{
	processes->spans.meet_thread = meet_thread;
	processes->spans.forget_process = forget_process;
	t2x_spans_begin(&processes->spans, printer);
}

void t2x_processes_report(const struct t2x_processes *processes)
{
	if (processes->forgets_frames && processes->frames.others)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, "names",
				"no room for those of all regions that are open: others are 'other names', %" PRIu64
				" times", processes->frames.others);
	t2x_spans_report(&processes->spans);
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* A process that this part has not had. */
static struct t2x_spans_process *join_process(struct t2x_processes *to, const struct t2x_spans_process *theirs)
{
	const struct t2x_traced *known = theirs->own;
	struct t2x_spans_process *process;
	struct t2x_traced *copy;

	/* which of two has the number of the other one depends on who comes first */
	if (known->pid >= T2X_PROCESSES_FREE_PID || t2x_map_get(&to->pids, known->pid))
		return NULL;
	process = t2x_spans_join_process(&to->spans, theirs->stream);
	copy = process ? malloc(sizeof(*copy)) : NULL;
	if (!copy)
		return NULL;
	*copy = *known;
	copy->name = NULL;
	copy->order = ++to->count;
	process->own = copy;
	process->number = theirs->number;
	return t2x_map_put(&to->pids, copy->pid, copy) ? NULL : process;
}

static void *join_frame(struct t2x_spans_table *table, const struct t2x_span *span)
{
	return (void *)(uintptr_t)t2x_frames_join(&processes_of(table)->frames, span->own);
}

static int join_thread(struct t2x_processes *to, struct t2x_spans_process *process, const struct t2x_spans *theirs)
{
	struct t2x_spans *ours = t2x_map_get(&process->threads, theirs->tid);

	if (!ours)
		ours = t2x_spans_join_thread(&to->spans, process, theirs);
	if (ours)
		give_frame(ours);
	return ours && t2x_spans_join(&to->spans, ours, theirs, join_frame);
}

int t2x_processes_join(struct t2x_processes *to, struct t2x_processes *from)
{
	if (to->spans.forgotten || from->spans.forgotten ||
	    to->spans.nthreads + from->spans.nthreads > T2X_SPANS_THREADS)
		return 0;               /* who is forgotten when depends on all that comes in front */
	for (uint32_t i = 0; i < t2x_map_slots(&from->spans.processes); i++) {
		const struct t2x_spans_process *theirs = t2x_map_at(&from->spans.processes, i);
		struct t2x_spans_process *ours = theirs ? t2x_map_get(&to->spans.processes, theirs->stream) : NULL;

		if (theirs && !ours)
			ours = join_process(to, theirs);
		if (theirs && (!ours || ((struct t2x_traced *)ours->own)->pid !=
					((const struct t2x_traced *)theirs->own)->pid))
			return 0;
		if (theirs)
			ours->is_over |= theirs->is_over;
		for (uint32_t j = 0; theirs && j < t2x_map_slots(&theirs->threads); j++) {
			const struct t2x_spans *spans = t2x_map_at(&theirs->threads, j);

			if (spans && !join_thread(to, ours, spans))
				return 0;
		}
	}
	return 1;
}

void t2x_processes_free(struct t2x_processes *processes)
{
	t2x_spans_free(&processes->spans);
	t2x_map_free(&processes->pids);
	t2x_map_free(&processes->sids);
	t2x_frames_free(&processes->frames);
}

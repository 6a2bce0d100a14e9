/* SPDX-License-Identifier: MIT */
/* t2x_git_process.c - see t2x_git_process.h. */
#include "t2x_git_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_git_times.h"
#include "base/t2x_hash.h"
#include "base/t2x_map.h"
#include "base/t2x_memory.h"

enum {
	MAX_OPEN = 4096,                  /* regions whose enters are known; deeper ones have no t_rel of their own */
	/* A mark promises that nothing older follows; `time' lags behind t_abs by less than that. */
	MARK_LAG_US = 1000000,
};
#define PID_PREFIX "-P"

/* A line that waits, with its texts behind it. */
struct waiting {
	struct waiting *next;             /* of the process, in its order */
	struct waiting *next_of_thread;
	struct t2x_git_line line;
	struct thread *thread;
	struct waiting *enter;            /* of a leave, and of data in a region: the line that entered it */
	int64_t us;                       /* about when it was written; its place among those of the thread; result */
	int64_t enter_us;                 /* of a leave whose enter has been written: when that was */
};

/* A region that is open: its enter waits, or was written at that time. */
struct open_region {
	struct waiting *enter;
	int64_t us;
};

struct thread {
	struct thread *next;
	struct thread *next_of_hash;      /* another one whose name has the same hash */
	uint32_t tid;
	int is_started;                   /* the stream knows it */
	struct waiting *start;            /* thread_start, while it waits */
	int64_t start_us;                 /* when it is known; T2X_GIT_UNKNOWN_US */
	int64_t earliest_us;              /* of its last written event */
	unsigned nopen, max_open;
	struct open_region *open;
	struct waiting *first, **last;    /* lines that wait */
	size_t waiting;                   /* how many */
	size_t name_bytes;
	char name[];
};

struct t2x_git_process {
	struct t2x_raw_trace *trace;
	uint64_t number;
	struct t2x_raw_stream *stream;    /* NULL: nothing has been written */
	struct thread *threads;           /* the newest first */
	struct t2x_map by_name;           /* threads, by the hash of their names */
	struct waiting *first, **last;
	size_t bytes, sid_bytes;
	int64_t start_us;                 /* zero of t_abs; T2X_GIT_UNKNOWN_US */
	int64_t first_us;                 /* the first `time' */
	int64_t estimate_us;              /* about when the last line was written; T2X_GIT_UNKNOWN_US */
	int has_ended;
	char sid[];
};

/* ---- copies of lines ---------------------------------------------------------------------------- */

static size_t texts_bytes(const struct t2x_git_line *line)
{
	size_t n = line->file.length + line->category.length + line->label.length + line->format.length +
		   line->last.length;

	for (unsigned i = 0; i < line->nargs; i++)
		n += line->args[i].text.length;
	return n;
}

static void move_text(struct t2x_git_text *text, char **to)
{
	if (!text->at)
		return;
	memcpy(*to, text->at, text->length);
	text->at = *to;
	*to += text->length;
}

/* Return  NULL: no memory */
static struct waiting *copy_line(const struct t2x_git_line *line, size_t *bytes)
{
	struct waiting *waiting;
	struct t2x_git_arg *args;
	char *to;

	*bytes = sizeof(*waiting) + line->nargs * sizeof(*args) + texts_bytes(line);
	waiting = t2x_malloc(*bytes);
	if (!waiting)
		return NULL;
	*waiting = (struct waiting){ .line = *line };
	args = (struct t2x_git_arg *)(waiting + 1);
	to = (char *)(args + line->nargs);
	if (line->nargs)
		memcpy(args, line->args, line->nargs * sizeof(*args));
	waiting->line.args = args;
	move_text(&waiting->line.file, &to);
	move_text(&waiting->line.category, &to);
	move_text(&waiting->line.label, &to);
	move_text(&waiting->line.format, &to);
	move_text(&waiting->line.last, &to);
	for (unsigned i = 0; i < line->nargs; i++)
		move_text(&args[i].text, &to);
	return waiting;
}

/* ---- processes ---------------------------------------------------------------------------------- */

struct t2x_git_process *t2x_git_process_new(struct t2x_raw_trace *trace, const struct t2x_git_text *sid,
					    uint64_t number)
{
	struct t2x_git_process *process = t2x_calloc(1, sizeof(*process) + sid->length + 1);

	if (!process)
		return NULL;
	process->trace = trace;
	process->number = number;
	process->last = &process->first;
	process->start_us = process->first_us = process->estimate_us = T2X_GIT_UNKNOWN_US;
	process->sid_bytes = sid->length;
	memcpy(process->sid, sid->at, sid->length);
	return process;
}

size_t t2x_git_process_bytes(const struct t2x_git_process *process)
{
	return process->bytes;
}

int t2x_git_process_has_ended(const struct t2x_git_process *process)
{
	return process->has_ended;
}

int t2x_git_process_is(const struct t2x_git_process *process, const struct t2x_git_text *sid)
{
	return process->sid_bytes == sid->length && !memcmp(process->sid, sid->at, sid->length);
}

/* Return  NULL: no memory */
static struct thread *add_thread(struct t2x_git_process *process, const struct t2x_git_text *name, uint32_t hash)
{
	struct thread *thread = t2x_calloc(1, sizeof(*thread) + name->length);

	if (!thread)
		return NULL;
	thread->next_of_hash = t2x_map_get(&process->by_name, hash);
	if (t2x_map_put(&process->by_name, hash, thread)) {
		t2x_free(thread);
		return NULL;
	}
	thread->next = process->threads;
	process->threads = thread;
	thread->last = &thread->first;
	thread->start_us = thread->earliest_us = T2X_GIT_UNKNOWN_US;
	thread->name_bytes = name->length;
	memcpy(thread->name, name->at, name->length);
	return thread;
}

/* Return  NULL: no memory */
static struct thread *find_thread(struct t2x_git_process *process, const struct t2x_git_text *name)
{
	const uint32_t hash = t2x_hash(t2x_hash_seed(process), name->at, name->length);
	struct thread *thread = t2x_map_get(&process->by_name, hash);

	for (; thread; thread = thread->next_of_hash)
		if (thread->name_bytes == name->length && !memcmp(thread->name, name->at, name->length))
			return thread;
	return add_thread(process, name, hash);
}

/* ---- regions ------------------------------------------------------------------------------------ */

static int push_region(struct thread *thread, struct waiting *enter)
{
	if (thread->nopen == thread->max_open && thread->max_open < MAX_OPEN) {
		unsigned max = thread->max_open ? 2 * thread->max_open : 16;
		struct open_region *larger = t2x_realloc(thread->open, max * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		thread->open = larger;
		thread->max_open = max;
	}
	if (thread->nopen < thread->max_open)
		thread->open[thread->nopen] = (struct open_region){ .enter = enter };
	thread->nopen++;
	return 0;
}

/* The innermost open region; NULL: there is none, or it is not known. */
static struct open_region *innermost(struct thread *thread)
{
	return thread->nopen && thread->nopen <= thread->max_open ? &thread->open[thread->nopen - 1] : NULL;
}

/* Data says when the region around it, or its thread, began. */
static void learn_from_data(struct thread *thread, const struct t2x_git_line *line)
{
	struct open_region *region = innermost(thread);
	int64_t before_us;

	if (line->abs_us == T2X_GIT_NO_TIME || line->rel_us == T2X_GIT_NO_TIME)
		return;
	before_us = line->abs_us - line->rel_us;
	if (region && region->enter)
		region->enter->line.abs_us = before_us;
	else if (!thread->nopen && thread->start)
		thread->start->line.abs_us = before_us;
	else if (!thread->nopen && thread->start_us == T2X_GIT_UNKNOWN_US)
		thread->start_us = before_us;
}

/* Follow the regions.  Return  0 or -ENOMEM */
static int follow(struct thread *thread, struct waiting *waiting)
{
	struct open_region *region = innermost(thread);

	switch (waiting->line.style) {
	case TLG_STYLE_region_enter:
		return push_region(thread, waiting);
	case TLG_STYLE_region_leave:
		if (region) {
			waiting->enter = region->enter;
			waiting->enter_us = region->us;
		}
		thread->nopen -= thread->nopen > 0;
		break;
	case TLG_STYLE_data:
	case TLG_STYLE_data_json:
		learn_from_data(thread, &waiting->line);
		break;
	case TLG_STYLE_thread_start:
		thread->start = waiting;
		break;
	case TLG_STYLE_thread_exit:
		waiting->enter = thread->start;
		break;
	default:
		break;
	}
	if (tlg_style_unwinds(waiting->line.style))
		thread->nopen = 0;
	return 0;
}

int t2x_git_process_add(struct t2x_git_process *process, const struct t2x_git_line *line)
{
	struct thread *thread = find_thread(process, &line->thread);
	size_t bytes;
	struct waiting *waiting = thread ? copy_line(line, &bytes) : NULL;

	if (!waiting)
		return -ENOMEM;
	waiting->thread = thread;
	if (follow(thread, waiting)) {
		t2x_free(waiting);
		return -ENOMEM;
	}
	thread->waiting++;
	*thread->last = waiting;
	thread->last = &waiting->next_of_thread;
	*process->last = waiting;
	process->last = &waiting->next;
	process->bytes += bytes;
	if (line->time_us != T2X_GIT_NO_TIME) {
		if (process->first_us == T2X_GIT_UNKNOWN_US)
			process->first_us = line->time_us;
		if (process->start_us == T2X_GIT_UNKNOWN_US && line->abs_us != T2X_GIT_NO_TIME)
			process->start_us = line->time_us - line->abs_us;
	}
	process->has_ended |= line->style == TLG_STYLE_atexit || line->style == TLG_STYLE_signal;
	return 0;
}

/* ---- times -------------------------------------------------------------------------------------- */

static int64_t known_time(const struct t2x_git_process *process, const struct waiting *waiting)
{
	const struct t2x_git_line *line = &waiting->line;

	if (line->style == TLG_STYLE_region_leave && !waiting->enter && waiting->enter_us &&
	    line->rel_us != T2X_GIT_NO_TIME)
		return waiting->enter_us + line->rel_us;
	if (line->style == TLG_STYLE_thread_exit && !waiting->enter && line->rel_us != T2X_GIT_NO_TIME &&
	    waiting->thread->start_us != T2X_GIT_UNKNOWN_US)
		return process->start_us + waiting->thread->start_us + line->rel_us;
	return line->abs_us == T2X_GIT_NO_TIME ? T2X_GIT_UNKNOWN_US : process->start_us + line->abs_us;
}

/* A time that the format has, whatever the lines say: 0 would be a step. */
static int64_t within(int64_t us)
{
	return us < 1 ? 1 : us > INT64_MAX / 4 ? INT64_MAX / 4 : us;
}

/* About when each line was written: lines of all threads come in that order. */
static void estimate_times(struct t2x_git_process *process)
{
	int64_t us = process->estimate_us == T2X_GIT_UNKNOWN_US ? process->start_us : process->estimate_us;

	for (struct waiting *waiting = process->first; waiting; waiting = waiting->next) {
		const struct t2x_git_line *line = &waiting->line;
		if (line->time_us != T2X_GIT_NO_TIME)
			us = line->time_us;
		else if (line->abs_us != T2X_GIT_NO_TIME && process->start_us + line->abs_us > us)
			us = process->start_us + line->abs_us;
		waiting->us = us;
	}
	process->estimate_us = us;
}

/* Return  -ENOMEM, or 0: all lines of the thread that wait have their times */
static int find_times(struct t2x_git_process *process, struct thread *thread)
{
	struct t2x_git_moment *moments = t2x_calloc(thread->waiting + 1, sizeof(*moments));
	size_t n = 0;

	if (!moments)
		return -ENOMEM;
	for (struct waiting *waiting = thread->first; waiting; waiting = waiting->next_of_thread) {
		moments[n] = (struct t2x_git_moment){
			.known_us = known_time(process, waiting), .estimate_us = waiting->us,
			.rel_us = waiting->line.rel_us, .enter = T2X_GIT_NO_ENTER,
		};
		if (waiting->enter && waiting->line.rel_us != T2X_GIT_NO_TIME)
			moments[n].enter = (int32_t)waiting->enter->us;
		waiting->us = (int64_t)n++;   /* its place, until the times are known */
	}
	t2x_git_times_find(moments, n, thread->earliest_us == T2X_GIT_UNKNOWN_US ? INT64_MIN : thread->earliest_us);
	for (struct waiting *waiting = thread->first; waiting; waiting = waiting->next_of_thread)
		waiting->us = within(moments[waiting->us].us);
	t2x_free(moments);
	return 0;
}

/* When the thread began: by its thread_start, by data, by its thread_exit; else with its first event. */
static int64_t start_of(const struct t2x_git_process *process, const struct thread *thread)
{
	if (thread->start)
		return thread->start->us;
	if (thread->start_us != T2X_GIT_UNKNOWN_US)
		return process->start_us + thread->start_us;
	for (const struct waiting *waiting = thread->first; waiting; waiting = waiting->next_of_thread)
		if (waiting->line.style == TLG_STYLE_thread_exit && waiting->line.rel_us != T2X_GIT_NO_TIME)
			return waiting->us - waiting->line.rel_us;
	return thread->first->us;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* "20261123T233203.123456Z-H0a7c9cdf-P00001f2c", the last component of the session id, ends with the process id. */
static uint32_t pid_of(const struct t2x_git_process *process)
{
	const char *pid = strrchr(process->sid, '-');

	return pid && !strncmp(pid, PID_PREFIX, sizeof(PID_PREFIX) - 1) ? (uint32_t)strtoul(pid + 2, NULL, 16) : 0;
}

static int begin_stream(struct t2x_git_process *process)
{
	if (process->start_us == T2X_GIT_UNKNOWN_US)
		process->start_us = process->first_us == T2X_GIT_UNKNOWN_US ? 0 : process->first_us;
	if (!process->stream)
		process->stream = t2x_raw_stream_new(process->trace, process->sid, process->sid_bytes, pid_of(process),
						     process->number, (uint64_t)process->start_us);
	return process->stream ? 0 : -ENOMEM;
}

static int begin_thread(struct t2x_git_process *process, struct thread *thread)
{
	thread->tid = t2x_raw_stream_thread(process->stream, thread->name, thread->name_bytes,
					    (uint64_t)start_of(process, thread));
	thread->is_started = thread->tid != TLG_NO_THREAD;
	return thread->is_started ? 0 : -ENOMEM;
}

/* Those that are still open have been written, so their lines are gone soon. */
static void keep_regions(struct thread *thread)
{
	for (unsigned i = 0; i < thread->nopen && i < thread->max_open; i++) {
		struct open_region *region = &thread->open[i];
		if (region->enter)
			*region = (struct open_region){ .us = region->enter->us };
	}
	if (thread->start)
		thread->start_us = thread->start->line.abs_us == T2X_GIT_NO_TIME ? T2X_GIT_UNKNOWN_US :
				   thread->start->line.abs_us;
	thread->start = NULL;
	thread->first = NULL;
	thread->last = &thread->first;
	thread->waiting = 0;
}

static int write_line(struct t2x_git_process *process, struct waiting *waiting)
{
	const struct t2x_git_line *line = &waiting->line;
	struct thread *thread = waiting->thread;
	int64_t start_us = line->rel_us == T2X_GIT_NO_TIME ? 0 : waiting->us - line->rel_us;
	int error = thread->is_started ? 0 : begin_thread(process, thread);

	if (error)
		return error;
	thread->earliest_us = waiting->us;
	return t2x_raw_stream_append(process->stream, thread->tid, line, (uint64_t)waiting->us,
				     line->time_us == T2X_GIT_NO_TIME ? 0 : line->time_us - waiting->us,
				     (uint64_t)start_us);
}

static void free_lines(struct t2x_git_process *process)
{
	while (process->first) {
		struct waiting *next = process->first->next;
		t2x_free(process->first);
		process->first = next;
	}
	process->last = &process->first;
	process->bytes = 0;
}

int t2x_git_process_write(struct t2x_git_process *process, int goes_on)
{
	int error = process->first ? begin_stream(process) : 0;
	int64_t earliest_us = INT64_MAX;

	if (!error)
		estimate_times(process);
	for (struct thread *thread = process->threads; thread && !error; thread = thread->next)
		error = thread->waiting ? find_times(process, thread) : 0;
	for (struct waiting *waiting = process->first; waiting && !error; waiting = waiting->next)
		error = write_line(process, waiting);
	for (struct thread *thread = process->threads; thread; thread = thread->next) {
		keep_regions(thread);
		if (thread->earliest_us < earliest_us && thread->earliest_us != T2X_GIT_UNKNOWN_US)
			earliest_us = thread->earliest_us;
	}
	if (process->stream && earliest_us != INT64_MAX)
		t2x_raw_stream_mark(process->stream,
				    earliest_us > MARK_LAG_US ? (uint64_t)earliest_us - MARK_LAG_US : 0);
	if (process->stream && goes_on)
		t2x_raw_stream_flush(process->stream);
	free_lines(process);
	return error;
}

void t2x_git_process_free(struct t2x_git_process *process)
{
	if (process->first)
		t2x_git_process_write(process, 0);
	if (process->stream)
		t2x_raw_stream_end(process->stream, process->has_ended);
	while (process->threads) {
		struct thread *next = process->threads->next;
		t2x_free(process->threads->open);
		t2x_free(process->threads);
		process->threads = next;
	}
	t2x_map_free(&process->by_name);
	t2x_free(process);
}

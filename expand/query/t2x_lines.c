/* SPDX-License-Identifier: MIT */
/*
 * t2x_lines.c - see t2x_lines.h.
 *
 * The writer behind prints each event to a buffer of the stage.  The buffer then has the text of the event, mostly one
 * line.
 */
#include "t2x_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_map.h"
#include "t2x_last.h"
#include "text/t2x_formats.h"

enum {
	PROGRAM_BYTES = 16,               /* of the column */
	PID_BYTES = 7,
	PROGRAMS_MAX = 65536,             /* whose names are remembered */
	PARENTS_MAX = 4096,               /* of so many slots the process that a fork came from is looked for */
};

/* Where a name is from: the better one stays. */
enum rank { NO_NAME, OWN_NAME, PATH_NAME, ARGV_NAME };

struct program {
	uint64_t start_ticks;             /* a forked child has its parent's */
	enum rank rank;
	char name[PROGRAM_BYTES];         /* with blanks behind it */
};

struct stage {
	struct t2x_printer behind;        /* the writer's */
	const struct t2x_writer *writer;
	t2x_print_fn *print[TLG_STYLE_COUNT];
	struct t2x_out out;               /* where it prints to, which ends up in: */
	char *text;
	size_t n, max;
	int error;
	unsigned columns;
	struct t2x_map programs;          /* by stream */
	struct t2x_last last;             /* max 0: every event is shown */
};

/* ---- programs ----------------------------------------------------------------------------------- */

static struct program unknown = { .name = "?               " };

/* A fork goes on in the program of its parent, and says no more which one that is. */
static void inherit(const struct stage *stage, struct program *program)
{
	uint32_t n = t2x_map_slots(&stage->programs);

	for (uint32_t i = 0; i < n && i < PARENTS_MAX; i++) {
		const struct program *parent = t2x_map_at(&stage->programs, i);
		if (parent && program->start_ticks && parent->start_ticks == program->start_ticks)
			memcpy(program->name, parent->name, sizeof(program->name));
	}
}

/* Return  &unknown: there is no room */
static struct program *find_program(struct stage *stage, const struct t2x_process *process)
{
	struct program *program = t2x_map_get(&stage->programs, process->stream);

	if (program || stage->programs.count >= PROGRAMS_MAX)
		return program ? program : &unknown;
	program = malloc(sizeof(*program));
	if (!program)
		return &unknown;
	*program = unknown;
	program->start_ticks = process->start_ticks;
	inherit(stage, program);
	if (!t2x_map_put(&stage->programs, process->stream, program))
		return program;
	free(program);
	return &unknown;
}

/* The last part of a path.  Control characters would break the line. */
static void name_program(struct program *program, const struct t2x_arg *path, enum rank rank)
{
	size_t from = path->length, n;

	while (from && path->text[from - 1] != '/')
		from--;
	n = path->length - from;
	if (program == &unknown || program->rank >= rank || !n)
		return;
	program->rank = rank;
	memset(program->name, ' ', sizeof(program->name));
	for (size_t i = 0; i < n && i < sizeof(program->name); i++) {
		unsigned char c = (unsigned char)path->text[from + i];
		program->name[i] = (char)(c < ' ' || c >= 0x7f ? '?' : c);
	}
}

static void learn_program(struct program *program, const struct t2x_event *ev)
{
	if (!ev->scope)
		return;
	if (ev->style == TLG_STYLE_start && ev->nargs)
		name_program(program, &ev->args[0], ARGV_NAME);
	else if (ev->style == TLG_STYLE_cmd_path)
		name_program(program, &ev->args[0], PATH_NAME);
	else if (ev->style == TLG_STYLE_cmd_name)
		name_program(program, &ev->args[T2X_NAME_OWN], OWN_NAME);
}

/* ---- columns ------------------------------------------------------------------------------------ */

/* "   4711 | program          | " */
static void put_columns(struct stage *stage, const struct t2x_event *ev)
{
	const struct t2x_process *process = ev->thread->process;
	struct t2x_out *out = &stage->out;
	char digits[T2X_MAX_DIGITS];
	size_t n = (size_t)(t2x_put_uint(digits, process->pid) - digits);

	if (stage->columns & T2X_LINES_PID) {
		t2x_out_repeat(out, ' ', n < PID_BYTES ? PID_BYTES - n : 0);
		t2x_out_bytes(out, digits, n);
		t2x_out_literal(out, " | ");
	}
	if (stage->columns & T2X_LINES_PROGRAM) {
		struct program *program = find_program(stage, process);

		learn_program(program, ev);
		t2x_out_bytes(out, program->name, sizeof(program->name));
		t2x_out_literal(out, " | ");
	}
}

/* ---- events ------------------------------------------------------------------------------------- */

/* A t2x_write_fn. */
static int take_text(void *target, const char *text, size_t n)
{
	struct stage *stage = target;
	size_t max = stage->max ? stage->max : 4096;
	char *room;

	while (max - stage->n < n)
		max *= 2;
	room = max > stage->max ? realloc(stage->text, max) : stage->text;
	if (!room) {
		stage->error = ENOMEM;
		return 0;
	}
	stage->text = room;
	stage->max = max;
	memcpy(room + stage->n, text, n);
	stage->n += n;
	return 0;
}

static void hand_on(struct stage *stage, struct t2x_out *out, const struct t2x_thread *thread)
{
	if (stage->last.max && t2x_last_add(&stage->last, thread, stage->text, stage->n))
		stage->error = ENOMEM;
	if (!stage->last.max) {
		t2x_out_bytes(out, stage->text, stage->n);
		t2x_out_end_line(out);
	}
	if (stage->error && !out->error)
		out->error = stage->error;
}

static void print(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct stage *stage = printer->own;
	t2x_print_fn *fn = ev->scope ? stage->print[ev->style] : stage->writer->unresolved;
	size_t columns;

	stage->n = 0;
	put_columns(stage, ev);
	columns = (size_t)(stage->out.pos - stage->out.buf);
	if (fn)
		fn(&stage->behind, ev);
	if (stage->n || (size_t)(stage->out.pos - stage->out.buf) > columns) {
		t2x_out_flush(&stage->out);
		hand_on(stage, printer->out, ev->thread);
	}
	stage->out.pos = stage->out.line = stage->out.buf;     /* it was shown, or has nothing but columns */
	if (stage->last.max && ev->style == TLG_STYLE_thread_exit)
		t2x_last_end_thread(&stage->last, ev->thread);
}

/* ---- the writer --------------------------------------------------------------------------------- */

static int begin(struct t2x_printer *printer, const struct t2x_writer *writer)
{
	const char *columns = t2x_option(&printer->options, T2X_OPTION_columns);
	const char *last = t2x_option(&printer->options, T2X_OPTION_last);
	struct stage *stage = calloc(1, sizeof(*stage));

	if (!stage || t2x_out_init_fn(&stage->out, take_text, stage)) {
		free(stage);
		return -ENOMEM;
	}
	stage->behind = *printer;
	stage->behind.out = &stage->out;
	stage->writer = writer;
	stage->columns = columns ? t2x_lines_columns(columns) : 0;
	t2x_last_init(&stage->last, last ? (unsigned)strtoul(last, NULL, 10) : 0);
#define TLG_STYLE(id, name, args, desc) stage->print[id] = writer->print.name;
#include "tlg_styles.def"
#undef TLG_STYLE
	printer->own = stage;
	return 0;
}

static void finish(struct t2x_printer *printer)
{
	struct stage *stage = printer->own;

	t2x_last_put(&stage->last, printer->out);
	t2x_last_free(&stage->last);
	for (uint32_t i = 0; i < t2x_map_slots(&stage->programs); i++)
		free(t2x_map_at(&stage->programs, i));
	t2x_map_free(&stage->programs);
	t2x_out_free(&stage->out);
	free(stage->text);
	free(stage);
	printer->own = NULL;
}

/* All of these print what they have to say with an event: they have neither begin() nor finish(). */
static int begin_normal(struct t2x_printer *printer)
{
	return begin(printer, &t2x_writer_normal);
}

static int begin_perf(struct t2x_printer *printer)
{
	return begin(printer, &t2x_writer_perf);
}

static int begin_event(struct t2x_printer *printer)
{
	return begin(printer, &t2x_writer_event);
}

#define TLG_STYLE(id, kind, args, desc) .kind = print,
static const struct t2x_writer stages[] = {
	{ .begin = begin_normal, .finish = finish, .unresolved = print, .print = {
#include "tlg_styles.def"
	} },
	{ .begin = begin_perf, .finish = finish, .unresolved = print, .print = {
#include "tlg_styles.def"
	} },
	{ .begin = begin_event, .finish = finish, .unresolved = print, .print = {
#include "tlg_styles.def"
	} },
};
#undef TLG_STYLE

const struct t2x_writer *t2x_lines_writer(const struct t2x_writer *writer, const struct t2x_options *options)
{
	static const struct t2x_writer *const writers[] = { &t2x_writer_normal, &t2x_writer_perf, &t2x_writer_event };

	if (!t2x_option(options, T2X_OPTION_columns) && !t2x_option(options, T2X_OPTION_last))
		return writer;
	for (unsigned i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (writer == writers[i])
			return &stages[i];
	return writer;
}

unsigned t2x_lines_columns(const char *text)
{
	static const char *const words[] = { "pid", "program" };
	unsigned columns = 0;

	while (*text) {
		size_t n = strcspn(text, ",");
		unsigned i = 0;

		while (i < 2 && (strlen(words[i]) != n || strncmp(text, words[i], n)))
			i++;
		if (i == 2)
			return 0;
		columns |= 1U << i;
		text += n + (text[n] == ',');
	}
	return columns;
}

/* SPDX-License-Identifier: MIT */
/* t2x_perf.c - git's perf target: columns, for people and for tables. */
#include "t2x_columns.h"
#include "t2x_text.h"

enum { ABSOLUTE = T2X_COLUMNS_ABSOLUTE, RELATIVE = T2X_COLUMNS_RELATIVE };

/* Begin the line of a kind that is rare. */
static void begin_line(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	printer->out->pos = t2x_columns_begin(printer, ev, times, NULL);
}

/* Print a line whose payload is its first argument. */
static void print_text(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_text_arg(printer->out, &ev->args[0]);
	t2x_out_end_line(printer->out);
}
#define print_version print_text
#define print_cmd_path print_text
#define print_cmd_mode print_text
#define print_snapshot print_text

static void print_cmd_name(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_text_cmd_name(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_text_argv(printer->out, ev->args, ev->nargs);
	t2x_out_end_line(printer->out);
}

static void print_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_string(printer->out, ev->style == TLG_STYLE_signal ? "signo:" : "code:");
	t2x_out_int(printer->out, ev->args[0].value);
	t2x_out_end_line(printer->out);
}
#define print_atexit print_exit
#define print_signal print_exit

static void print_message(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ev->style == TLG_STYLE_printf ? ABSOLUTE : 0);
	t2x_text_message(printer->out, ev);
	t2x_out_end_line(printer->out);
}
#define print_error print_message
#define print_printf print_message

/* Append the words from position first on and the "]"; the caller has put the "[" and perhaps more. */
static void end_argv(struct t2x_out *out, const struct t2x_event *ev, unsigned first, int separate)
{
	if (separate && ev->nargs > first)
		t2x_out_char(out, ' ');
	t2x_text_argv(out, ev->args + first, ev->nargs - first);
	t2x_out_char(out, ']');
	t2x_out_end_line(out);
}

static void print_cmd_ancestry(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_out_literal(printer->out, "ancestry:[");
	end_argv(printer->out, ev, 0, 0);
}

static void print_alias(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev, 0);
	t2x_out_literal(out, "alias:");
	t2x_text_arg(out, &ev->args[T2X_ALIAS_NAME]);
	t2x_out_literal(out, " argv:[");
	end_argv(out, ev, T2X_ALIAS_ARGV, 0);
}

static void begin_child(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	begin_line(printer, ev, times);
	t2x_out_literal(printer->out, "[ch");
	t2x_out_int(printer->out, ev->args[T2X_CHILD_ID].value);
	t2x_out_char(printer->out, ']');
}

static void print_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *args = ev->args;
	int git = (args[T2X_CHILD_FLAGS].value & TLG_CHILD_GIT) != 0;

	begin_child(printer, ev, ABSOLUTE);
	t2x_out_literal(out, " class:");
	if (args[T2X_CHILD_HOOK].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, "hook hook:");
		t2x_text_arg(out, &args[T2X_CHILD_HOOK]);
	} else if (args[T2X_CHILD_CLASS].type == TLG_ARG_TEXT) {
		t2x_text_arg(out, &args[T2X_CHILD_CLASS]);
	} else {
		t2x_out_char(out, '?');
	}
	if (args[T2X_CHILD_DIR].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " cd:");
		t2x_text_quoted(out, args[T2X_CHILD_DIR].text, args[T2X_CHILD_DIR].length);
	}
	t2x_out_literal(out, " argv:[");
	if (git)
		t2x_out_literal(out, "git");
	end_argv(out, ev, T2X_CHILD_ARGV, git);
}

static void print_child_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_child(printer, ev, ABSOLUTE | RELATIVE);
	t2x_text_child_exit(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_child_ready(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_child(printer, ev, ABSOLUTE | RELATIVE);
	t2x_text_child_ready(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void begin_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_literal(printer->out, "id:");
	t2x_out_int(printer->out, ev->args[T2X_EXEC_ID].value);
}

static void print_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *exe = &ev->args[T2X_EXEC_EXE];

	begin_exec(printer, ev);
	t2x_out_literal(out, " argv:[");
	if (exe->type == TLG_ARG_TEXT)
		t2x_text_arg(out, exe);
	end_argv(out, ev, T2X_EXEC_ARGV, exe->type == TLG_ARG_TEXT);
}

static void print_exec_result(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_exec(printer, ev);
	t2x_text_exec_result(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_thread_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_end_line(printer->out);
}

static void print_thread_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE | RELATIVE);
	t2x_out_end_line(printer->out);
}

/* The configuration scope stands in the category column, and is shortened like any category. */
static void print_def_param(struct t2x_printer *printer, const struct t2x_event *ev)
{
	char category[6 + T2X_COLUMNS_CATEGORY] = "scope:";

	strncpy(category + 6, t2x_text_param_scope(&ev->args[T2X_PARAM_SCOPE]), T2X_COLUMNS_CATEGORY - 6);
	printer->out->pos = t2x_columns_begin(printer, ev, 0, category);
	t2x_text_param(printer->out, ev, ':');
	t2x_out_end_line(printer->out);
}

static void print_def_repo(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_out_literal(printer->out, "worktree:");
	t2x_text_quoted(printer->out, ev->args[0].text, ev->args[0].length);
	t2x_out_end_line(printer->out);
}

/* ---- the usual line ------------------------------------------------------------------------------ */

/*
 * Most lines of a trace are of a few kinds, and differ from the line before only in their digits.  For such a usual
 * line everything is cached and nothing is long, so no function has to be called and no register saved: the saving
 * alone was 40 of 150 instructions.  All other lines begin with t2x_columns_begin().
 */
enum {
	DOTS_COPY = 16,               /* for up to nine open regions */
	NAMES_COPY = 32,              /* names that are usual are not longer */
	USUAL_NS = (T2X_USUAL_US - 1) * 1000,   /* a usual elapsed time is shorter, and so below T2X_USUAL_US */
};

/* With nanoseconds no line is usual, because no time is cached then. */
static inline int is_usual(const struct t2x_printer *printer, const struct t2x_event *ev,
			   const struct t2x_template *scope, const struct t2x_template *thread, unsigned times)
{
	const struct t2x_out *out = printer->out;

	return t2x_template_is_of(scope, t2x_columns_scope(ev)) && t2x_template_is_of(thread, ev->thread->number) &&
	       out->end - out->pos >= T2X_COLUMNS_ROOM && t2x_text_has_cached_time(printer, ev) &&
	       t2x_columns_dots(ev) <= DOTS_COPY && scope->length[T2X_NAMES_LENGTH] <= NAMES_COPY &&
	       (!(times & RELATIVE) || ev->rel_ns < USUAL_NS);
}

/* t2x_event_us() of a usual elapsed time, by a short division: the event's microsecond is the cached one. */
static inline unsigned find_usual_us(const struct t2x_printer *printer, const struct t2x_event *ev)
{
	unsigned into = (unsigned)(ev->ns - printer->time.ns);

	return ((unsigned)ev->rel_ns + 999 - into) / 1000;
}

/* "  0.000123 |  0.000045 | " */
static inline char *put_usual_times(const struct t2x_printer *printer, char *p, const struct t2x_event *ev,
				    unsigned times)
{
	static const char none[16] = "          |    ";

	memcpy(p, printer->elapsed.text, T2X_CACHED_TIME_BYTES);
	p += printer->elapsed.length;
	if (times & RELATIVE) {
		p = t2x_put_usual_seconds(p, find_usual_us(printer, ev));
		memcpy(p, " | ", 4);
		return p + 3;
	}
	memcpy(p, none, sizeof(none));
	return p + T2X_COLUMNS_TIME + 3;
}

/*
 * As t2x_columns_begin(), for kinds that are frequent, all of which have an absolute time.  The dots are one copy of
 * fixed size, not a loop: gcc turns a loop into `rep stos`, which takes as long as the rest of the line.
 */
static inline __attribute__((always_inline)) char *
begin_usual(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	const struct t2x_template *scope = t2x_template_of_scope(printer->templates, t2x_columns_scope(ev));
	const struct t2x_template *thread = t2x_template_of_thread(printer->templates, ev->thread->number);
	char *p = printer->out->pos;

	if (!is_usual(printer, ev, scope, thread, times))
		return t2x_columns_begin(printer, ev, times, NULL);
	if (!printer->options.brief) {
		memcpy(p, printer->time.text, 16);
		p += T2X_LOCAL_TIME;
		memcpy(p, scope->text + T2X_PLACE_AT, T2X_PLACE_COPY);
		p += T2X_PLACE_COPY;
	}
	memcpy(p, thread->text, T2X_THREAD_COPY);
	p += thread->length[0];
	memcpy(p, scope->text + T2X_EVENT_AT, T2X_EVENT_COPY);
	p = put_usual_times(printer, p + scope->length[T2X_EVENT_LENGTH], ev, times);
	memcpy(p, scope->text + T2X_CATEGORY_AT, T2X_CATEGORY_COPY);
	p += T2X_COLUMNS_CATEGORY + 3;
	memcpy(p, "................", DOTS_COPY);
	p += t2x_columns_dots(ev);
	memcpy(p, scope->text + T2X_NAMES_AT, NAMES_COPY);
	return p + scope->length[T2X_NAMES_LENGTH];
}

/* Put the last text of the line and its end.  At p all but one of T2X_COLUMNS_SPARE bytes are free. */
static __attribute__((noinline)) void end_with(struct t2x_out *out, char *p, const char *text, size_t n)
{
	if (n < T2X_COLUMNS_SPARE - 1) {
		memcpy(p, text, n);
		t2x_out_end_line_at(out, p + n);
	} else {
		out->pos = p;
		t2x_out_long(out, text, n);
		t2x_out_end_line(out);
	}
}

static inline __attribute__((always_inline)) void
print_named(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	char *p = begin_usual(printer, ev, times);

	if (ev->message) {
		*p++ = ' ';
		end_with(printer->out, p, ev->message, ev->message_length);
	} else {
		t2x_out_end_line_at(printer->out, p);
	}
}

static void print_region_enter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	print_named(printer, ev, ABSOLUTE);
}
#define print_step print_region_enter
#define print_region_unwind NULL   /* the model makes an event of each leave */

static void print_region_leave(struct t2x_printer *printer, const struct t2x_event *ev)
{
	print_named(printer, ev, ABSOLUTE | RELATIVE);
}

static void print_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	end_with(printer->out, begin_usual(printer, ev, ABSOLUTE | RELATIVE), ev->args[0].text,
		 ev->args[0].length);
}
#define print_data_json print_data

static void print_data_intmax(struct t2x_printer *printer, const struct t2x_event *ev)
{
	char *p = begin_usual(printer, ev, ABSOLUTE | RELATIVE);

	t2x_out_end_line_at(printer->out, t2x_put_int(p, ev->args[0].value));
}

static void print_timer(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_text_timer(printer, ev->args);
	t2x_out_end_line(printer->out);
}
#define print_th_timer print_timer

static void print_counter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_text_count(printer->out, ev);
	t2x_out_end_line(printer->out);
}
#define print_th_counter print_counter

static void print_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (!printer->options.samples)
		return;
	begin_line(printer, ev, ABSOLUTE);
	t2x_text_sample(&printer->options, printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_text_unresolved(printer->out, ev);
	t2x_out_end_line(printer->out);
}

/* Not shown in this format. */
#define print_too_many_files NULL

const struct t2x_writer t2x_writer_perf = {
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

/* SPDX-License-Identifier: MIT */
/* t2x_normal.c - git's normal target: the life of a command, for people. */
#include "t2x_text.h"

enum {
	PREFIX_BYTES = 50,        /* time, place and padding: the payload begins at this column or behind it */
	PLACE_ROOM = T2X_TEMPLATE_BYTES - T2X_TEMPLATE_STEP,
};

static const int own_lines[4] = { 118, 128, 357, 372 };

/* Put what follows the time: " m.c:1 " and padding. */
static void put_place(struct t2x_out *out, const struct t2x_event *ev)
{
	struct t2x_text_place place = t2x_text_place(ev, "trace2/tr2_tgt_normal.c", own_lines);
	size_t length = T2X_LOCAL_TIME + 1;

	t2x_out_char(out, ' ');
	if (place.file) {
		char line[T2X_MAX_DIGITS + 2];
		size_t name = strlen(place.file), digits;

		line[0] = ':';
		digits = (size_t)(t2x_put_int(line + 1, place.line) - line);
		line[digits++] = ' ';
		t2x_out_bytes(out, place.file, name);
		t2x_out_bytes(out, line, digits);
		length += name + digits;
	}
	if (length < PREFIX_BYTES)
		t2x_out_repeat(out, ' ', PREFIX_BYTES - length);
}

/* Put the place, and cache it for the next events of the scope, unless it is too long. */
static void make_template(struct t2x_out *out, const struct t2x_event *ev, struct t2x_template *template)
{
	char *at = t2x_out_room(out, T2X_OUT_ROOM);
	size_t n;

	put_place(out, ev);
	if (ev->scope->file && strlen(ev->scope->file) > PLACE_ROOM / 2)
		return;
	n = (size_t)(out->pos - at);
	memcpy(template->text, at, n);
	template->length[0] = (uint16_t)n;
	template->number = ev->scope->number;
}

static void begin_line(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_template *template;
	struct t2x_out *out = printer->out;
	char *p;

	if (printer->options.brief)
		return;
	p = t2x_out_room(out, T2X_LOCAL_TIME + T2X_TEMPLATE_BYTES);
	out->pos = t2x_text_local_time(printer, p, ev);
	if (!ev->scope) {
		put_place(out, ev);
		return;
	}
	template = t2x_template_of_scope(printer->templates, ev->scope->number);
	if (t2x_template_is_of(template, ev->scope->number))
		out->pos = t2x_template_put(out->pos, template->text, template->length[0]);
	else
		make_template(out, ev, template);
}

/* A line "<name> <text>". */
static void print_text(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_string(printer->out, t2x_text_event_name(ev->style));
	t2x_out_char(printer->out, ' ');
	t2x_text_arg(printer->out, &ev->args[0]);
	t2x_out_end_line(printer->out);
}
#define print_version print_text
#define print_cmd_path print_text
#define print_cmd_mode print_text
#define print_snapshot print_text

static void print_cmd_name(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "cmd_name ");
	t2x_text_cmd_name(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "start ");
	t2x_text_argv(printer->out, ev->args, ev->nargs);
	t2x_out_end_line(printer->out);
}

/* exit, atexit and signal; git calls a signal's number "code", too. */
static void print_end(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev);
	t2x_out_string(out, t2x_text_event_name(ev->style));
	t2x_out_literal(out, " elapsed:");
	t2x_out_seconds_us(out, t2x_event_us(ev, t2x_event_abs_ns(ev)), 0);
	t2x_out_literal(out, " code:");
	t2x_out_int(out, ev->args[0].value);
	t2x_out_end_line(out);
}
#define print_exit print_end
#define print_atexit print_end
#define print_signal print_end

static void print_error(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "error");
	if (ev->message)
		t2x_out_char(printer->out, ' ');
	t2x_text_message(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_cmd_ancestry(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "cmd_ancestry ");
	for (unsigned i = 0; i < ev->nargs; i++) {
		if (i)
			t2x_out_literal(printer->out, " <- ");
		t2x_text_arg(printer->out, &ev->args[i]);
	}
	t2x_out_end_line(printer->out);
}

static void print_alias(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev);
	t2x_out_literal(out, "alias ");
	t2x_text_arg(out, &ev->args[T2X_ALIAS_NAME]);
	t2x_out_literal(out, " -> ");
	t2x_text_argv(out, ev->args + T2X_ALIAS_ARGV, ev->nargs - T2X_ALIAS_ARGV);
	t2x_out_end_line(out);
}

/* "<name>[<id>]": events of children and of exec begin so. */
static void begin_numbered(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_string(printer->out, t2x_text_event_name(ev->style));
	t2x_out_char(printer->out, '[');
	t2x_out_int(printer->out, ev->args[0].value);
	t2x_out_char(printer->out, ']');
}

static void print_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *dir = &ev->args[T2X_CHILD_DIR];

	begin_numbered(printer, ev);
	if (dir->type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " cd ");
		t2x_text_quoted(out, dir->text, dir->length);
		t2x_out_char(out, ';');
	}
	t2x_out_char(out, ' ');
	if (ev->args[T2X_CHILD_FLAGS].value & TLG_CHILD_GIT)
		t2x_out_literal(out, "git ");
	t2x_text_argv(out, ev->args + T2X_CHILD_ARGV, ev->nargs - T2X_CHILD_ARGV);
	t2x_out_end_line(out);
}

static void print_child_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_numbered(printer, ev);
	t2x_text_child_exit(out, ev);
	t2x_out_literal(out, " elapsed:");
	t2x_out_seconds_us(out, t2x_event_us(ev, ev->rel_ns), 0);
	t2x_out_end_line(out);
}

static void print_child_ready(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_numbered(printer, ev);
	t2x_text_child_ready(out, ev);
	t2x_out_literal(out, " elapsed:");
	t2x_out_seconds_us(out, t2x_event_us(ev, ev->rel_ns), 0);
	t2x_out_end_line(out);
}

static void print_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_numbered(printer, ev);
	t2x_out_char(out, ' ');
	if (ev->args[T2X_EXEC_EXE].type == TLG_ARG_TEXT) {
		t2x_text_arg(out, &ev->args[T2X_EXEC_EXE]);
		t2x_out_char(out, ' ');
	}
	t2x_text_argv(out, ev->args + T2X_EXEC_ARGV, ev->nargs - T2X_EXEC_ARGV);
	t2x_out_end_line(out);
}

static void print_exec_result(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_numbered(printer, ev);
	t2x_text_exec_result(printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_def_param(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev);
	t2x_out_literal(out, "def_param scope:");
	t2x_out_string(out, t2x_text_param_scope(&ev->args[T2X_PARAM_SCOPE]));
	t2x_out_char(out, ' ');
	t2x_text_param(out, ev, '=');
	t2x_out_end_line(out);
}

static void print_def_repo(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "worktree ");
	t2x_text_quoted(printer->out, ev->args[0].text, ev->args[0].length);
	t2x_out_end_line(printer->out);
}

static void print_printf(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_text_message(printer->out, ev);
	t2x_out_end_line(printer->out);
}

/* "<name> <category>/<name of timer or counter>". */
static void begin_total(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev);
	t2x_out_string(out, t2x_text_event_name(ev->style));
	t2x_out_char(out, ' ');
	t2x_text_name(out, ev->scope->category);
	t2x_out_char(out, '/');
	t2x_text_name(out, ev->scope->label);
}

static void print_timer(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_total(printer, ev);
	t2x_text_timer(printer, ev->args);
	t2x_out_end_line(printer->out);
}
#define print_th_timer print_timer

static void print_counter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_total(printer, ev);
	t2x_text_count(printer->out, ev);
	t2x_out_end_line(printer->out);
}
#define print_th_counter print_counter

static void print_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (!printer->options.samples)
		return;
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "sample ");
	t2x_text_name(printer->out, ev->scope->category);
	t2x_out_char(printer->out, ' ');
	t2x_text_sample(&printer->options, printer->out, ev);
	t2x_out_end_line(printer->out);
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev);
	t2x_out_literal(printer->out, "unresolved ");
	t2x_text_unresolved(printer->out, ev);
	t2x_out_end_line(printer->out);
}

/* Not shown in this format. */
#define print_too_many_files NULL
#define print_thread_start NULL
#define print_thread_exit NULL
#define print_region_enter NULL
#define print_region_leave NULL
#define print_data NULL
#define print_data_intmax NULL
#define print_data_json NULL
#define print_step NULL
#define print_region_unwind NULL   /* the model makes an event of each leave */

const struct t2x_writer t2x_writer_normal = {
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

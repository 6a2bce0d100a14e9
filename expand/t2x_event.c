/* SPDX-License-Identifier: MIT */
/*
 * t2x_event.c - git's event target: a JSON object a line, for programs.
 *
 * The members that a checkpoint decides alone - place, repository, names - are escaped once and kept in the
 * scope's cache.
 */
#include <stdlib.h>

#include "t2x_json.h"
#include "t2x_json_check.h"
#include "t2x_text.h"

static const int own_lines[4] = { 191, 207, 657, 678 };

/* {"event":"<name>","sid":"  for each kind. */
struct opening {
	const char *text;
	size_t length;
};
#define OPENING_TEXT(name) "{\"event\":\"" name "\",\"sid\":\""
#define OPENING(name) { OPENING_TEXT(name), sizeof(OPENING_TEXT(name)) - 1 }

static const struct opening openings[TLG_STYLE_COUNT] = {
#define TLG_STYLE(id, name, args, desc) [id] = OPENING(#name),
#include "tlg_styles.def"
#undef TLG_STYLE
	[TLG_STYLE_none] = OPENING("unresolved"),
};

/* ,"file":..,"line":..,"repo":..  and  ,"category":..,"label":..  of a checkpoint. */
struct pieces {
	uint32_t place_length, names_length;
	char text[];
};

static void put_message(struct t2x_out *out, const struct t2x_event *ev)
{
	if (ev->message)
		t2x_json_text(out, "msg", ev->message, ev->message_length);
}

/* ---- what a checkpoint decides alone ------------------------------------------------------------ */

static void build_place(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_place place = t2x_text_place(ev, "trace2/tr2_tgt_event.c", own_lines);

	if (place.file && !printer->options.brief) {
		t2x_json_text(printer->out, "file", place.file, strlen(place.file));
		t2x_json_int(printer->out, "line", place.line);
	}
	if (ev->scope && ev->scope->repo)
		t2x_json_int(printer->out, "repo", t2x_repo_id(ev->scope));
}

/* What the label is called. */
static const char *name_label(enum tlg_style style)
{
	switch (style) {
	case TLG_STYLE_data:
	case TLG_STYLE_data_intmax:
	case TLG_STYLE_data_json:
		return "key";
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		return "name";
	default:
		return "label";
	}
}

static void build_names(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_scope *scope = ev->scope;

	if (scope->category)
		t2x_json_text(printer->out, "category", scope->category, strlen(scope->category));
	if (scope->label)
		t2x_json_text(printer->out, name_label(ev->style), scope->label, strlen(scope->label));
}

static size_t measure(const char *text)
{
	return text ? strlen(text) : 0;
}

/*
 * The checkpoint's pieces, or NULL: too long to keep, or no memory.  They are built in the free part of
 * the output buffer, which must hold them whatever their bytes escape to, and are taken back from there.
 */
static const struct pieces *find_pieces(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_scope *scope = ev->scope;
	struct pieces *pieces;
	size_t place_length, names_length;
	char *at;

	if (!scope)
		return NULL;
	if (scope->cache)
		return scope->cache;
	if (measure(scope->file) + measure(scope->category) + measure(scope->label) > T2X_OUT_ROOM / 6 - 64)
		return NULL;
	at = t2x_out_room(printer->out, T2X_OUT_ROOM);
	build_place(printer, ev);
	place_length = (size_t)(printer->out->pos - at);
	build_names(printer, ev);
	names_length = (size_t)(printer->out->pos - at) - place_length;
	printer->out->pos = at;
	pieces = malloc(sizeof(*pieces) + place_length + names_length);
	if (!pieces)
		return NULL;
	pieces->place_length = (uint32_t)place_length;
	pieces->names_length = (uint32_t)names_length;
	memcpy(pieces->text, at, place_length + names_length);
	scope->cache = pieces;
	return pieces;
}

static void put_place(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct pieces *pieces = find_pieces(printer, ev);

	if (pieces)
		t2x_out_bytes(printer->out, pieces->text, pieces->place_length);
	else
		build_place(printer, ev);
}

static void put_names(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct pieces *pieces = find_pieces(printer, ev);

	if (pieces)
		t2x_out_bytes(printer->out, pieces->text + pieces->place_length, pieces->names_length);
	else
		build_names(printer, ev);
}

/* ---- events ------------------------------------------------------------------------------------- */

/* The common members.  Git's brief form keeps the time on the first and the last event only. */
static void begin_object(struct t2x_printer *printer, const struct t2x_event *ev)
{
	enum tlg_style name = ev->style == TLG_STYLE_data_intmax ? TLG_STYLE_data : ev->style;
	const struct opening *opening = &openings[name];
	struct t2x_out *out = printer->out;

	t2x_out_bytes(out, opening->text, opening->length);
	t2x_json_escaped(out, ev->process->sid, strlen(ev->process->sid));
	t2x_out_literal(out, "\",\"thread\":\"");
	t2x_json_escaped(out, ev->thread->name, strlen(ev->thread->name));
	if (!printer->options.brief || ev->style == TLG_STYLE_version || ev->style == TLG_STYLE_atexit) {
		t2x_out_literal(out, "\",\"time\":\"");
		out->pos = t2x_text_utc(printer, t2x_out_room(out, 27), ev);
	}
	t2x_out_char(out, '"');
	put_place(printer, ev);
}

static void end_object(struct t2x_printer *printer)
{
	t2x_out_literal(printer->out, "}\n");
	t2x_out_end_line(printer->out);
}

/* Regions and data deep inside are left out. */
static int is_too_deep(const struct t2x_printer *printer, const struct t2x_event *ev)
{
	return printer->options.nesting && ev->open > printer->options.nesting;
}

static void print_plain(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	end_object(printer);
}
#define print_too_many_files print_plain
#define print_thread_start print_plain

static void print_version(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_out_literal(printer->out, ",\"evt\":\"4\"");
	t2x_json_arg(printer->out, "exe", &ev->args[0]);
	end_object(printer);
}

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_abs", ev->abs_us);
	t2x_json_argv(printer->out, "argv", NULL, ev->args, ev->nargs);
	end_object(printer);
}

static void print_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_abs", ev->abs_us);
	t2x_json_int(printer->out, ev->style == TLG_STYLE_signal ? "signo" : "code", ev->args[0].value);
	end_object(printer);
}
#define print_atexit print_exit
#define print_signal print_exit

static void print_error(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	put_message(printer->out, ev);
	if (ev->message && ev->scope->format)
		t2x_json_text(printer->out, "fmt", ev->scope->format, strlen(ev->scope->format));
	end_object(printer);
}

static void print_cmd_path(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_arg(printer->out, "path", &ev->args[0]);
	end_object(printer);
}

static void print_cmd_ancestry(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_argv(printer->out, "ancestry", NULL, ev->args, ev->nargs);
	end_object(printer);
}

static void print_cmd_name(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_arg(printer->out, "name", &ev->args[T2X_NAME_OWN]);
	if (ev->args[T2X_NAME_HIERARCHY].length)
		t2x_json_arg(printer->out, "hierarchy", &ev->args[T2X_NAME_HIERARCHY]);
	end_object(printer);
}

static void print_cmd_mode(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_arg(printer->out, "name", &ev->args[0]);
	end_object(printer);
}

static void print_alias(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_arg(printer->out, "alias", &ev->args[T2X_ALIAS_NAME]);
	t2x_json_argv(printer->out, "argv", NULL, ev->args + T2X_ALIAS_ARGV, ev->nargs - T2X_ALIAS_ARGV);
	end_object(printer);
}

static void print_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *args = ev->args;
	int64_t flags = args[T2X_CHILD_FLAGS].value;

	begin_object(printer, ev);
	t2x_json_int(out, "child_id", args[T2X_CHILD_ID].value);
	if (args[T2X_CHILD_HOOK].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, ",\"child_class\":\"hook\"");
		t2x_json_arg(out, "hook_name", &args[T2X_CHILD_HOOK]);
	} else if (args[T2X_CHILD_CLASS].type == TLG_ARG_TEXT) {
		t2x_json_arg(out, "child_class", &args[T2X_CHILD_CLASS]);
	} else {
		t2x_out_literal(out, ",\"child_class\":\"?\"");
	}
	t2x_json_arg(out, "cd", &args[T2X_CHILD_DIR]);
	t2x_json_key(out, "use_shell");
	t2x_out_string(out, flags & TLG_CHILD_SHELL ? "true" : "false");
	t2x_json_argv(out, "argv", flags & TLG_CHILD_GIT ? "git" : NULL, args + T2X_CHILD_ARGV,
		      ev->nargs - T2X_CHILD_ARGV);
	end_object(printer);
}

static void print_child_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_int(printer->out, "child_id", ev->args[T2X_CHILD_ID].value);
	t2x_json_int(printer->out, "pid", ev->args[T2X_CHILD_PID].value);
	t2x_json_int(printer->out, "code", ev->args[T2X_CHILD_CODE].value);
	t2x_json_us(printer->out, "t_rel", ev->rel_us);
	end_object(printer);
}

static void print_child_ready(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_int(printer->out, "child_id", ev->args[T2X_CHILD_ID].value);
	t2x_json_int(printer->out, "pid", ev->args[T2X_CHILD_PID].value);
	t2x_json_arg(printer->out, "ready", &ev->args[T2X_READY_STATE]);
	t2x_json_us(printer->out, "t_rel", ev->rel_us);
	end_object(printer);
}

static void print_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_int(printer->out, "exec_id", ev->args[T2X_EXEC_ID].value);
	t2x_json_arg(printer->out, "exe", &ev->args[T2X_EXEC_EXE]);
	t2x_json_argv(printer->out, "argv", NULL, ev->args + T2X_EXEC_ARGV, ev->nargs - T2X_EXEC_ARGV);
	end_object(printer);
}

static void print_exec_result(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_int(printer->out, "exec_id", ev->args[T2X_EXEC_ID].value);
	t2x_json_int(printer->out, "code", ev->args[T2X_EXEC_CODE].value);
	end_object(printer);
}

static void print_thread_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_rel", ev->rel_us);
	end_object(printer);
}

static void print_def_param(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *scope = t2x_text_param_scope(&ev->args[T2X_PARAM_SCOPE]);

	begin_object(printer, ev);
	t2x_json_text(printer->out, "scope", scope, strlen(scope));
	t2x_json_arg(printer->out, "param", &ev->args[T2X_PARAM_NAME]);
	t2x_json_arg(printer->out, "value", &ev->args[T2X_PARAM_VALUE]);
	end_object(printer);
}

static void print_def_repo(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_arg(printer->out, "worktree", &ev->args[0]);
	end_object(printer);
}

static void print_region(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	begin_object(printer, ev);
	if (ev->style == TLG_STYLE_region_leave)
		t2x_json_us(printer->out, "t_rel", ev->rel_us);
	t2x_json_int(printer->out, "nesting", ev->open);
	put_names(printer, ev);
	put_message(printer->out, ev);
	end_object(printer);
}
#define print_region_enter print_region
#define print_region_leave print_region

static void print_step(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_abs", ev->abs_us);
	t2x_json_int(printer->out, "nesting", ev->open);
	put_names(printer, ev);
	end_object(printer);
}

static void begin_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_abs", ev->abs_us);
	t2x_json_us(printer->out, "t_rel", ev->rel_us);
	t2x_json_int(printer->out, "nesting", ev->open);
	put_names(printer, ev);
}

static void print_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	begin_data(printer, ev);
	t2x_json_arg(printer->out, "value", &ev->args[0]);
	end_object(printer);
}

/* An integer is a string here, as git has it. */
static void print_data_intmax(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	begin_data(printer, ev);
	t2x_json_key(printer->out, "value");
	t2x_out_char(printer->out, '"');
	t2x_out_int(printer->out, ev->args[0].value);
	t2x_out_char(printer->out, '"');
	end_object(printer);
}

/* A document of several lines becomes one: each line's end and the blanks behind it go. */
static void put_document(struct t2x_out *out, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *stop = text;

		while (stop < end && *stop != '\n' && *stop != '\r' && *stop != '\t')
			stop++;
		t2x_out_bytes(out, text, (size_t)(stop - text));
		text = stop;
		while (text < end && (*text == '\n' || *text == '\r' || *text == '\t' || *text == ' '))
			text++;
	}
}

/* What is no JSON becomes a JSON string, so that the line is JSON whatever the program gave. */
static void print_data_json(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_arg *value = &ev->args[0];

	if (is_too_deep(printer, ev))
		return;
	begin_data(printer, ev);
	if (t2x_json_is_value(value->text, value->length)) {
		t2x_json_key(printer->out, "value");
		put_document(printer->out, value->text, value->length);
	} else {
		t2x_json_arg(printer->out, "value", value);
	}
	end_object(printer);
}

static void print_printf(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_abs", ev->abs_us);
	put_message(printer->out, ev);
	end_object(printer);
}

static void print_timer(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	put_names(printer, ev);
	t2x_json_int(printer->out, "intervals", ev->args[T2X_TIMER_INTERVALS].value);
	t2x_json_ns(printer->out, "t_total", ev->args[T2X_TIMER_TOTAL].value);
	t2x_json_ns(printer->out, "t_min", ev->args[T2X_TIMER_MIN].value);
	t2x_json_ns(printer->out, "t_max", ev->args[T2X_TIMER_MAX].value);
	end_object(printer);
}
#define print_th_timer print_timer

/* A count above 2^63 shows as negative, as git has it. */
static void print_counter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	put_names(printer, ev);
	t2x_json_int(printer->out, "count", ev->args[0].value);
	end_object(printer);
}
#define print_th_counter print_counter

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_object(printer, ev);
	t2x_json_us(printer->out, "t_abs", ev->abs_us);
	t2x_json_int(printer->out, "scope", ev->scope_index);
	end_object(printer);
}

const struct t2x_writer t2x_writer_event = {
	.name = "event",
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

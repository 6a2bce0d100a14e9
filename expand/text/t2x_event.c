/* SPDX-License-Identifier: MIT */
/* t2x_event.c - git's event target: one JSON object on each line, for programs. */
#include "t2x_json.h"
#include "t2x_json_check.h"
#include "t2x_object.h"
#include "t2x_text.h"

static void put_message(struct t2x_out *out, const struct t2x_event *ev)
{
	if (ev->message)
		t2x_json_text(out, "msg", ev->message, ev->message_length);
}

/* Return  1: omit the event, a region or data, because it is nested too deep */
static int is_too_deep(const struct t2x_printer *printer, const struct t2x_event *ev)
{
	return printer->options.nesting && ev->open > printer->options.nesting && !ev->lost;
}

/* A time of the event, t2x_event_abs_ns() or rel_ns. */
static void put_time(struct t2x_printer *printer, const char *key, const struct t2x_event *ev, uint64_t elapsed_ns)
{
	char *p;

	t2x_json_key(printer->out, key);
	p = t2x_out_room(printer->out, T2X_MAX_SECONDS);
	printer->out->pos = t2x_text_put_elapsed(printer, p, ev, elapsed_ns, 0);
}

/* Put the elapsed time, or null if it is not known. */
static void put_elapsed(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (__builtin_expect(ev->rel_ns == T2X_NO_TIME, 0))
		t2x_out_literal(printer->out, ",\"t_rel_unknown\":true");
	else
		put_time(printer, "t_rel", ev, ev->rel_ns);
}

static void print_plain(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_object_end(printer);
}
#define print_too_many_files print_plain
#define print_thread_start print_plain

/* The version of git's event target, which an imported trace has as label. */
static void print_version(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *version = ev->scope->label ? ev->scope->label : "4";

	t2x_object_begin(printer, ev);
	t2x_json_text(printer->out, "evt", version, strlen(version));
	t2x_json_arg(printer->out, "exe", &ev->args[0]);
	t2x_object_end(printer);
}

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	t2x_json_argv(printer->out, "argv", NULL, ev->args, ev->nargs);
	t2x_object_end(printer);
}

static void print_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	t2x_json_int(printer->out, ev->style == TLG_STYLE_signal ? "signo" : "code", ev->args[0].value);
	t2x_object_end(printer);
}
#define print_atexit print_exit
#define print_signal print_exit

static void print_error(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_message(printer->out, ev);
	if (ev->message && ev->scope->format)
		t2x_json_text(printer->out, "fmt", ev->scope->format, strlen(ev->scope->format));
	t2x_object_end(printer);
}

static void print_cmd_path(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_arg(printer->out, "path", &ev->args[0]);
	t2x_object_end(printer);
}

static void print_cmd_ancestry(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_argv(printer->out, "ancestry", NULL, ev->args, ev->nargs);
	t2x_object_end(printer);
}

static void print_cmd_name(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_arg(printer->out, "name", &ev->args[T2X_NAME_OWN]);
	if (ev->args[T2X_NAME_HIERARCHY].length)
		t2x_json_arg(printer->out, "hierarchy", &ev->args[T2X_NAME_HIERARCHY]);
	t2x_object_end(printer);
}

static void print_snapshot(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_arg(printer->out, "reason", &ev->args[0]);
	t2x_object_end(printer);
}

static void print_cmd_mode(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_arg(printer->out, "name", &ev->args[0]);
	t2x_object_end(printer);
}

static void print_alias(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_arg(printer->out, "alias", &ev->args[T2X_ALIAS_NAME]);
	t2x_json_argv(printer->out, "argv", NULL, ev->args + T2X_ALIAS_ARGV, ev->nargs - T2X_ALIAS_ARGV);
	t2x_object_end(printer);
}

static void print_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *args = ev->args;
	int64_t flags = args[T2X_CHILD_FLAGS].value;

	t2x_object_begin(printer, ev);
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
	t2x_object_end(printer);
}

static void print_child_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_int(printer->out, "child_id", ev->args[T2X_CHILD_ID].value);
	t2x_json_int(printer->out, "pid", ev->args[T2X_CHILD_PID].value);
	t2x_json_int(printer->out, "code", ev->args[T2X_CHILD_CODE].value);
	put_time(printer, "t_rel", ev, ev->rel_ns);
	t2x_object_end(printer);
}

static void print_child_ready(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_int(printer->out, "child_id", ev->args[T2X_CHILD_ID].value);
	t2x_json_int(printer->out, "pid", ev->args[T2X_CHILD_PID].value);
	t2x_json_arg(printer->out, "ready", &ev->args[T2X_READY_STATE]);
	put_time(printer, "t_rel", ev, ev->rel_ns);
	t2x_object_end(printer);
}

static void print_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_int(printer->out, "exec_id", ev->args[T2X_EXEC_ID].value);
	t2x_json_arg(printer->out, "exe", &ev->args[T2X_EXEC_EXE]);
	t2x_json_argv(printer->out, "argv", NULL, ev->args + T2X_EXEC_ARGV, ev->nargs - T2X_EXEC_ARGV);
	t2x_object_end(printer);
}

static void print_exec_result(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_int(printer->out, "exec_id", ev->args[T2X_EXEC_ID].value);
	t2x_json_int(printer->out, "code", ev->args[T2X_EXEC_CODE].value);
	t2x_object_end(printer);
}

static void print_thread_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_elapsed(printer, ev);
	t2x_object_end(printer);
}

static void print_def_param(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *scope = t2x_text_param_scope(&ev->args[T2X_PARAM_SCOPE]);

	t2x_object_begin(printer, ev);
	t2x_json_text(printer->out, "scope", scope, strlen(scope));
	t2x_json_arg(printer->out, "param", &ev->args[T2X_PARAM_NAME]);
	t2x_json_arg(printer->out, "value", &ev->args[T2X_PARAM_VALUE]);
	t2x_object_end(printer);
}

static void print_def_repo(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_json_arg(printer->out, "worktree", &ev->args[0]);
	t2x_object_end(printer);
}

static void print_region(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	t2x_object_begin(printer, ev);
	if (ev->style == TLG_STYLE_region_leave)
		put_elapsed(printer, ev);
	t2x_json_int(printer->out, "nesting", ev->open);
	t2x_object_names(printer, ev);
	put_message(printer->out, ev);
	t2x_object_end(printer);
}
#define print_region_enter print_region
#define print_region_leave print_region

static void print_step(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	t2x_json_int(printer->out, "nesting", ev->open);
	t2x_object_names(printer, ev);
	t2x_object_end(printer);
}

static void begin_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	put_elapsed(printer, ev);
	t2x_json_int(printer->out, "nesting", ev->open);
	t2x_object_names(printer, ev);
}

static void print_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	begin_data(printer, ev);
	t2x_json_arg(printer->out, "value", &ev->args[0]);
	t2x_object_end(printer);
}

/* git prints the integer as a string. */
static void print_data_intmax(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (is_too_deep(printer, ev))
		return;
	begin_data(printer, ev);
	t2x_json_key(printer->out, "value");
	t2x_out_char(printer->out, '"');
	t2x_out_int(printer->out, ev->args[0].value);
	t2x_out_char(printer->out, '"');
	t2x_object_end(printer);
}

/* Put a document of several lines on one line: drop each newline and the blanks behind it. */
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

/* A text that is not JSON becomes a JSON string, so that the line is JSON whatever the program passed. */
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
	t2x_object_end(printer);
}

static void print_printf(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	put_message(printer->out, ev);
	t2x_object_end(printer);
}

static void put_duration(struct t2x_printer *printer, const char *key, const struct t2x_arg *ns)
{
	t2x_json_key(printer->out, key);
	t2x_out_duration(printer->out, (uint64_t)ns->value, printer->options.ns);
}

static void print_timer(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_object_names(printer, ev);
	t2x_json_int(printer->out, "intervals", ev->args[T2X_TIMER_INTERVALS].value);
	put_duration(printer, "t_total", &ev->args[T2X_TIMER_TOTAL]);
	put_duration(printer, "t_min", &ev->args[T2X_TIMER_MIN]);
	put_duration(printer, "t_max", &ev->args[T2X_TIMER_MAX]);
	t2x_object_end(printer);
}
#define print_th_timer print_timer

/* A count above 2^63 prints as negative, as in git. */
static void print_counter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	t2x_object_names(printer, ev);
	t2x_json_int(printer->out, "count", ev->args[0].value);
	t2x_object_end(printer);
}
#define print_th_counter print_counter

static void put_string(struct t2x_out *out, const char *text, size_t n)
{
	t2x_out_char(out, '"');
	if (n)
		t2x_json_escaped(out, text, n);
	t2x_out_char(out, '"');
}

/* Put the labels that a sample was recorded with. */
static void put_labels(struct t2x_out *out, const struct t2x_event *ev)
{
	if (ev->nargs <= T2X_SAMPLE_LABELS)
		return;
	t2x_json_key(out, "labels");
	for (unsigned i = T2X_SAMPLE_LABELS; i + 1 < ev->nargs; i += 2) {
		t2x_out_char(out, i > T2X_SAMPLE_LABELS ? ',' : '{');
		put_string(out, ev->args[i].text, ev->args[i].length);
		t2x_out_char(out, ':');
		put_string(out, ev->args[i + 1].text, ev->args[i + 1].length);
	}
	t2x_out_char(out, '}');
}

/* Put the functions of a sample's stack as an array, the innermost first. */
static void put_stack(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_options *options = &printer->options;
	const struct t2x_stack_names *names = NULL;

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	t2x_json_key(printer->out, "stack");
	t2x_out_char(printer->out, '[');
	for (unsigned i = 0; names && i < names->n; i++) {
		if (i)
			t2x_out_char(printer->out, ',');
		put_string(printer->out, names->at[i], strlen(names->at[i]));
	}
	t2x_out_char(printer->out, ']');
}

static void print_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	if (!printer->options.samples)
		return;
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	t2x_json_int(out, "nesting", ev->open);
	t2x_object_names(printer, ev);
	t2x_json_int(out, "count", ev->args[T2X_SAMPLE_COUNT].value);
	t2x_json_int(out, "value", ev->args[T2X_SAMPLE_VALUE].value);
	t2x_json_int(out, "period", ev->args[T2X_SAMPLE_PERIOD].value);
	put_labels(out, ev);
	put_stack(printer, ev);
	t2x_object_end(printer);
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_object_begin(printer, ev);
	put_time(printer, "t_abs", ev, t2x_event_abs_ns(ev));
	t2x_json_int(printer->out, "scope", ev->scope_index);
	t2x_object_end(printer);
}

#define print_region_unwind NULL   /* the model makes an event of each leave */

const struct t2x_writer t2x_writer_event = {
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

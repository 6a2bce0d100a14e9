/* SPDX-License-Identifier: MIT */
/* t2x_chrome_instants.c - see t2x_chrome_instants.h. */
#include "t2x_chrome_instants.h"

#include "text/t2x_json.h"
#include "text/t2x_text.h"
#include "text/t2x_utf8.h"
#include "tlg_desc.h"

/*
 * What the arguments of a kind are called, but for its message, with blanks between them.  Kinds that never are
 * instants have none.
 */
static const char *const argument_names[TLG_STYLE_COUNT] = {
	[TLG_STYLE_version] = "exe", [TLG_STYLE_start] = "argv", [TLG_STYLE_exit] = "code",
	[TLG_STYLE_atexit] = "code", [TLG_STYLE_signal] = "signo", [TLG_STYLE_cmd_path] = "path",
	[TLG_STYLE_cmd_ancestry] = "ancestry", [TLG_STYLE_cmd_name] = "hierarchy name", [TLG_STYLE_cmd_mode] = "mode",
	[TLG_STYLE_alias] = "alias argv", [TLG_STYLE_exec] = "exec_id exe argv",
	[TLG_STYLE_exec_result] = "exec_id code error", [TLG_STYLE_def_param] = "scope param value",
	[TLG_STYLE_def_repo] = "worktree", [TLG_STYLE_data] = "value", [TLG_STYLE_data_json] = "value",
	[TLG_STYLE_timer] = "intervals total_ns min_ns max_ns",
	[TLG_STYLE_th_timer] = "intervals total_ns min_ns max_ns", [TLG_STYLE_snapshot] = "reason",
};

static void put_text(struct t2x_out *out, const char *text)
{
	t2x_utf8_json(out, text, strlen(text));
}

static void put_argument(struct t2x_out *out, const struct t2x_arg *arg)
{
	if (arg->type == TLG_ARG_TEXT && arg->text)
		t2x_utf8_json(out, arg->text, arg->length);
	else if (arg->type == TLG_ARG_INT)
		t2x_out_int(out, arg->value);
	else if (arg->type == TLG_ARG_UINT)
		t2x_out_uint(out, (uint64_t)arg->value);
	else
		t2x_out_literal(out, "null");
}

/* The next of the names as a key.  Return  what is behind it */
static const char *put_key(struct t2x_out *out, const char *comma, const char *names)
{
	size_t n = strcspn(names, " ");

	t2x_out_string(out, comma);
	t2x_out_char(out, '"');
	t2x_out_bytes(out, names, n);
	t2x_out_literal(out, "\":");
	return names[n] ? names + n + 1 : names;
}

static void put_words(struct t2x_out *out, const struct t2x_arg *words, unsigned n)
{
	t2x_out_char(out, '[');
	for (unsigned i = 0; i < n; i++) {
		t2x_out_string(out, i ? "," : "");
		put_argument(out, &words[i]);
	}
	t2x_out_char(out, ']');
}

/* The arguments by their names, as git's event format has them.  comma  in front of the first    Return  of the next */
static const char *put_named(struct t2x_out *out, const struct t2x_event *ev, const char *comma)
{
	const char *names = argument_names[ev->style], *letters = names ? tlg_style_by_id(ev->style)->args : "";

	for (unsigned i = 0; *letters && (i < ev->nargs || *letters == '*'); letters++) {
		names = put_key(out, comma, names);
		comma = ",";
		if (*letters == '*') {
			put_words(out, &ev->args[i], ev->nargs - i);
			break;
		}
		if (ev->style == TLG_STYLE_def_param && i == T2X_PARAM_SCOPE)
			put_text(out, t2x_text_param_scope(&ev->args[i]));
		else
			put_argument(out, &ev->args[i]);
		i++;
	}
	return comma;
}

/* "args":{"message":"...","code":0,"file":"m.c","line":12}, behind the member that only instants have. */
static void put_values(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const char *comma = "";

	t2x_out_literal(out, ",\"s\":\"t\",\"args\":{");
	if (ev->message) {
		t2x_out_literal(out, "\"message\":");
		t2x_utf8_json(out, ev->message, ev->message_length);
		comma = ",";
	}
	comma = put_named(out, ev, comma);
	if (ev->scope)
		t2x_chrome_put_place(out, comma, ev->scope->file, ev->scope->line);
	t2x_out_char(out, '}');
}

/* Whatever has no length: an instant, named by its label, or by its kind. */
void t2x_chrome_instant(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *category = ev->scope && ev->scope->category ? ev->scope->category : "trace2";
	const char *name = ev->scope && ev->scope->label ? ev->scope->label : t2x_text_event_name(ev->style);

	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), name, category, 'i', ev->ns);
	put_values(printer, ev);
	t2x_chrome_end(printer);
}

/* A sample is an instant as well, named by the innermost function; the category is the profile. */
void t2x_chrome_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_options *options = &printer->options;
	const struct t2x_stack_names *names = NULL;
	struct t2x_out *out = printer->out;

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), names && names->n ? names->at[0] : "sample",
			 ev->scope->category ? ev->scope->category : "", 'i', ev->ns);
	t2x_out_literal(out, ",\"s\":\"t\",\"args\":{\"count\":");
	put_argument(out, &ev->args[T2X_SAMPLE_COUNT]);
	t2x_out_literal(out, ",\"value\":");
	put_argument(out, &ev->args[T2X_SAMPLE_VALUE]);
	for (unsigned i = T2X_SAMPLE_LABELS; i + 1 < ev->nargs; i++) {
		t2x_out_string(out, i == T2X_SAMPLE_LABELS ? ",\"labels\":{" : ",");
		t2x_utf8_json(out, ev->args[i].text, ev->args[i].text ? ev->args[i].length : 0);
		t2x_out_char(out, ':');
		put_argument(out, &ev->args[++i]);
	}
	t2x_out_string(out, ev->nargs > T2X_SAMPLE_LABELS + 1 ? "},\"stack\":[" : ",\"stack\":[");
	for (unsigned i = 0; names && i < names->n; i++) {
		t2x_out_string(out, i ? "," : "");
		t2x_utf8_json(out, names->at[i], strlen(names->at[i]));
	}
	t2x_out_literal(out, "]}");
	t2x_chrome_end(printer);
}

void t2x_chrome_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (!ev->spans)
		return;
	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), "unresolved", "trace2", 'i', ev->ns);
	t2x_out_literal(printer->out, ",\"s\":\"t\",\"args\":{\"scope\":");
	t2x_out_uint(printer->out, ev->scope_index);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

/* A gap is a slice: from the thread's last event before it to the first behind it. */
static void put_lost_events(struct t2x_printer *printer, const struct t2x_event *ev)
{
	uint64_t since_ns = ev->lost->since_ns ? ev->lost->since_ns : ev->ns;

	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), "events lost", "trace2", 'X', since_ns);
	t2x_chrome_time(printer, "dur", ev->ns > since_ns ? ev->ns - since_ns : 0);
	t2x_out_literal(printer->out, ",\"cname\":\"terrible\",\"args\":{\"count\":");
	t2x_out_uint(printer->out, (uint64_t)ev->args[0].value);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

/* A number over time: a counter track.  Several labels of a category are several tracks. */
void t2x_chrome_number(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *label = ev->scope->label ? ev->scope->label : "?";
	const char *category = ev->scope->category ? ev->scope->category : "";

	if (ev->lost && ev->lost->what == T2X_LOST_EVENTS) {
		put_lost_events(printer, ev);
		return;
	}
	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), label, category, 'C', ev->ns);
	t2x_out_literal(printer->out, ",\"args\":{\"value\":");
	put_argument(printer->out, &ev->args[0]);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

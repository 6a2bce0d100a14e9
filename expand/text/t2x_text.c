/* SPDX-License-Identifier: MIT */
/* t2x_text.c - see t2x_text.h. */
#include "t2x_text.h"

#include <string.h>

#include "tlg_date.h"
#include "tlg_desc.h"

enum { NS_PER_S = 1000000000 };

/* Return  1: the byte needs no quoting */
static int is_plain(unsigned char c)
{
	static const char marks[] = "+,-./:=@_^";

	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && memchr(marks, c, sizeof(marks) - 1));
}

void t2x_text_quoted(struct t2x_out *out, const char *text, size_t n)
{
	size_t bare = 0, from = 0;

	while (bare < n && is_plain((unsigned char)text[bare]))
		bare++;
	if (n && bare == n) {
		t2x_out_bytes(out, text, n);
		return;
	}
	t2x_out_char(out, '\'');
	for (size_t i = bare; i < n; i++) {
		if (text[i] != '\'' && text[i] != '!')
			continue;
		t2x_out_bytes(out, text + from, i - from);
		t2x_out_literal(out, "'\\");
		t2x_out_char(out, text[i]);
		t2x_out_char(out, '\'');
		from = i + 1;
	}
	t2x_out_bytes(out, text + from, n - from);
	t2x_out_char(out, '\'');
}

void t2x_text_argv(struct t2x_out *out, const struct t2x_arg *argv, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i)
			t2x_out_char(out, ' ');
		t2x_text_quoted(out, argv[i].text, argv[i].length);
	}
}

void t2x_text_arg(struct t2x_out *out, const struct t2x_arg *arg)
{
	if (arg->type == TLG_ARG_NULL)
		t2x_text_name(out, NULL);
	else
		t2x_out_bytes(out, arg->text, arg->length);
}

void t2x_text_name(struct t2x_out *out, const char *name)
{
	t2x_out_string(out, name ? name : "(null)");
}

/* ---- payloads ----------------------------------------------------------------------------------- */

void t2x_text_message(struct t2x_out *out, const struct t2x_event *ev)
{
	if (ev->message)
		t2x_out_bytes(out, ev->message, ev->message_length);
}

void t2x_text_cmd_name(struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_text_arg(out, &ev->args[T2X_NAME_OWN]);
	if (ev->args[T2X_NAME_HIERARCHY].length) {
		t2x_out_literal(out, " (");
		t2x_text_arg(out, &ev->args[T2X_NAME_HIERARCHY]);
		t2x_out_char(out, ')');
	}
}

static void put_pid(struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_out_literal(out, " pid:");
	t2x_out_int(out, ev->args[T2X_CHILD_PID].value);
}

void t2x_text_child_exit(struct t2x_out *out, const struct t2x_event *ev)
{
	put_pid(out, ev);
	t2x_out_literal(out, " code:");
	t2x_out_int(out, ev->args[T2X_CHILD_CODE].value);
}

void t2x_text_child_ready(struct t2x_out *out, const struct t2x_event *ev)
{
	put_pid(out, ev);
	t2x_out_literal(out, " ready:");
	t2x_text_arg(out, &ev->args[T2X_READY_STATE]);
}

void t2x_text_exec_result(struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_out_literal(out, " code:");
	t2x_out_int(out, ev->args[T2X_EXEC_CODE].value);
	if (ev->args[T2X_EXEC_CODE].value > 0) {
		t2x_out_literal(out, " err:");
		t2x_text_arg(out, &ev->args[T2X_EXEC_ERROR]);
	}
}

void t2x_text_count(struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_out_literal(out, " value:");
	t2x_out_uint(out, (uint64_t)ev->args[0].value);
}

void t2x_text_unresolved(struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_out_literal(out, "?scope#");
	t2x_out_uint(out, ev->scope_index);
}

void t2x_text_labels(struct t2x_out *out, const struct t2x_event *ev)
{
	for (unsigned i = T2X_SAMPLE_LABELS; i + 1 < ev->nargs; i += 2) {
		if (i > T2X_SAMPLE_LABELS)
			t2x_out_char(out, ' ');
		t2x_text_arg(out, &ev->args[i]);
		t2x_out_char(out, '=');
		t2x_text_arg(out, &ev->args[i + 1]);
	}
}

void t2x_text_stack(const struct t2x_options *options, struct t2x_out *out, const struct t2x_event *ev)
{
	const struct t2x_stack_names *names = NULL;

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	if (!names)
		t2x_text_name(out, ev->scope->format);
	for (unsigned i = 0; names && i < names->n; i++) {
		if (i)
			t2x_out_literal(out, " < ");
		t2x_out_string(out, names->at[i]);
	}
}

void t2x_text_sample(const struct t2x_options *options, struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_out_literal(out, "count:");
	t2x_out_int(out, ev->args[T2X_SAMPLE_COUNT].value);
	t2x_out_literal(out, " value:");
	t2x_out_int(out, ev->args[T2X_SAMPLE_VALUE].value);
	t2x_out_char(out, ' ');
	if (ev->nargs > T2X_SAMPLE_LABELS) {
		t2x_text_labels(out, ev);
		t2x_out_char(out, ' ');
	}
	t2x_out_literal(out, "stack:");
	t2x_text_stack(options, out, ev);
}

void t2x_text_param(struct t2x_out *out, const struct t2x_event *ev, char separator)
{
	t2x_text_arg(out, &ev->args[T2X_PARAM_NAME]);
	if (ev->args[T2X_PARAM_VALUE].type == TLG_ARG_TEXT) {
		t2x_out_char(out, separator);
		t2x_text_arg(out, &ev->args[T2X_PARAM_VALUE]);
	}
}

void t2x_text_timer(struct t2x_printer *printer, const struct t2x_arg *args)
{
	struct t2x_out *out = printer->out;
	static const char *const names[] = { " intervals:", " total:", " min:", " max:" };

	t2x_out_string(out, names[T2X_TIMER_INTERVALS]);
	t2x_out_uint(out, (uint64_t)args[T2X_TIMER_INTERVALS].value);
	for (unsigned i = T2X_TIMER_TOTAL; i <= T2X_TIMER_MAX; i++) {
		t2x_out_string(out, names[i]);
		t2x_out_duration(out, (uint64_t)args[i].value, printer->options.ns);
	}
}

/* ---- what depends on the kind ------------------------------------------------------------------- */

const char *t2x_text_event_name(enum tlg_style style)
{
	const struct tlg_style_desc *desc;

	if (style == TLG_STYLE_data_intmax)
		style = TLG_STYLE_data;
	desc = tlg_style_by_id(style);
	return desc ? desc->name : "unresolved";
}

const char *t2x_text_param_scope(const struct t2x_arg *scope)
{
	static const char *const names[] = {
		"unknown", "system", "global", "local", "worktree", "command", "submodule"
	};
	uint64_t i = (uint64_t)scope->value;

	return names[i < sizeof(names) / sizeof(names[0]) ? i : 0];
}

/* ---- times of day ------------------------------------------------------------------------------- */

static char *put_hms(char *to, unsigned second_of_day)
{
	to = t2x_put_2(to, second_of_day / 3600);
	*to++ = ':';
	to = t2x_put_2(to, second_of_day / 60 % 60);
	*to++ = ':';
	to = t2x_put_2(to, second_of_day % 60);
	*to++ = '.';
	return to;
}

static void cache_local_second(struct t2x_second *cached, int64_t second)
{
	int64_t of_day = second % 86400;

	put_hms(cached->text, (unsigned)(of_day < 0 ? of_day + 86400 : of_day));
	cached->second = second;
	cached->length = 9;
}

static void cache_utc_second(struct t2x_second *cached, int64_t second)
{
	const struct tlg_date day = tlg_date_of((uint32_t)(second / 86400));
	char *to = cached->text;

	/* 64 bits of nanoseconds end in the year 2554, so a year has four digits. */
	to = t2x_put_2(to, day.year / 100);
	to = t2x_put_2(to, day.year % 100);
	*to++ = '-';
	to = t2x_put_2(to, day.month);
	*to++ = '-';
	to = t2x_put_2(to, day.day);
	*to++ = 'T';
	put_hms(to, (unsigned)(second % 86400));
	cached->second = second;
	cached->length = 20;
}

/* Put the digits behind the cached second, at position at.  With nanoseconds, the next event will not reuse them. */
static void cache_fraction(struct t2x_printer *printer, unsigned at, uint64_t ns)
{
	struct t2x_cached_time *cached = &printer->time;
	unsigned fraction = (unsigned)(ns % NS_PER_S);
	char *end = t2x_put_6(cached->text + at, fraction / 1000);

	if (printer->options.ns)
		end = t2x_put_3(end, fraction % 1000);
	cached->length = (unsigned)(end - cached->text);
	cached->ns = ns - ns % 1000;
	cached->span_ns = printer->options.ns ? 0 : 1000;
}

void t2x_text_cache_local_time(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_second *second = &printer->second;
	struct t2x_cached_time *cached = &printer->time;
	const uint64_t ns = t2x_event_day_ns(ev);
	int64_t now = (int64_t)(ns / NS_PER_S) + ev->thread->process->utcoff;

	if (second->second != now || !second->length)
		cache_local_second(second, now);
	memcpy(cached->text, second->text, 9);
	cache_fraction(printer, 9, ns);
	cached->process = ev->thread->process->number;
	if (!cached->process || ev->shift_ns)
		cached->span_ns = 0;
}

void t2x_text_cache_utc(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_second *second = &printer->second;
	struct t2x_cached_time *cached = &printer->time;
	const uint64_t ns = t2x_event_day_ns(ev);
	int64_t now = (int64_t)(ns / NS_PER_S);

	if (second->second != now || !second->length)
		cache_utc_second(second, now);
	memcpy(cached->text, second->text, 20);
	cache_fraction(printer, 20, ns);
	cached->text[cached->length++] = 'Z';
	if (ev->shift_ns)
		cached->span_ns = 0;
}

char *t2x_text_put_elapsed(const struct t2x_printer *printer, char *to, const struct t2x_event *ev, uint64_t elapsed_ns,
			   unsigned width)
{
	if (printer->options.ns)
		return t2x_put_seconds_exact(to, elapsed_ns, width);
	return t2x_put_seconds_us(to, t2x_event_us(ev, elapsed_ns), width);
}

void t2x_text_cache_elapsed(struct t2x_printer *printer, const struct t2x_event *ev, unsigned width)
{
	struct t2x_cached_time *cached = &printer->elapsed;
	char *end = t2x_text_put_elapsed(printer, cached->text, ev, t2x_event_abs_ns(ev), width);

	memcpy(end, " | ", 3);
	cached->length = (unsigned)(end + 3 - cached->text);
}

/* ---- places ------------------------------------------------------------------------------------- */

/* Return  the index into own_lines; -1: the kind has the place of its caller */
static int find_own_line(enum tlg_style style)
{
	switch (style) {
	case TLG_STYLE_signal:
		return 0;
	case TLG_STYLE_atexit:
		return 1;
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
		return 2;
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		return 3;
	default:
		return -1;
	}
}

struct t2x_text_place t2x_text_place(const struct t2x_event *ev, const char *own_file, const int own_lines[4])
{
	int own = find_own_line(ev->style);

	/* an imported trace has the place that its git printed in this format, whose lines vary with the version */
	if (own >= 0 && (!ev->scope || !ev->scope->file || strcmp(ev->scope->file, own_file) != 0))
		return (struct t2x_text_place){ own_file, own_lines[own] };
	if (!ev->scope || !ev->scope->file || !ev->scope->file[0] || ev->style == TLG_STYLE_sample)
		return (struct t2x_text_place){ NULL, 0 };
	return (struct t2x_text_place){ ev->scope->file, ev->scope->line };
}

/* SPDX-License-Identifier: MIT */
/* t2x_columns.c - what is laid out once for a scope or a thread, and what few lines need. */
#include "t2x_columns.h"

enum {
	PLACE_BYTES = T2X_COLUMNS_PLACE,
	EVENT_BYTES = 12,
	REPO_BYTES = 3,
	EXACT_TIME_BYTES = T2X_COLUMNS_TIME + 3,
	CATEGORY_BYTES = T2X_COLUMNS_CATEGORY,
	THREAD_BYTES = 24,
	/*
	 * git has no limit.  But a program that never leaves its regions makes a text that grows with the square of
	 * its events, beyond any disk.
	 */
	DOTS_MOST = 512,
	NAMES_ROOM = T2X_TEMPLATE_BYTES - T2X_NAMES_AT - T2X_TEMPLATE_STEP,
};

static const int own_lines[4] = { 207, 219, 580, 596 };

/* n bytes of text at to, blanks up to width, " | ". */
static char *put_column(char *to, const char *text, size_t n, size_t width)
{
	memcpy(to, text, n);
	if (n < width) {
		memset(to + n, ' ', width - n);
		n = width;
	}
	memcpy(to + n, " | ", 3);
	return to + n + 3;
}

/* ---- templates ---------------------------------------------------------------------------------- */

static void fill_place(char *to, const struct t2x_event *ev)
{
	struct t2x_text_place place = t2x_text_place(ev, "trace2/tr2_tgt_perf.c", own_lines);
	char text[PLACE_BYTES], line[T2X_MAX_DIGITS + 1];
	size_t name, digits;

	*to++ = ' ';
	if (!place.file) {
		put_column(to, "", 0, PLACE_BYTES);
		return;
	}
	name = strlen(place.file);
	line[0] = ':';
	digits = (size_t)(t2x_put_int(line + 1, place.line) - line);
	if (name + digits > PLACE_BYTES) {
		size_t tail = PLACE_BYTES - 3 - digits;

		memcpy(text, "...", 3);
		memcpy(text + 3, place.file + name - tail, tail);
		name = 3 + tail;
	} else {
		memcpy(text, place.file, name);
	}
	memcpy(text + name, line, digits);
	put_column(to, text, name + digits, PLACE_BYTES);
}

/* "region_enter | r1  | ". */
static char *fill_event(char *to, const struct t2x_event *ev)
{
	const char *name = t2x_text_event_name(ev->style);
	char repo[T2X_MAX_DIGITS + 2], *end = repo;

	to = put_column(to, name, strlen(name), EVENT_BYTES);
	if (ev->scope && ev->scope->repo) {
		*end++ = 'r';
		end = t2x_put_uint(end, t2x_repo_id(ev->scope));
		*end++ = ' ';
	}
	return put_column(to, repo, (size_t)(end - repo), REPO_BYTES);
}

/* What a payload begins with, as the scope has it: up to three texts. */
struct names {
	const char *text[3];
};

static struct names find_names(const struct t2x_event *ev)
{
	const char *label = ev->scope ? ev->scope->label : NULL;

	switch (ev->style) {
	case TLG_STYLE_region_enter:
	case TLG_STYLE_region_leave:
	case TLG_STYLE_step:
		return (struct names){ { label ? "label:" : "", label ? label : "", "" } };
	case TLG_STYLE_data:
	case TLG_STYLE_data_intmax:
	case TLG_STYLE_data_json:
		return (struct names){ { label ? label : "(null)", ":", "" } };
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		return (struct names){ { "name:", label ? label : "(null)", "" } };
	default:
		return (struct names){ { "", "", "" } };
	}
}

static uint16_t fill_names(char *to, const struct t2x_event *ev)
{
	const struct names names = find_names(ev);
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		size_t length = strlen(names.text[i]);

		if (length > NAMES_ROOM - n)
			return T2X_NAMES_TOO_LONG;
		memcpy(to + n, names.text[i], length);
		n += length;
	}
	return (uint16_t)n;
}

static void fill_scope(struct t2x_template *template, const struct t2x_event *ev)
{
	const char *category = ev->scope && ev->scope->category ? ev->scope->category : "";
	char *text = template->text, *event = text + T2X_EVENT_AT;

	fill_place(text + T2X_PLACE_AT, ev);
	template->length[T2X_EVENT_LENGTH] = (uint16_t)(fill_event(event, ev) - event);
	put_column(text + T2X_CATEGORY_AT, category, strnlen(category, CATEGORY_BYTES), CATEGORY_BYTES);
	template->length[T2X_NAMES_LENGTH] = fill_names(text + T2X_NAMES_AT, ev);
	template->number = ev->scope ? ev->scope->number : 0;
}

static void fill_thread(struct t2x_template *template, const struct t2x_event *ev)
{
	const char *name = ev->thread->name;
	char *p = template->text;

	*p++ = 'd';
	p = t2x_put_uint(p, ev->thread->process->depth);
	memcpy(p, " | ", 3);
	p = put_column(p + 3, name, strnlen(name, THREAD_BYTES), THREAD_BYTES);
	template->length[0] = (uint16_t)(p - template->text);
	template->number = ev->thread->number;
}

/* Templates, times as text, room in the output: see to what is not there, or not that of the event. */
static void prepare(struct t2x_printer *printer, const struct t2x_event *ev)
{
	uint64_t number = t2x_columns_scope(ev);
	struct t2x_template *scope = t2x_template_of_scope(printer->templates, number);
	struct t2x_template *thread = t2x_template_of_thread(printer->templates, ev->thread->number);

	if (!t2x_template_is_of(scope, number))
		fill_scope(scope, ev);
	if (!t2x_template_is_of(thread, ev->thread->number))
		fill_thread(thread, ev);
	if (!t2x_text_knows_time(printer, ev)) {
		t2x_text_keep_local_time(printer, ev);
		t2x_text_keep_elapsed(printer, t2x_event_us(ev, ev->abs_ns), T2X_COLUMNS_TIME);
	}
	t2x_out_room(printer->out, T2X_COLUMNS_ROOM);
}

/* ---- what few lines need ------------------------------------------------------------------------ */

static char *put_dots(char *p, size_t n)
{
	if (n > DOTS_MOST)
		n = DOTS_MOST;
	return (char *)memset(p, '.', n) + n;
}

/* Names that are too long for a template need no T2X_COLUMNS_ROOM before. */
static char *put_names(struct t2x_out *out, char *p, const struct t2x_template *template, const struct t2x_event *ev)
{
	unsigned n = template->length[T2X_NAMES_LENGTH];
	const struct names names = find_names(ev);

	if (n != T2X_NAMES_TOO_LONG)
		return (char *)memcpy(p, template->text + T2X_NAMES_AT, n) + n;
	out->pos = p;
	for (unsigned i = 0; i < 3; i++)
		t2x_out_string(out, names.text[i]);
	return t2x_out_room(out, T2X_COLUMNS_ROOM);
}

static char *put_exact_time(char *p, uint64_t ns, int is_shown)
{
	if (is_shown)
		p = t2x_put_seconds_exact(p, ns, EXACT_TIME_BYTES);
	else
		p = (char *)memset(p, ' ', EXACT_TIME_BYTES) + EXACT_TIME_BYTES;
	memcpy(p, " | ", 3);
	return p + 3;
}

/* As t2x_columns_put(), with nanoseconds. */
static char *put_exact(const struct t2x_printer *printer, const struct t2x_event *ev, const struct t2x_template *scope,
		       const struct t2x_template *thread, unsigned times)
{
	char *p = printer->out->pos;

	if (!printer->options.brief) {
		memcpy(p, printer->time.text, T2X_LOCAL_TIME_NS);
		p += T2X_LOCAL_TIME_NS;
		memcpy(p, scope->text + T2X_PLACE_AT, T2X_PLACE_COPY);
		p += T2X_PLACE_COPY;
	}
	memcpy(p, thread->text, T2X_THREAD_COPY);
	p += thread->length[0];
	memcpy(p, scope->text + T2X_EVENT_AT, T2X_EVENT_COPY);
	p += scope->length[T2X_EVENT_LENGTH];
	p = put_exact_time(p, ev->abs_ns, times & T2X_COLUMNS_ABSOLUTE);
	p = put_exact_time(p, ev->rel_ns, times & T2X_COLUMNS_RELATIVE);
	memcpy(p, scope->text + T2X_CATEGORY_AT, T2X_CATEGORY_COPY);
	return p + T2X_COLUMNS_CATEGORY + 3;
}

char *t2x_columns_begin_any(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
			    const char *category)
{
	const struct t2x_template *scope = t2x_template_of_scope(printer->templates, t2x_columns_scope(ev));
	const struct t2x_template *thread = t2x_template_of_thread(printer->templates, ev->thread->number);
	char *p;

	if (ev->rel_ns == T2X_NO_TIME)
		times &= ~(unsigned)T2X_COLUMNS_RELATIVE;
	prepare(printer, ev);
	p = printer->options.ns ? put_exact(printer, ev, scope, thread, times)
				: t2x_columns_put(printer, ev, scope, thread, times, 0);
	if (category)
		put_column(p - CATEGORY_BYTES - 3, category, strnlen(category, CATEGORY_BYTES), CATEGORY_BYTES);
	return put_names(printer->out, put_dots(p, t2x_columns_dots(ev)), scope, ev);
}

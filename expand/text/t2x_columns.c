/* SPDX-License-Identifier: MIT */
/* t2x_columns.c - see t2x_columns.h. */
#include "t2x_columns.h"

enum {
	PLACE_BYTES = T2X_COLUMNS_PLACE,
	EVENT_BYTES = 12,
	REPO_BYTES = 3,
	CATEGORY_BYTES = T2X_COLUMNS_CATEGORY,
	THREAD_BYTES = 24,
	/*
	 * git has no limit.  But if a program never leaves its regions, the text grows with the square of its events
	 * and would fill any disk.
	 */
	DOTS_MAX = 512,
	NAMES_ROOM = T2X_TEMPLATE_BYTES - T2X_NAMES_AT - T2X_TEMPLATE_STEP,
};

static const int own_lines[4] = { 207, 219, 580, 596 };

/* Put n bytes of text, blanks up to width, and " | ". */
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

/* The beginning of a payload that the scope decides: up to three texts. */
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

/* The width of a time in seconds. */
static unsigned find_width(const struct t2x_printer *printer)
{
	return printer->options.ns ? T2X_COLUMNS_TIME + 3 : T2X_COLUMNS_TIME;
}

/* Prepare what the line needs: the templates, the cached times of the event, room in the output. */
static void prepare(struct t2x_printer *printer, const struct t2x_event *ev)
{
	uint64_t number = t2x_columns_scope(ev);
	struct t2x_template *scope = t2x_template_of_scope(printer->templates, number);
	struct t2x_template *thread = t2x_template_of_thread(printer->templates, ev->thread->number);

	if (!t2x_template_is_of(scope, number))
		fill_scope(scope, ev);
	if (!t2x_template_is_of(thread, ev->thread->number))
		fill_thread(thread, ev);
	if (!t2x_text_has_cached_time(printer, ev)) {
		t2x_text_cache_local_time(printer, ev);
		t2x_text_cache_elapsed(printer, ev, find_width(printer));
	}
	t2x_out_room(printer->out, T2X_COLUMNS_ROOM);
}

/* ---- lines --------------------------------------------------------------------------------------- */

static char *put_times(const struct t2x_printer *printer, char *p, const struct t2x_event *ev, unsigned times)
{
	const unsigned width = find_width(printer);

	if (times & T2X_COLUMNS_ABSOLUTE)
		p = (char *)memcpy(p, printer->elapsed.text, T2X_CACHED_TIME_BYTES) + printer->elapsed.length;
	else
		p = put_column(p, "", 0, width);
	if (!(times & T2X_COLUMNS_RELATIVE) || ev->rel_ns == T2X_NO_TIME)
		return put_column(p, "", 0, width);
	p = t2x_text_put_elapsed(printer, p, ev, ev->rel_ns, width);
	memcpy(p, " | ", 3);
	return p + 3;
}

static char *put_columns(const struct t2x_printer *printer, const struct t2x_event *ev,
			 const struct t2x_template *scope, const struct t2x_template *thread, unsigned times)
{
	char *p = printer->out->pos;

	if (!printer->options.brief) {
		p = (char *)memcpy(p, printer->time.text, printer->time.length) + printer->time.length;
		p = (char *)memcpy(p, scope->text + T2X_PLACE_AT, T2X_PLACE_COPY) + T2X_PLACE_COPY;
	}
	p = (char *)memcpy(p, thread->text, T2X_THREAD_COPY) + thread->length[0];
	p = (char *)memcpy(p, scope->text + T2X_EVENT_AT, T2X_EVENT_COPY) + scope->length[T2X_EVENT_LENGTH];
	p = put_times(printer, p, ev, times);
	memcpy(p, scope->text + T2X_CATEGORY_AT, T2X_CATEGORY_COPY);
	return p + CATEGORY_BYTES + 3;
}

static char *put_dots(char *p, size_t n)
{
	if (n > DOTS_MAX)
		n = DOTS_MAX;
	return (char *)memset(p, '.', n) + n;
}

/* Put the names, from the template or, if they are too long for it, directly. */
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

char *t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times, const char *category)
{
	const struct t2x_template *scope = t2x_template_of_scope(printer->templates, t2x_columns_scope(ev));
	const struct t2x_template *thread = t2x_template_of_thread(printer->templates, ev->thread->number);
	char *p;

	prepare(printer, ev);
	p = put_columns(printer, ev, scope, thread, times);
	if (category)
		put_column(p - CATEGORY_BYTES - 3, category, strnlen(category, CATEGORY_BYTES), CATEGORY_BYTES);
	return put_names(printer->out, put_dots(p, t2x_columns_dots(ev)), scope, ev);
}

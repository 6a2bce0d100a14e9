/* SPDX-License-Identifier: MIT */
/*
 * t2x_columns.c - see t2x_columns.h.
 *
 * Perf is the format of most lines.  A line is put together from templates in copies of fixed size, each of
 * which may write more than it has to say: the next one goes over it.
 */
#include "t2x_columns.h"

#include "t2x_text.h"

enum {
	PLACE_BYTES = 28,       /* of "file:line"; what is longer loses its beginning */
	EVENT_BYTES = 12,
	REPO_BYTES = 3,
	TIME_BYTES = 9,
	CATEGORY_BYTES = T2X_COLUMNS_CATEGORY,
	THREAD_BYTES = 24,
};

/*
 * Where the columns lie in the template of a scope, their separators included, and how many bytes are copied
 * from there: " m.c:1<blanks> | ", "region_enter | r1  | ", "category     | ", "label:refresh".
 */
enum {
	PLACE_AT = 0, PLACE_COPY = 1 + PLACE_BYTES + 3,
	EVENT_AT = PLACE_COPY, EVENT_COPY = 32,
	CATEGORY_AT = EVENT_AT + EVENT_COPY, CATEGORY_COPY = 16,
	NAMES_AT = CATEGORY_AT + CATEGORY_COPY,
	NAMES_ROOM = T2X_TEMPLATE_BYTES - NAMES_AT - T2X_TEMPLATE_STEP,
	THREAD_COPY = 48,       /* of a thread's template: "d0 | main<blanks> | " */
	DOTS_COPY = 64,
	/* at least what all this can write */
	LINE_ROOM = 1024,
};
enum { EVENT_LENGTH, NAMES_LENGTH };   /* of a scope's template; a thread's has one length */
enum { TOO_LONG = UINT16_MAX };        /* names that do not fit: they are put together for each line */

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
	struct t2x_place place = t2x_text_place(ev, "trace2/tr2_tgt_perf.c", own_lines);
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
			return TOO_LONG;
		memcpy(to + n, names.text[i], length);
		n += length;
	}
	return (uint16_t)n;
}

static void fill_scope(struct t2x_template *template, const struct t2x_event *ev)
{
	const char *category = ev->scope && ev->scope->category ? ev->scope->category : "";
	char *text = template->text;

	fill_place(text + PLACE_AT, ev);
	template->length[EVENT_LENGTH] = (uint16_t)(fill_event(text + EVENT_AT, ev) - (text + EVENT_AT));
	put_column(text + CATEGORY_AT, category, strnlen(category, CATEGORY_BYTES), CATEGORY_BYTES);
	template->length[NAMES_LENGTH] = fill_names(text + NAMES_AT, ev);
	template->number = ev->scope ? ev->scope->number : 0;
}

static const struct t2x_template *find_scope(struct t2x_printer *printer, const struct t2x_event *ev)
{
	uint64_t number = ev->scope ? ev->scope->number : 0;
	struct t2x_template *template = t2x_template_of_scope(printer->templates, number);

	if (!t2x_template_is_of(template, number))
		fill_scope(template, ev);
	return template;
}

static void fill_thread(struct t2x_template *template, const struct t2x_event *ev)
{
	const char *name = ev->thread->name;
	char *p = template->text;

	*p++ = 'd';
	p = t2x_put_uint(p, ev->process->depth);
	memcpy(p, " | ", 3);
	p = put_column(p + 3, name, strnlen(name, THREAD_BYTES), THREAD_BYTES);
	template->length[0] = (uint16_t)(p - template->text);
	template->number = ev->thread->number;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* "d0 | main                     | " */
static char *put_thread(struct t2x_printer *printer, char *p, const struct t2x_event *ev)
{
	struct t2x_template *template = t2x_template_of_thread(printer->templates, ev->thread->number);

	if (!t2x_template_is_of(template, ev->thread->number))
		fill_thread(template, ev);
	memcpy(p, template->text, THREAD_COPY);
	return p + template->length[0];
}

static char *put_times(struct t2x_printer *printer, char *p, const struct t2x_event *ev, unsigned times)
{
	static const char none[16] = "          | ";

	if (times & T2X_COLUMNS_ABSOLUTE)
		p = t2x_text_elapsed(printer, p, ev->abs_us, TIME_BYTES);
	else
		p = (char *)memcpy(p, none, TIME_BYTES) + TIME_BYTES;
	memcpy(p, " | ", 3);
	p += 3;
	if (!(times & T2X_COLUMNS_RELATIVE))
		return (char *)memcpy(p, none, TIME_BYTES + 3) + TIME_BYTES + 3;
	p = t2x_put_seconds_us(p, ev->rel_us, TIME_BYTES);
	memcpy(p, " | ", 3);
	return p + 3;
}

/* Two for each region around the event, the thread's own excepted. */
static char *put_dots(struct t2x_out *out, char *p, unsigned open)
{
	static const char dots[DOTS_COPY + 1] = "................................................................";
	size_t n = open > 1 ? 2 * ((size_t)open - 1) : 0;

	if (n <= DOTS_COPY) {
		memcpy(p, dots, DOTS_COPY);
		return p + n;
	}
	out->pos = p;
	t2x_out_repeat(out, '.', n);
	return t2x_out_room(out, LINE_ROOM);
}

static void put_names(struct t2x_out *out, char *p, const struct t2x_template *template,
		      const struct t2x_event *ev)
{
	unsigned n = template->length[NAMES_LENGTH];

	if (n != TOO_LONG) {
		out->pos = t2x_template_put(p, template->text + NAMES_AT, n);
	} else {
		const struct names names = find_names(ev);

		out->pos = p;
		for (unsigned i = 0; i < 3; i++)
			t2x_out_string(out, names.text[i]);
	}
}

void t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
		       const char *category)
{
	const struct t2x_template *template = find_scope(printer, ev);
	const char *text = template->text;
	struct t2x_out *out = printer->out;
	char *p = t2x_out_room(out, LINE_ROOM);

	if (!printer->options.brief) {
		p = t2x_text_local_time(printer, p, ev);
		memcpy(p, text + PLACE_AT, PLACE_COPY);
		p += PLACE_COPY;
	}
	p = put_thread(printer, p, ev);
	memcpy(p, text + EVENT_AT, EVENT_COPY);
	p = put_times(printer, p + template->length[EVENT_LENGTH], ev, times);
	if (category)
		put_column(p, category, strnlen(category, CATEGORY_BYTES), CATEGORY_BYTES);
	else
		memcpy(p, text + CATEGORY_AT, CATEGORY_COPY);
	p = put_dots(out, p + CATEGORY_BYTES + 3, ev->open);
	put_names(out, p, template, ev);
}

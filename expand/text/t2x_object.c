/* SPDX-License-Identifier: MIT */
/*
 * t2x_object.c - see t2x_object.h.
 *
 * Templates cache what is escaped once: the place, repository and names of a scope, and the names of session and
 * thread.
 */
#include "t2x_object.h"

#include "t2x_json.h"
#include "t2x_text.h"

static const int own_lines[4] = { 191, 207, 657, 678 };

/* {"event":"<name>","sid":"  for each kind. */
enum { OPENING_BYTES = 64 };
struct opening {
	char text[OPENING_BYTES];
	unsigned length;
};
#define OPENING_TEXT(name) "{\"event\":\"" name "\",\"sid\":\""
#define OPENING(name) { OPENING_TEXT(name), sizeof(OPENING_TEXT(name)) - 1 }

static const struct opening openings[TLG_STYLE_COUNT] = {
#define TLG_STYLE(id, name, args, desc) [id] = OPENING(#name),
#include "tlg_styles.def"
#undef TLG_STYLE
	[TLG_STYLE_none] = OPENING("unresolved"),
};

/*
 * Indexes of the lengths in a template: ,"file":..,"line":..,"repo":.. and ,"category":..,"label":.. of a scope;
 * <sid>","thread":"<name> of a thread.
 */
enum { PLACE, NAMES };
/* More bytes than the opening, the time and the parts of templates need. */
enum { OBJECT_ROOM = 2048 };

/* ---- what a checkpoint decides alone ------------------------------------------------------------ */

static void build_place(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_text_place place = t2x_text_place(ev, "trace2/tr2_tgt_event.c", own_lines);

	if (place.file && !printer->options.brief) {
		t2x_json_text(printer->out, "file", place.file, strlen(place.file));
		t2x_json_int(printer->out, "line", place.line);
	}
	if (ev->scope && ev->scope->repo)
		t2x_json_int(printer->out, "repo", t2x_repo_id(ev->scope));
}

/* The key under which the kind has its label. */
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

	if (!scope)
		return;
	if (scope->category)
		t2x_json_text(printer->out, "category", scope->category, strlen(scope->category));
	if (scope->label)
		t2x_json_text(printer->out, name_label(ev->style), scope->label, strlen(scope->label));
}

/* ---- templates ---------------------------------------------------------------------------------- */

static size_t measure(const char *text)
{
	return text ? strlen(text) : 0;
}

typedef void build_fn(struct t2x_printer *printer, const struct t2x_event *ev);

/*
 * Append to the template what build() makes.  It makes it in the free part of the output buffer, which has enough room
 * however many bytes must be escaped.
 */
static void cache(struct t2x_printer *printer, const struct t2x_event *ev, struct t2x_template *template,
		 unsigned which, build_fn *build)
{
	char *at = t2x_out_room(printer->out, T2X_OUT_ROOM);
	size_t n;

	build(printer, ev);
	n = (size_t)(printer->out->pos - at);
	printer->out->pos = at;
	t2x_template_keep(template, which, at, n);
}

/* Whether texts of n bytes in all fit into the free part of the output buffer, even if all bytes are escaped. */
static int is_short(size_t n)
{
	return n <= T2X_OUT_ROOM / 6 - 64;
}

static __attribute__((noinline)) void fill_scope(struct t2x_printer *printer, const struct t2x_event *ev,
						 struct t2x_template *template)
{
	const struct t2x_scope *scope = ev->scope;

	template->number = scope ? scope->number : 0;
	template->length[PLACE] = template->length[NAMES] = T2X_TEMPLATE_TOO_LONG;
	if (scope && is_short(measure(scope->file) + measure(scope->category) + measure(scope->label))) {
		cache(printer, ev, template, PLACE, build_place);
		cache(printer, ev, template, NAMES, build_names);
	}
}

static inline const struct t2x_template *find_scope(struct t2x_printer *printer, const struct t2x_event *ev)
{
	uint64_t number = ev->scope ? ev->scope->number : 0;
	struct t2x_template *template = t2x_template_of_scope(printer->templates, number);

	if (!t2x_template_is_of(template, number))
		fill_scope(printer, ev, template);
	return template;
}

static void build_thread(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_json_escaped(printer->out, ev->thread->process->sid, strlen(ev->thread->process->sid));
	t2x_out_literal(printer->out, "\",\"thread\":\"");
	t2x_json_escaped(printer->out, ev->thread->name, strlen(ev->thread->name));
}

static __attribute__((noinline)) void fill_thread(struct t2x_printer *printer, const struct t2x_event *ev,
						  struct t2x_template *template)
{
	template->number = ev->thread->number;
	template->length[0] = T2X_TEMPLATE_TOO_LONG;
	if (is_short(strlen(ev->thread->process->sid)))
		cache(printer, ev, template, 0, build_thread);
}

static inline const struct t2x_template *find_thread(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_template *template = t2x_template_of_thread(printer->templates, ev->thread->number);

	if (!t2x_template_is_of(template, ev->thread->number))
		fill_thread(printer, ev, template);
	return template;
}

/* Put a part that has no room in a template.  Return  the byte behind, with OBJECT_ROOM bytes free */
static __attribute__((noinline)) char *build_part(struct t2x_printer *printer, char *p, const struct t2x_event *ev,
						  build_fn *build)
{
	printer->out->pos = p;
	build(printer, ev);
	return t2x_out_room(printer->out, OBJECT_ROOM);
}

/* Put a part of a template at p, or make the part if the template lacks it. */
static inline char *put_part(struct t2x_printer *printer, char *p, const struct t2x_event *ev,
			     const struct t2x_template *template, unsigned which, build_fn *build)
{
	if (template->length[which] == T2X_TEMPLATE_TOO_LONG)
		return build_part(printer, p, ev, build);
	return t2x_template_put(p, template->text + (which ? template->length[0] : 0), template->length[which]);
}

void t2x_object_names(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_template *scope = find_scope(printer, ev);
	char *p = t2x_out_room(printer->out, OBJECT_ROOM);

	printer->out->pos = put_part(printer, p, ev, scope, NAMES, build_names);
}

/* ---- objects ------------------------------------------------------------------------------------ */

/* git's brief form has the time only on the first and the last event. */
static inline int has_time(const struct t2x_printer *printer, const struct t2x_event *ev)
{
	return !printer->options.brief || ev->style == TLG_STYLE_version || ev->style == TLG_STYLE_atexit;
}

void t2x_object_begin(struct t2x_printer *printer, const struct t2x_event *ev)
{
	static const char time[16] = "\",\"time\":\"";
	enum { TIME_LENGTH = 10 };
	enum tlg_style name = ev->style == TLG_STYLE_data_intmax ? TLG_STYLE_data : ev->style;
	const struct opening *opening = &openings[name];
	/* Filling a template uses the output's free part for a while, so this comes first. */
	const struct t2x_template *scope = find_scope(printer, ev), *thread = find_thread(printer, ev);
	char *p = t2x_out_room(printer->out, OBJECT_ROOM);

	memcpy(p, opening->text, OPENING_BYTES);
	p = put_part(printer, p + opening->length, ev, thread, 0, build_thread);
	if (has_time(printer, ev)) {
		memcpy(p, time, sizeof(time));
		p = t2x_text_utc(printer, p + TIME_LENGTH, ev);
	}
	*p++ = '"';
	printer->out->pos = put_part(printer, p, ev, scope, PLACE, build_place);
}

void t2x_object_end(struct t2x_printer *printer)
{
	char *p = t2x_out_room(printer->out, 2);

	*p = '}';
	t2x_out_end_line_at(printer->out, p + 1);
}

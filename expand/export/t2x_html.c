/* SPDX-License-Identifier: MIT */
/*
 * t2x_html.c - the trace as a page of its own, to look at in a browser.
 *
 * The page is built from expand/page into the program, with a mark where the data go.  A region is an enter and a
 * leave; everything else is a point with a number, a text, or none.
 */
#include "t2x_html_data.h"
#include "t2x_html_page.h"
#include "t2x_payload.h"
#include "profile/t2x_prof_kinds.h"
#include "text/t2x_formats.h"
#include "text/t2x_text.h"

#include <errno.h>

#include "base/t2x_memory.h"

static const char mark[] = "<!--T2-DATA-->";

struct html {
	struct t2x_html_data data;
	struct t2x_out says;              /* where the text of a point is printed to ... */
	struct t2x_html_column text;      /* ... and what it is then */
};

enum { THREAD_BYTES = 704 };              /* of memory for a thread, with few events: two columns among it */

size_t t2x_html_page_bytes(void)
{
	return (size_t)(t2x_html_page_end - t2x_html_page);
}

/* Where the data go; the build has put the mark there. */
static const char *find_mark(void)
{
	return memmem(t2x_html_page, t2x_html_page_bytes(), mark, sizeof(mark) - 1);
}

/* ---- begin and end ------------------------------------------------------------------------------ */

static int keep_text(void *target, const char *text, size_t n)
{
	struct t2x_html_column *column = target;
	unsigned char *grown;

	if (column->room - column->length < n) {
		grown = t2x_realloc(column->bytes, 2 * (column->length + n));
		if (!grown)
			return ENOMEM;
		column->bytes = grown;
		column->room = 2 * (column->length + n);
	}
	memcpy(column->bytes + column->length, text, n);
	column->length += n;
	return 0;
}

static void free_html(struct html *html)
{
	t2x_html_free(&html->data);
	t2x_out_free(&html->says);
	t2x_free(html->text.bytes);
	t2x_free(html);
}

static int begin(struct t2x_printer *printer)
{
	struct html *html = t2x_calloc(1, sizeof(*html));

	if (html && !t2x_out_init_fn(&html->says, keep_text, &html->text))
		html->data.block = t2x_html_block_new(printer->out);
	if (!html || !html->data.block) {
		if (html)
			free_html(html);
		return -ENOMEM;
	}
	html->data.source = printer->options.source;
	html->data.sites.others = &html->data.held;
	printer->own = html;
	t2x_out_long(printer->out, t2x_html_page, (size_t)(find_mark() - t2x_html_page));
	return 0;
}

static void finish(struct t2x_printer *printer)
{
	struct html *html = printer->own;
	const char *rest = find_mark() + sizeof(mark) - 1;

	t2x_html_finish(&html->data);
	t2x_out_long(printer->out, rest, (size_t)(t2x_html_page_end - rest));
	if (html->data.error && !printer->out->error)
		printer->out->error = -html->data.error;
	free_html(html);
	printer->own = NULL;
}

/* ---- events ------------------------------------------------------------------------------------- */

static unsigned find_depth(const struct t2x_event *ev)
{
	return ev->open ? ev->open - 1 : 0;   /* without the thread's own level */
}

static const char *find_kind(const struct t2x_event *ev)
{
	static const char *const names[TLG_STYLE_COUNT] = {
#define TLG_STYLE(id, name, args, desc) [id] = #name,
#include "tlg_styles.def"
#undef TLG_STYLE
	};

	return ev->lost ? "mark" : !ev->scope ? "unresolved" : names[ev->style];
}

/* An event at its site.  Return  its thread; NULL: it is left out, or no memory */
static struct t2x_html_thread *put_event(struct html *html, const struct t2x_event *ev, const char *text, size_t length)
{
	struct t2x_html_thread *thread = t2x_html_thread(&html->data, ev->thread, ev->ns);
	int64_t site = t2x_html_site(&html->data.sites, find_kind(ev), ev->scope);

	if (site < 0)
		html->data.error = -ENOMEM;
	if (!thread || site < 0)
		return NULL;
	if (thread->depth != find_depth(ev))
		t2x_html_depth(&html->data, thread, find_depth(ev));
	t2x_html_event(&html->data, thread, ev->ns, T2X_HTML_FIRST_SITE + (uint64_t)site, text, length);
	return thread;
}

static void print_region_enter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct html *html = printer->own;
	struct t2x_html_thread *thread = put_event(html, ev, ev->message, ev->message_length);

	if (!thread)
		return;
	if (thread->depth < 64)
		thread->named = (thread->named & ~(UINT64_C(1) << thread->depth)) |
				(uint64_t)(ev->message != NULL) << thread->depth;
	thread->depth++;
}

/* The message of a leave is told only if its enter had none: as a rule they are the same. */
static void put_leave(struct html *html, struct t2x_html_thread *thread, const struct t2x_event *ev, unsigned depth)
{
	int is_named = depth < 64 && thread->named >> depth & 1;

	if (thread->depth > depth + 1)
		t2x_html_depth(&html->data, thread, depth + 1);
	t2x_html_event(&html->data, thread, ev->ns, T2X_HTML_LEAVE, is_named ? NULL : ev->message, ev->message_length);
	thread->depth = depth;
}

/* A leave that leaves nothing is shown as a point. */
static void print_region_leave(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct html *html = printer->own;
	struct t2x_html_thread *thread = t2x_html_thread(&html->data, ev->thread, ev->ns);

	if (!thread)
		return;
	if (thread->depth > find_depth(ev))
		put_leave(html, thread, ev, find_depth(ev));
	else
		put_event(html, ev, ev->message, ev->message_length);
}

/* Since the last event before what is missing.  Return  0: there was none */
static uint64_t find_length(const struct t2x_event *ev)
{
	uint64_t since = ev->lost->since_ns;

	return since && since < ev->ns ? ev->ns - since : 0;
}

/* A number, that of what is missing included. */
static void print_number(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct html *html = printer->own;
	struct t2x_html_thread *thread = put_event(html, ev, NULL, 0);
	int is_huge = ev->args[0].type == TLG_ARG_UINT && ev->args[0].value < 0;

	if (!thread)
		return;
	t2x_html_value(&html->data, thread, is_huge ? INT64_MAX : ev->args[0].value);
	if (ev->lost)
		t2x_html_length(&html->data, thread, find_length(ev));
}

static void print_text(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct html *html = printer->own;

	html->text.length = 0;
	t2x_payload(&html->says, ev, &printer->options);
	t2x_out_flush(&html->says);
	put_event(html, ev, html->text.length ? (const char *)html->text.bytes : NULL, html->text.length);
}

/*
 * A sample has its labels as text, then its stack, count, value and scale.  Its site is the profile: of its scope the
 * file is modules, and it has no line.
 */
static void print_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_options *options = &printer->options;
	const struct t2x_stack_names *names = NULL;
	const struct t2x_scope profile = { .category = ev->scope->category };
	struct t2x_event named = *ev;
	struct html *html = printer->own;
	struct t2x_html_thread *thread;
	int64_t stack;

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	stack = t2x_html_stack(&html->data.stacks, ev->scope, names);
	if (stack < 0)
		html->data.error = -ENOMEM;
	named.scope = &profile;
	html->text.length = 0;
	t2x_text_labels(&html->says, ev);
	t2x_out_flush(&html->says);
	thread = put_event(html, &named, html->text.length ? (const char *)html->text.bytes : NULL, html->text.length);
	if (!thread)
		return;
	t2x_html_value(&html->data, thread, stack < 0 ? 0 : stack);
	t2x_html_value(&html->data, thread, ev->args[T2X_SAMPLE_COUNT].value);
	t2x_html_value(&html->data, thread, ev->args[T2X_SAMPLE_VALUE].value);
	t2x_html_scale(&html->data, thread,
		       t2x_prof_scale(t2x_prof_kind_of(profile.category), ev->args[T2X_SAMPLE_COUNT].value,
				      ev->args[T2X_SAMPLE_VALUE].value, ev->args[T2X_SAMPLE_PERIOD].value));
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	put_event(printer->own, ev, NULL, 0);
}

#define print_data_intmax print_number
#define print_counter print_number
#define print_th_counter print_number
#define print_step print_text
#define print_region_unwind NULL   /* its leaves are events */
#define print_version print_text
#define print_too_many_files print_text
#define print_start print_text
#define print_exit print_text
#define print_atexit print_text
#define print_signal print_text
#define print_error print_text
#define print_cmd_path print_text
#define print_cmd_ancestry print_text
#define print_cmd_name print_text
#define print_cmd_mode print_text
#define print_alias print_text
#define print_child_start print_text
#define print_child_exit print_text
#define print_child_ready print_text
#define print_exec print_text
#define print_exec_result print_text
#define print_thread_start print_text
#define print_thread_exit print_text
#define print_def_param print_text
#define print_def_repo print_text
#define print_data print_text
#define print_data_json print_text
#define print_printf print_text
#define print_timer print_text
#define print_th_timer print_text
#define print_snapshot print_text

const struct t2x_writer t2x_writer_html = {
	.thread_bytes = THREAD_BYTES,
	.begin = begin,
	.finish = finish,
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

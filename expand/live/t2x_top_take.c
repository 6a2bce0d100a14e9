/* SPDX-License-Identifier: MIT */
/* t2x_top_take.c - adds up. */
#include "t2x_top_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct t2x_top_settings *g_settings;
static struct t2x_top *g_top;             /* the writer's, while it works */

void t2x_top_set(const struct t2x_top_settings *settings)
{
	g_settings = settings;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

static struct t2x_top_row *new_row(struct t2x_top_rows *rows, const char *name)
{
	struct t2x_top_row *row;

	if (rows->n == rows->room) {
		unsigned room = rows->room ? 2 * rows->room : 64;
		struct t2x_top_row **more = realloc(rows->rows, room * sizeof(*more));

		if (!more)
			return NULL;
		rows->rows = more;
		rows->room = room;
	}
	row = calloc(1, sizeof(*row));
	if (!row || !(row->name = strdup(name))) {
		free(row);
		return NULL;
	}
	rows->rows[rows->n++] = row;
	return row;
}

struct t2x_top_row *t2x_top_find(struct t2x_top_rows *rows, const char *name)
{
	uint32_t hash = hash_of(name);
	struct t2x_top_row *first = t2x_map_get(&rows->by_hash, hash), *row = first;

	while (row && strcmp(row->name, name) != 0)
		row = row->alike;
	if (row)
		return row;
	if (rows->n >= T2X_TOP_ROWS) {
		if (!rows->others)
			rows->others = new_row(rows, "(others)");
		return rows->others;
	}
	row = new_row(rows, name);
	if (row && !t2x_map_put(&rows->by_hash, hash, row))
		row->alike = first;
	return row;
}

void t2x_top_rows_free(struct t2x_top_rows *rows)
{
	for (unsigned i = 0; i < rows->n; i++) {
		t2x_histogram_free(&rows->rows[i]->durations);
		free(rows->rows[i]->name);
		free(rows->rows[i]);
	}
	free(rows->rows);
	t2x_map_free(&rows->by_hash);
}

/* ---- events ------------------------------------------------------------------------------------- */

static struct t2x_top_row *label_of(struct t2x_top *top, const struct t2x_scope *scope)
{
	unsigned at = scope->number % T2X_TOP_CACHED;
	char name[256];

	if (scope->number && top->cache[at].scope == scope->number)
		return top->cache[at].row;
	snprintf(name, sizeof(name), "%s/%s", scope->category ? scope->category : "",
		 scope->label ? scope->label : "");
	top->cache[at].row = t2x_top_find(&top->labels, name);
	top->cache[at].scope = scope->number;
	return top->cache[at].row;
}

/* The process id is all that is kept of a thread.  Return  0: no memory */
static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	uint32_t *pid = spans->own ? spans->own : malloc(sizeof(*pid));

	(void)table;
	(void)is_renamed;
	spans->own = pid;
	if (pid)
		*pid = ev->thread->process->pid;
	return pid != NULL;
}

static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	(void)table;
	free(spans->own);
	spans->own = NULL;
}

/* A region was left: its duration counts if both ends are known. */
static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct t2x_top *top = (struct t2x_top *)(void *)table;
	struct t2x_top_row *row = span->own;

	(void)spans;
	span->own = NULL;
	/* What began before we did is seen ending only if it is long, which would be no fair choice. */
	if (!row || !t2x_span_is_exact(end) || span->start_ns < top->first_ns)
		return;
	row->total_ns += span->end_ns - span->start_ns;
	t2x_histogram_add(&row->durations, span->end_ns - span->start_ns, &top->budget);
}

/* The function that a sample was in, and who called it. */
static void take_sample(struct t2x_top *top, const struct t2x_event *ev)
{
	const struct t2x_options *options = &top->printer->options;
	const struct t2x_stack_names *names =
		options->name_stack && ev->scope ? options->name_stack(options->namer, ev->scope) : NULL;
	struct t2x_top_row *row;
	char name[512];

	if (!names || !names->n || !ev->scope->category ||
	    (strcmp(ev->scope->category, "cpu") != 0 && strcmp(ev->scope->category, "wall") != 0))
		return;
	snprintf(name, sizeof(name), "%s: %s < %s", ev->scope->category, names->at[0],
		 names->n > 1 ? names->at[1] : "(nobody)");
	row = t2x_top_find(&top->functions, name);
	if (row)
		row->count += ev->nargs ? (uint64_t)ev->args[0].value : 1;
}

static void take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_top *top = printer->own;
	struct t2x_span *at = ev->spans ? ev->spans->at : NULL;
	struct t2x_top_row *row;

	if (ev->lost) {
		top->lost += ev->lost->what == T2X_LOST_EVENTS && ev->nargs ? (uint64_t)ev->args[0].value : 0;
		return;
	}
	if (!ev->scope)
		return;
	if (ev->style == TLG_STYLE_sample) {
		take_sample(top, ev);
		return;
	}
	row = ev->scope->category || ev->scope->label ? label_of(top, ev->scope) : NULL;
	if (at && ev->style == TLG_STYLE_region_enter && !at->is_thread)
		at->own = row;
	if (ev->ns < top->first_ns || ev->is_repeated)
		return;
	top->events++;
	if (row && ev->style != TLG_STYLE_region_leave)
		row->count++;
}

/* ---- all ---------------------------------------------------------------------------------------- */

static int begin_top(struct t2x_printer *printer)
{
	struct t2x_top *top = calloc(1, sizeof(*top));
	struct timespec now;

	if (!top)
		return -ENOMEM;
	top->settings = *g_settings;
	top->printer = printer;
	top->budget = T2X_TOP_HISTOGRAMS;
	top->table.meet_thread = meet_thread;
	top->table.end_span = end_span;
	top->table.forget_thread = forget_thread;
	clock_gettime(CLOCK_REALTIME, &now);
	top->first_ns = top->drawn_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	t2x_spans_begin(&top->table, printer);
	printer->own = g_top = top;
	if (top->settings.is_terminal && !top->settings.is_once)
		t2x_top_open_screen(top);
	return 0;
}

static void finish_top(struct t2x_printer *printer)
{
	struct t2x_top *top = printer->own;

	if (top->settings.is_terminal && !top->settings.is_once)
		t2x_top_close_screen(top);
	t2x_spans_end(&top->table);
	t2x_spans_free(&top->table);
	t2x_top_rows_free(&top->labels);
	t2x_top_rows_free(&top->functions);
	free(top);
	printer->own = g_top = NULL;
}

static void end_interval(struct t2x_top_rows *rows, double seconds)
{
	for (unsigned i = 0; i < rows->n; i++) {
		rows->rows[i]->rate = (double)(rows->rows[i]->count - rows->rows[i]->before) / seconds;
		rows->rows[i]->before = rows->rows[i]->count;
	}
}

int t2x_top_round(uint64_t now_ns)
{
	struct t2x_top *top = g_top;
	int is_due, is_over;

	if (!top)
		return 0;
	is_over = t2x_top_read_keys(top);
	is_due = now_ns - top->drawn_ns >= T2X_TOP_INTERVAL_MS * UINT64_C(1000000);
	if (is_due) {
		double seconds = (double)(now_ns - top->drawn_ns) / 1e9;

		end_interval(&top->labels, seconds);
		end_interval(&top->functions, seconds);
		top->rate = (double)(top->events - top->events_before) / seconds;
		top->events_before = top->events;
		top->drawn_ns = now_ns;
	}
	if (is_due || (top->is_changed && !top->settings.is_once))
		t2x_top_draw(top, now_ns);
	top->is_changed = 0;
	return is_over || (is_due && top->settings.is_once);
}

const struct t2x_writer t2x_writer_top = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_top,
	.finish = finish_top,
	.unresolved = take,
	.never_left = take,
	.ignores_messages = 1,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = take,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

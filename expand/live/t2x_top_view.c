/* SPDX-License-Identifier: MIT */
/* t2x_top_view.c - draws the table. */
#include "t2x_top_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { MAX_COLUMNS = 512, HEAD_LINES = 3 };

static const char *const sorts[T2X_TOP_SORTS] = { "rate", "count", "time", "p99", "open" };

struct screen {
	struct t2x_top *top;
	struct t2x_out *out;
	unsigned lines, columns;
	unsigned line;                    /* so many are drawn */
	int is_terminal;
	uint64_t now_ns;
};

/* ---- lines -------------------------------------------------------------------------------------- */

static int is_full(const struct screen *screen)
{
	return screen->is_terminal && screen->line >= screen->lines;
}

/* A line, as wide as the screen; names are somebody else's, so no control character of them gets out. */
static void put_line(struct screen *screen, int is_marked, const char *text)
{
	char line[MAX_COLUMNS + 1];
	size_t n = strlen(text), max = screen->columns < MAX_COLUMNS ? screen->columns : MAX_COLUMNS;

	if (is_full(screen))
		return;
	if (screen->is_terminal && n > max) {
		/* not in the middle of a character */
		for (n = max; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		text = line;
	}
	if (screen->is_terminal)
		t2x_out_string(screen->out, screen->line ? "\r\n" : "\033[H");
	if (is_marked)
		t2x_out_literal(screen->out, "\033[7m");
	t2x_out_in_line(screen->out, text);
	if (is_marked)
		t2x_out_literal(screen->out, "\033[0m");
	t2x_out_string(screen->out, screen->is_terminal ? "\033[K" : "\n");
	screen->line++;
}

/* "1.20 s", "250 ms", "12.0 us", "-" */
static const char *put_duration(char to[24], uint64_t ns)
{
	if (!ns)
		return "-";
	if (ns >= 1000000000)
		snprintf(to, 24, "%.2f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(to, 24, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(to, 24, "%.1f us", (double)ns / 1e3);
	return to;
}

/* ---- what is drawn ------------------------------------------------------------------------------ */

static void count_open_of(const struct t2x_spans *spans)
{
	for (uint32_t k = 1; k < spans->open; k++) {
		struct t2x_top_row *row = spans->spans[k].own;

		if (row && (!row->open++ || spans->spans[k].start_ns < row->oldest_ns))
			row->oldest_ns = spans->spans[k].start_ns;
	}
}

/* Which regions are open now. */
static void count_open(struct t2x_top *top)
{
	for (unsigned i = 0; i < top->labels.n; i++)
		top->labels.rows[i]->open = 0;
	for (uint32_t i = 0; i < t2x_map_slots(&top->table.processes); i++) {
		const struct t2x_spans_process *process = t2x_map_at(&top->table.processes, i);

		for (uint32_t j = 0; process && j < t2x_map_slots(&process->threads); j++) {
			const struct t2x_spans *spans = t2x_map_at(&process->threads, j);

			if (spans)
				count_open_of(spans);
		}
	}
}

static enum t2x_top_sort g_sort;          /* of compare() */

static double value_of(const struct t2x_top_row *row)
{
	switch (g_sort) {
	case T2X_TOP_BY_RATE: return row->rate;
	case T2X_TOP_BY_TIME: return (double)row->total_ns;
	case T2X_TOP_BY_P99: return (double)row->p99;
	case T2X_TOP_BY_OPEN: return row->open ? 1e19 - (double)row->oldest_ns : 0;
	default: return (double)row->count;
	}
}

static int compare(const void *one, const void *other)
{
	const struct t2x_top_row *a = *(struct t2x_top_row *const *)one, *b = *(struct t2x_top_row *const *)other;
	double x = value_of(a), y = value_of(b);

	if (x != y)
		return x < y ? 1 : -1;
	return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->name, b->name);
}

static int is_shown(const struct t2x_top *top, const char *name)
{
	return !top->filter[0] || strstr(name, top->filter);
}

/* The rows that the filter lets through, sorted.  Return  NULL: no memory */
static struct t2x_top_row **choose(struct t2x_top *top, const struct t2x_top_rows *rows, enum t2x_top_sort sort)
{
	struct t2x_top_row **chosen = malloc((rows->n + 1) * sizeof(*chosen));

	top->shown = 0;
	for (unsigned i = 0; chosen && i < rows->n; i++)
		if (is_shown(top, rows->rows[i]->name))
			chosen[top->shown++] = rows->rows[i];
	g_sort = sort;
	if (chosen && top->shown)
		qsort(chosen, top->shown, sizeof(*chosen), compare);
	return chosen;
}

/* The selected row is always on the screen. */
static void scroll(struct screen *screen)
{
	struct t2x_top *top = screen->top;
	unsigned room = screen->lines > HEAD_LINES + 1 ? screen->lines - HEAD_LINES : 1;

	if (top->selected >= top->shown)
		top->selected = top->shown ? top->shown - 1 : 0;
	if (top->selected < top->first)
		top->first = top->selected;
	if (top->selected >= top->first + room)
		top->first = top->selected - room + 1;
}

/* ---- views -------------------------------------------------------------------------------------- */

static void draw_label(struct screen *screen, const struct t2x_top_row *row, int is_marked)
{
	char total[24], p99[24], oldest[24] = "-", line[MAX_COLUMNS];
	uint64_t since = row->open && screen->now_ns > row->oldest_ns ? screen->now_ns - row->oldest_ns : 0;

	snprintf(line, sizeof(line), "%10.0f %12" PRIu64 " %10s %10s %6u %10s  %s", row->rate, row->count,
		 put_duration(total, row->total_ns), put_duration(p99, row->p99), row->open,
		 put_duration(oldest, since), row->name);
	put_line(screen, is_marked, line);
}

static void draw_labels(struct screen *screen)
{
	struct t2x_top *top = screen->top;
	struct t2x_top_row **rows;

	count_open(top);
	for (unsigned i = 0; i < top->labels.n; i++)
		top->labels.rows[i]->p99 = t2x_histogram_percentile(&top->labels.rows[i]->durations, 99);
	rows = choose(top, &top->labels, top->sort);
	scroll(screen);
	put_line(screen, 0, "    rate/s        count       time        p99   open     oldest  category/label");
	for (unsigned i = top->first; rows && i < top->shown && !is_full(screen); i++)
		draw_label(screen, rows[i], screen->is_terminal && i == top->selected);
	free(rows);
}

static void draw_functions(struct screen *screen)
{
	struct t2x_top *top = screen->top;
	struct t2x_top_row **rows = choose(top, &top->functions, top->sort == T2X_TOP_BY_COUNT ? top->sort :
								    T2X_TOP_BY_RATE);
	char line[MAX_COLUMNS];

	scroll(screen);
	put_line(screen, 0, " samples/s      samples  profile: function < caller");
	for (unsigned i = top->first; rows && i < top->shown && !is_full(screen); i++) {
		snprintf(line, sizeof(line), "%10.0f %12" PRIu64 "  %s", rows[i]->rate, rows[i]->count, rows[i]->name);
		put_line(screen, screen->is_terminal && i == top->selected, line);
	}
	if (!top->functions.n)
		put_line(screen, 0, "(no samples of cpu or wall: t2 record makes them)");
	free(rows);
}

static void draw_thread(struct screen *screen, const struct t2x_spans *spans, uint32_t pid)
{
	const struct t2x_span *span = spans->open > 1 ? &spans->spans[spans->open - 1] : NULL;
	const struct t2x_top_row *row = span ? span->own : NULL;
	char line[MAX_COLUMNS], since[24] = "-", last[24];

	if (span && screen->now_ns > span->start_ns)
		put_duration(since, screen->now_ns - span->start_ns);
	snprintf(line, sizeof(line), "%8u  %-24s %10s %10s %6u  %s", (unsigned)pid, spans->name,
		 put_duration(last, screen->now_ns > spans->last_ns ? screen->now_ns - spans->last_ns : 0), since,
		 spans->open ? spans->open - 1 : 0, row ? row->name : "-");
	if (is_shown(screen->top, line))
		put_line(screen, 0, line);
}

static void draw_threads(struct screen *screen)
{
	const struct t2x_spans_table *table = &screen->top->table;

	put_line(screen, 0, "     pid  thread                   last event      since  depth  in");
	for (const struct t2x_spans *spans = table->newest; spans && !is_full(screen); spans = spans->older)
		draw_thread(screen, spans, spans->own ? *(const uint32_t *)spans->own : 0);
}

static void draw_open_of(struct screen *screen, const struct t2x_spans *spans, const struct t2x_top_row *row)
{
	char line[MAX_COLUMNS], since[24];

	for (uint32_t k = 1; k < spans->open; k++) {
		if (spans->spans[k].own != row || screen->now_ns < spans->spans[k].start_ns)
			continue;
		snprintf(line, sizeof(line), "  open for %10s  pid %u, thread %s",
			 put_duration(since, screen->now_ns - spans->spans[k].start_ns),
			 spans->own ? (unsigned)*(const uint32_t *)spans->own : 0, spans->name);
		put_line(screen, 0, line);
	}
}

/* One label. */
static void draw_detail(struct screen *screen)
{
	static const unsigned percents[] = { 50, 90, 99, 100 };
	struct t2x_top *top = screen->top;
	struct t2x_top_row *row = top->detail;
	char line[MAX_COLUMNS], text[24];

	snprintf(line, sizeof(line), "%s   (Esc: back)", row->name);
	put_line(screen, screen->is_terminal, line);
	snprintf(line, sizeof(line), "  count %" PRIu64 ", %.0f/s", row->count, row->rate);
	put_line(screen, 0, line);
	for (unsigned i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		snprintf(line, sizeof(line), "  %3u %% took at most %10s", percents[i],
			 put_duration(text, t2x_histogram_percentile(&row->durations, percents[i])));
		put_line(screen, 0, line);
	}
	for (const struct t2x_spans *spans = top->table.newest; spans && !is_full(screen); spans = spans->older)
		draw_open_of(screen, spans, row);
}

static void draw_help(struct screen *screen)
{
	static const char *const lines[] = {
		"l  labels        t  threads       f  functions (of profiles)",
		"s  sort by the next column        /  only names with this text; Esc: all",
		"j, k, arrows  select              Enter  one label      Esc  back",
		"q  end",
	};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put_line(screen, 0, lines[i]);
}

/* ---- all ---------------------------------------------------------------------------------------- */

static void draw_head(struct screen *screen)
{
	const struct t2x_top *top = screen->top;
	char line[MAX_COLUMNS];

	snprintf(line, sizeof(line), "t2 top %s: %.0f events/s, %" PRIu64 " in %.0f s, %u threads%s",
		 top->settings.what, top->rate, top->events,
		 (double)(screen->now_ns - top->first_ns) / 1e9, (unsigned)top->table.nthreads,
		 top->lost ? ", some are missing" : "");
	put_line(screen, 0, line);
	snprintf(line, sizeof(line), "by %s%s%s%s", sorts[top->sort], top->filter[0] || top->is_typing ? ", /" : "",
		 top->filter, screen->is_terminal ? "   (h: help)" : "");
	put_line(screen, 0, line);
}

static void find_size(struct screen *screen)
{
	struct winsize size;

	screen->lines = 24;
	screen->columns = 80;
	if (screen->is_terminal && !ioctl(screen->top->settings.fd, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		screen->lines = size.ws_row;
		screen->columns = size.ws_col;
	}
}

/* The row that was selected when Enter was pressed. */
static void find_detail(struct t2x_top *top)
{
	struct t2x_top_row **rows;

	if (top->detail)
		return;
	rows = choose(top, &top->labels, top->sort);
	if (rows && top->selected < top->shown)
		top->detail = rows[top->selected];
	free(rows);
}

void t2x_top_draw(struct t2x_top *top, uint64_t now_ns)
{
	struct screen screen = {
		.top = top, .out = top->printer->out, .now_ns = now_ns,
		.is_terminal = top->settings.is_terminal && !top->settings.is_once,
	};

	find_size(&screen);
	draw_head(&screen);
	if (top->view == T2X_TOP_DETAIL)
		find_detail(top);
	else
		top->detail = NULL;
	if (top->view == T2X_TOP_DETAIL && top->detail)
		draw_detail(&screen);
	else if (top->view == T2X_TOP_THREADS)
		draw_threads(&screen);
	else if (top->view == T2X_TOP_FUNCTIONS)
		draw_functions(&screen);
	else if (top->view == T2X_TOP_HELP)
		draw_help(&screen);
	else
		draw_labels(&screen);
	if (!screen.is_terminal && top->functions.n) {
		t2x_out_char(screen.out, '\n');
		draw_functions(&screen);
	}
	if (screen.is_terminal)
		t2x_out_literal(screen.out, "\033[J");
	t2x_out_flush(screen.out);
}

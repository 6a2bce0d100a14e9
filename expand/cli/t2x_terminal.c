/* SPDX-License-Identifier: MIT */
/* t2x_terminal.c - see t2x_terminal.h. */
#include "t2x_terminal.h"

#include "t2x_pager.h"
#include "t2x_progress.h"

static void put_to_out(void *to, const char *text, size_t n)
{
	t2x_out_bytes(to, text, n);
}

int t2x_terminal_init(struct t2x_terminal *terminal, int fd, int is_json)
{
	*terminal = (struct t2x_terminal){ .escape = { .put = put_to_out, .to = &terminal->out, .is_json = is_json } };
	return t2x_out_init(&terminal->out, fd);
}

static void put(struct t2x_terminal *to, const char *text, size_t n)
{
	if (to->is_raw)
		t2x_out_bytes(&to->out, text, n);
	else
		t2x_escape_text(&to->escape, text, n);
}

/* A span ends in no character: a code may follow. */
static void put_whole(struct t2x_terminal *to, const char *text, size_t n)
{
	put(to, text, n);
	t2x_escape_end(&to->escape);
}

static void put_in_color(struct t2x_terminal *to, const char *line, size_t n)
{
	struct t2x_color_span spans[T2X_MAX_SPANS];
	unsigned nspans = to->color(spans, line, n);
	size_t at = 0;

	for (unsigned i = 0; i < nspans; i++) {
		put_whole(to, line + at, spans[i].at - at);
		at = spans[i].at + spans[i].n;
		t2x_out_string(&to->out, t2x_color_begin(spans[i].color));
		put_whole(to, line + spans[i].at, spans[i].n);
		t2x_out_literal(&to->out, T2X_COLOR_END);
	}
	put(to, line + at, n - at);
}

/* Lines; what is not a whole one has no colours. */
static void put_lines(struct t2x_terminal *to, const char *text, size_t n)
{
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t length = end ? (size_t)(end - text) : n;

		if (end && !to->is_broken)
			put_in_color(to, text, length);
		else
			put(to, text, length);
		if (end)
			put(to, end, 1);
		to->is_broken = !end;
		length += end != NULL;
		text += length;
		n -= length;
	}
}

int t2x_terminal_write(void *terminal, const char *text, size_t n)
{
	struct t2x_terminal *to = terminal;

	if (to->is_seen)
		t2x_progress_stop();
	if (to->pager)
		t2x_pager_start(to->pager);
	to->pager = NULL;
	if (to->color)
		put_lines(to, text, n);
	else
		put(to, text, n);
	return t2x_out_flush(&to->out);
}

int t2x_terminal_finish(struct t2x_terminal *terminal)
{
	int error;

	t2x_escape_end(&terminal->escape);
	error = t2x_out_flush(&terminal->out);
	t2x_out_free(&terminal->out);
	return error;
}

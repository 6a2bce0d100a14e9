/* SPDX-License-Identifier: MIT */
/* t2x_color.c - see t2x_color.h. */
#include "t2x_color.h"

#include <stdlib.h>
#include <string.h>

/* A part of a line. */
struct text {
	const char *at;
	size_t n;
};

static int begins(struct text text, const char *with)
{
	size_t n = strlen(with);

	return text.n >= n && !memcmp(text.at, with, n);
}

static int is(struct text text, const char *what)
{
	return text.n == strlen(what) && begins(text, what);
}

/* What the line is, for its parts. */
struct parts {
	struct t2x_color_span *spans;
	const char *line;
	unsigned n;
};

static void add(struct parts *parts, struct text text, enum t2x_color color)
{
	if (text.n && parts->n < T2X_MAX_SPANS)
		parts->spans[parts->n++] = (struct t2x_color_span){ (size_t)(text.at - parts->line), text.n, color };
}

/* The rest of the text from the first such word on.  Return  at NULL: it is not there */
static struct text find_word(struct text text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= text.n; i++)
		if ((!i || text.at[i - 1] == ' ') && !memcmp(text.at + i, word, n))
			return (struct text){ text.at + i, text.n - i };
	return (struct text){ 0 };
}

/* Up to the next blank. */
static struct text first_word(struct text text)
{
	const char *blank = text.n ? memchr(text.at, ' ', text.n) : NULL;

	if (blank)
		text.n = (size_t)(blank - text.at);
	return text;
}

/* "code:1" */
static int is_failure(struct text word)
{
	return begins(word, "signal:") || begins(word, "signo:") || (begins(word, "code:") && !is(word, "code:0"));
}

/* ---- perf --------------------------------------------------------------------------------------- */

enum { EVENT, REPO, ABSOLUTE, RELATIVE, CATEGORY, PAYLOAD, COLUMNS };

/* The next column, without the blanks behind it; the rest of the line is left.  Return  0: there is none */
static int take_column(struct text *rest, struct text *column)
{
	const char *bar = rest->at, *end = rest->at + rest->n;

	while ((bar = memchr(bar, '|', (size_t)(end - bar))) && (bar == rest->at || bar[-1] != ' '))
		bar++;
	*column = (struct text){ rest->at, bar ? (size_t)(bar - rest->at) : rest->n };
	while (column->n && column->at[column->n - 1] == ' ')
		column->n--;
	if (bar) {
		bar += end - bar > 1 ? 2 : 1;
		*rest = (struct text){ bar, (size_t)(end - bar) };
	}
	return bar != NULL;
}

static int is_depth(struct text column)
{
	return column.n > 1 && column.at[0] == 'd' && column.at[1] >= '0' && column.at[1] <= '9';
}

/* Return  0: these are not the columns of perf */
static int split_columns(struct text line, struct text columns[COLUMNS])
{
	struct text column = { NULL, 0 };

	/* process and program, with --columns; time and place, but with --brief; the depth; the thread */
	for (unsigned i = 0; i < 4 && take_column(&line, &column) && !is_depth(column); i++)
		;
	if (!is_depth(column) || !take_column(&line, &column))
		return 0;
	for (unsigned i = 0; i < PAYLOAD; i++)
		if (!take_column(&line, &columns[i]))
			return 0;
	columns[PAYLOAD] = line;
	return 1;
}

/* "..lost-events:3", "name:lost-ring-full value:3" */
static int is_dropped(const struct text columns[COLUMNS])
{
	struct text payload = columns[PAYLOAD];

	if (!is(columns[CATEGORY], "trace2"))
		return 0;
	while (payload.n && *payload.at == '.')
		payload = (struct text){ payload.at + 1, payload.n - 1 };
	return begins(payload, "lost-") || begins(payload, "name:lost-");
}

static unsigned color_perf(struct t2x_color_span *spans, const char *line, size_t n)
{
	struct parts parts = { .spans = spans, .line = line };
	struct text columns[COLUMNS], event, code;
	int is_error, is_missing;

	if (!split_columns((struct text){ line, n }, columns))
		return 0;
	event = columns[EVENT];
	is_missing = is_dropped(columns);
	is_error = is(event, "error") || is(event, "signal");
	add(&parts, event, is_missing ? T2X_COLOR_MISSING : is_error ? T2X_COLOR_ERROR : T2X_COLOR_EVENT);
	add(&parts, columns[CATEGORY], is_missing ? T2X_COLOR_MISSING : T2X_COLOR_CATEGORY);
	code = first_word(find_word(columns[PAYLOAD], "code:"));
	if (is_missing || is_error)
		add(&parts, columns[PAYLOAD], is_missing ? T2X_COLOR_MISSING : T2X_COLOR_ERROR);
	else if (is_failure(code) && (is(event, "exit") || is(event, "atexit") || is(event, "child_exit") ||
				      is(event, "exec_result")))
		add(&parts, code, T2X_COLOR_ERROR);
	return parts.n;
}

/* ---- tree --------------------------------------------------------------------------------------- */

/* "[time] duration result pid branches command" */
static unsigned color_tree(struct t2x_color_span *spans, const char *line, size_t n)
{
	struct parts parts = { .spans = spans, .line = line };
	struct text text = { line, n }, pid = find_word(text, "pid:"), result, command;
	static const char *const results[] = { "code:", "signal:", "open", "exec" };

	if (!pid.at) {
		if (find_word(text, "more").at)
			add(&parts, text, T2X_COLOR_MISSING);
		return parts.n;
	}
	text.n = (size_t)(pid.at - line);
	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		result = first_word(find_word(text, results[i]));
		if (is_failure(result))
			add(&parts, result, T2X_COLOR_ERROR);
		else if (is(result, "open"))
			add(&parts, result, T2X_COLOR_MISSING);
	}
	command = pid;
	while (command.n && *command.at != ' ')
		command = (struct text){ command.at + 1, command.n - 1 };
	while (command.n && strchr(" |`-", *command.at))
		command = (struct text){ command.at + 1, command.n - 1 };
	add(&parts, first_word(command), T2X_COLOR_EVENT);
	return parts.n;
}

/* ---- summary ------------------------------------------------------------------------------------ */

/* "regions", "timers of threads"; no line of JSON or CSV */
static int is_title(struct text line)
{
	for (size_t i = 0; i < line.n; i++)
		if ((line.at[i] < 'a' || line.at[i] > 'z') && (line.at[i] != ' ' || !i))
			return 0;
	return line.n != 0;
}

/* A number, a unit of time. */
static int is_quantity(struct text word)
{
	return (word.at[0] >= '0' && word.at[0] <= '9') || word.at[0] == '-' || is(word, "ns") || is(word, "us") ||
	       is(word, "ms") || is(word, "s") || is(word, "min") || is(word, "h");
}

/* Take the next word of the text.  Return  0: there is none */
static int take_word(struct text *rest, struct text *word)
{
	while (rest->n && *rest->at == ' ')
		*rest = (struct text){ rest->at + 1, rest->n - 1 };
	*word = first_word(*rest);
	*rest = (struct text){ rest->at + word->n, rest->n - word->n };
	return word->n != 0;
}

/* The names of columns, "3 more", JSON. */
static int is_no_name(struct text word)
{
	return !word.n || is(word, "count") || is(word, "places") || is(word, "intervals") || is(word, "events") ||
	       is(word, "more") || strchr("{}[]\"", word.at[0]);
}

/* A title; or quantities, the category, the label, and what is not complete. */
static unsigned color_summary(struct t2x_color_span *spans, const char *line, size_t n)
{
	struct parts parts = { .spans = spans, .line = line };
	struct text rest = { line, n }, word;

	if (is_title(rest)) {
		add(&parts, rest, is(rest, "missing") ? T2X_COLOR_MISSING : T2X_COLOR_EVENT);
		return parts.n;
	}
	if (!n || line[0] != ' ')
		return 0;
	while (take_word(&rest, &word) && is_quantity(word))
		;
	if (is_no_name(word))
		return 0;
	add(&parts, word, T2X_COLOR_CATEGORY);
	while (take_word(&rest, &word))
		if (begins(word, "lost-") || begins(word, "open:") || begins(word, "unknown:"))
			add(&parts, word, T2X_COLOR_MISSING);
		else if (begins(word, "failed:"))
			add(&parts, word, T2X_COLOR_ERROR);
	return parts.n;
}

/* ---- what there is ------------------------------------------------------------------------------ */

t2x_color_fn *t2x_color_find(const struct t2x_format *format)
{
	static t2x_color_fn *const fns[T2X_FORMATS] = {
		[T2X_FORMAT_perf] = color_perf, [T2X_FORMAT_tree] = color_tree,
		[T2X_FORMAT_summary] = color_summary,
	};

	return fns[format - t2x_formats];
}

int t2x_color_is_wanted(enum t2x_when when, int is_terminal)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != T2X_AUTO)
		return when == T2X_ALWAYS;
	return is_terminal && !(off && *off) && term && *term && strcmp(term, "dumb") != 0;
}

const char *t2x_color_begin(enum t2x_color color)
{
	static const char *const codes[] = {
		[T2X_COLOR_EVENT] = "\033[36m", [T2X_COLOR_CATEGORY] = "\033[32m", [T2X_COLOR_ERROR] = "\033[1;31m",
		[T2X_COLOR_MISSING] = "\033[1;35m",
	};

	return codes[color];
}

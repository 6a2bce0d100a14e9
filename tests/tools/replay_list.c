/* SPDX-License-Identifier: MIT */
#include "replay_list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The position in the list, for messages. */
struct reader {
	const char *path;
	unsigned number;
	const struct replay_kind *kinds;
};

static int complain(const struct reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int complain(const struct reader *r, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%u: ", r->path, r->number);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return -1;
}

/* Grow an array of items by one.  Return NULL when there is no memory. */
static void *grow(void *array, size_t count, size_t item_bytes)
{
	return reallocarray(array, count + 1, item_bytes);
}

static int unescape_one(const struct reader *r, const char **from, char *to)
{
	char hex[3] = "";
	const char *p = *from + 1;

	switch (*p) {
	case 's': *to = ' '; break;
	case 't': *to = '\t'; break;
	case 'n': *to = '\n'; break;
	case '\\': *to = '\\'; break;
	case 'x':
		if (!isxdigit((unsigned char)p[1]) || !isxdigit((unsigned char)p[2]))
			return complain(r, "\\x needs two hexadecimal digits");
		memcpy(hex, p + 1, 2);
		*to = (char)strtoul(hex, NULL, 16);
		p += 2;
		break;
	default:
		return complain(r, "unknown escape '\\%.1s'", p);
	}
	*from = p + 1;
	return 0;
}

/* Unescape a word of the file, in place; *text becomes NULL for the word NULL. */
static int read_word(const struct reader *r, char *word, const char **text)
{
	const char *from = word;
	char *to = word;

	*text = word;
	if (!strcmp(word, "NULL"))
		*text = NULL;
	if (!strcmp(word, "\"\""))
		*word = '\0';
	while (*from) {
		if (*from != '\\')
			*to++ = *from++;
		else if (unescape_one(r, &from, to++) < 0)
			return -1;
	}
	*to = '\0';
	return 0;
}

/* A number in [min, max], or for u any uint64_t. */
static int read_number(const struct reader *r, const char *text, char letter, intmax_t min,
		       intmax_t max, intmax_t *value)
{
	char *end;

	if (!text || !*text)
		return complain(r, "a number is missing");
	errno = 0;
	*value = letter == 'u' ? (intmax_t)strtoumax(text, &end, 10) : strtoimax(text, &end, 10);
	if (*end)
		return complain(r, "'%s' is not a number", text);
	if (errno == ERANGE || (letter != 'u' && (*value < min || *value > max)))
		return complain(r, "%s is out of range", text);
	return 0;
}

static int check_argument(const struct reader *r, char letter, const char *text, intmax_t *value)
{
	switch (letter) {
	case 'i':
		return read_number(r, text, letter, INT_MIN, INT_MAX, value);
	case 'm':
	case 'u':
		return read_number(r, text, letter, INTMAX_MIN, INTMAX_MAX, value);
	case 'r':
		*value = -1;
		if (!text)
			return 0;
		return read_number(r, text, letter, 0, REPLAY_SLOTS - 1, value);
	case 'c':
		return read_number(r, text, letter, 0, REPLAY_SLOTS - 1, value);
	default:
		return 0;
	}
}

/* Check the arguments against their letters. */
static int check_arguments(const struct reader *r, struct replay_line *line)
{
	const char *letter = line->kind->args;
	int optional = 0;

	for (size_t i = 0; i < line->count; i++) {
		if (*letter == '?') {
			optional = 1;
			letter++;
		}
		if (!*letter)
			return complain(r, "%s: too many arguments", line->kind->name);
		if (check_argument(r, *letter, line->text[i], &line->value[i]) < 0)
			return -1;
		if (*letter != '*')
			letter++;
	}
	if (*letter && *letter != '?' && *letter != '*' && !optional)
		return complain(r, "%s: too few arguments", line->kind->name);
	return 0;
}

static int find_kind(const struct reader *r, const char *name, struct replay_line *line)
{
	for (const struct replay_kind *k = r->kinds; k->name; k++) {
		if (name && !strcmp(k->name, name)) {
			line->kind = k;
			return 0;
		}
	}
	return complain(r, "unknown call '%s'", name ? name : "NULL");
}

/* Split line->words, in place. */
static int split_words(const struct reader *r, struct replay_line *line)
{
	char *save = NULL;

	for (char *word = strtok_r(line->words, " \t\r\n", &save);; word = strtok_r(NULL, " \t\r\n", &save)) {
		const char **text = grow(line->text, line->count, sizeof(*text));

		if (!text)
			return complain(r, "no memory");
		line->text = text;
		text[line->count] = NULL;
		if (!word)
			return 0;
		if (read_word(r, word, &text[line->count]) < 0)
			return -1;
		line->count++;
	}
}

/* The first words are the name, and for a located call file and line; the rest are the arguments. */
static int read_line(const struct reader *r, struct replay_line *line)
{
	intmax_t number = 0;
	size_t taken = 1;

	if (split_words(r, line) < 0 || find_kind(r, line->text[0], line) < 0)
		return -1;
	if (line->kind->located) {
		if (line->count < 3)
			return complain(r, "%s: file or line is missing", line->kind->name);
		if (read_number(r, line->text[2], 'i', INT_MIN, INT_MAX, &number) < 0)
			return -1;
		line->file = line->text[1];
		taken = 3;
	}
	line->line = (int)number;
	line->number = r->number;
	line->text += taken;
	line->count -= taken;
	line->value = calloc(line->count + 1, sizeof(*line->value));
	if (!line->value)
		return complain(r, "no memory");
	return check_arguments(r, line);
}

static int is_blank_or_comment(const char *text)
{
	text += strspn(text, " \t\r\n");
	return !*text || *text == '#';
}

/* Find each thread's join.  The open blocks are chained through their join members, innermost first. */
static int match_blocks(struct reader *r, struct replay_list *list)
{
	size_t none = list->count, open = none;

	for (size_t i = 0; i < list->count; i++) {
		struct replay_line *line = &list->lines[i];

		r->number = line->number;
		if (!strcmp(line->kind->name, REPLAY_THREAD)) {
			line->join = open;
			open = i;
		} else if (!strcmp(line->kind->name, REPLAY_JOIN)) {
			size_t outer;

			if (open == none)
				return complain(r, "join without thread");
			outer = list->lines[open].join;
			list->lines[open].join = i;
			open = outer;
		}
	}
	if (open == none)
		return 0;
	r->number = list->lines[open].number;
	return complain(r, "thread without join");
}

static int append_line(struct reader *r, const char *text, struct replay_list *list)
{
	struct replay_line *lines = grow(list->lines, list->count, sizeof(*lines));

	if (!lines)
		return complain(r, "no memory");
	list->lines = lines;
	lines += list->count++;
	*lines = (struct replay_line){ .words = strdup(text) };
	return lines->words ? read_line(r, lines) : complain(r, "no memory");
}

int replay_list_read(struct replay_list *list, const char *path, const struct replay_kind *kinds)
{
	struct reader r = { path, 0, kinds };
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	int err = 0;

	*list = (struct replay_list){ NULL, 0 };
	if (!in)
		return complain(&r, "%s", strerror(errno));
	while (!err && getline(&text, &room, in) >= 0) {
		r.number++;
		if (!is_blank_or_comment(text))
			err = append_line(&r, text, list);
	}
	if (!err && ferror(in))
		err = complain(&r, "%s", strerror(errno));
	free(text);
	fclose(in);
	return err ? err : match_blocks(&r, list);
}

const char *replay_text(const struct replay_line *line, size_t index)
{
	return index < line->count ? line->text[index] : NULL;
}

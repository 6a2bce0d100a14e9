/* SPDX-License-Identifier: MIT */
/* t2x_git_line.c - see t2x_git_line.h. */
#include "t2x_git_line.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "t2x_json_scan.h"
#include "tlg_desc.h"
#include "base/t2x_memory.h"

enum { MEMBERS = 32, KEYS = 6, FIRST_ARGS = 64 };

struct t2x_git_parser {
	char *text;                       /* texts without their escapes */
	size_t used, max;
	struct t2x_git_arg *args;
	unsigned nargs, max_args;
	struct member { struct t2x_json_item key, value; int is_used; } members[MEMBERS];
	unsigned nmembers;
};

/*
 * By the kind's name the keys of its arguments, in the order of the letters in tlg_styles.def.  A letter without a key
 * is made of the others.
 */
static const struct kind {
	const char *name;
	unsigned style;
	const char *keys[KEYS];
} kinds[] = {
#define KIND(kind, ...) { #kind, TLG_STYLE_##kind, { __VA_ARGS__ } }
	KIND(version, "exe"), KIND(too_many_files, NULL), KIND(start, "argv"), KIND(exit, "code"), KIND(atexit, "code"),
	KIND(signal, "signo"), KIND(error, "msg"), KIND(cmd_path, "path"), KIND(cmd_ancestry, "ancestry"),
	KIND(cmd_name, "hierarchy", "name"), KIND(cmd_mode, "name"), KIND(alias, "alias", "argv"),
	KIND(child_start, "child_id", "use_shell", "child_class", "hook_name", "cd", "argv"),
	KIND(child_exit, "child_id", "pid", "code", NULL), KIND(child_ready, "child_id", "pid", NULL, "ready"),
	KIND(exec, "exec_id", "exe", "argv"), KIND(exec_result, "exec_id", "code", NULL), KIND(thread_start, NULL),
	KIND(thread_exit, NULL), KIND(def_param, "scope", "param", "value"), KIND(def_repo, "worktree"),
	KIND(region_enter, "msg"), KIND(region_leave, "msg"), KIND(data, "value"), KIND(data_json, "value"),
	KIND(printf, "msg"), KIND(timer, "intervals", "t_total", "t_min", "t_max"),
	KIND(th_timer, "intervals", "t_total", "t_min", "t_max"), KIND(counter, "count"), KIND(th_counter, "count"),
#undef KIND
};

struct t2x_git_parser *t2x_git_parser_new(void)
{
	return t2x_calloc(1, sizeof(struct t2x_git_parser));
}

void t2x_git_parser_free(struct t2x_git_parser *parser)
{
	if (!parser)
		return;
	t2x_free(parser->text);
	t2x_free(parser->args);
	t2x_free(parser);
}

/* ---- members ------------------------------------------------------------------------------------ */

/* Return  0: the line is no object.  Members beyond the table count as others */
static int scan_members(struct t2x_git_parser *parser, const char *text, size_t n, unsigned *others)
{
	const char *end = text + n, *p = text + 1;
	struct member member = { .is_used = 0 };
	int is_bad;

	parser->nmembers = 0;
	if (!n || *text != '{')
		return 0;
	while ((p = t2x_json_next(p, end, &member.key, &member.value, &is_bad))) {
		if (parser->nmembers < MEMBERS)
			parser->members[parser->nmembers++] = member;
		else
			++*others;
	}
	return !is_bad;
}

/* Return  NULL: the line has no such member */
static const struct t2x_json_item *find(struct t2x_git_parser *parser, const char *key)
{
	const size_t n = strlen(key);

	for (unsigned i = 0; i < parser->nmembers; i++) {
		struct member *member = &parser->members[i];
		if (member->key.length != n || memcmp(member->key.text, key, n) != 0)
			continue;
		member->is_used = 1;
		return &member->value;
	}
	return NULL;
}

/* The text of a string; of another value as it stands. */
static struct t2x_git_text text_of(struct t2x_git_parser *parser, const struct t2x_json_item *item)
{
	struct t2x_git_text text = { NULL, 0 };
	char *to;

	if (!item || item->type == T2X_JSON_NULL)
		return text;
	if (item->type != T2X_JSON_STRING)
		return (struct t2x_git_text){ item->text, item->length };
	to = parser->text + parser->used;     /* all texts of a line are shorter than the line */
	text = (struct t2x_git_text){ to, t2x_json_unescape(to, item) };
	parser->used += text.length;
	return text;
}

static int64_t integer_of(struct t2x_git_parser *parser, const char *key, int64_t fallback)
{
	const struct t2x_json_item *item = find(parser, key);
	int64_t value;

	return item && t2x_json_integer(item, &value) ? value : fallback;
}

static int64_t microseconds_of(struct t2x_git_parser *parser, const char *key)
{
	const struct t2x_json_item *item = find(parser, key);
	int64_t us;

	return item && t2x_json_microseconds(item, &us) ? us : T2X_GIT_NO_TIME;
}

/* "2026-11-23T23:32:03.123456Z" */
static int64_t read_time(const struct t2x_git_text *text)
{
	static const char pattern[] = "0000-00-00T00:00:00.000000Z";
	int number[7] = { 0 }, n = 0;
	struct tm tm;

	if (text->length != sizeof(pattern) - 1)
		return T2X_GIT_NO_TIME;
	for (size_t i = 0; i < text->length; i++) {
		if (pattern[i] != '0') {
			if (text->at[i] != pattern[i])
				return T2X_GIT_NO_TIME;
			n++;
		} else if (text->at[i] < '0' || text->at[i] > '9') {
			return T2X_GIT_NO_TIME;
		} else {
			number[n] = 10 * number[n] + text->at[i] - '0';
		}
	}
	tm = (struct tm){ .tm_year = number[0] - 1900, .tm_mon = number[1] - 1, .tm_mday = number[2],
			  .tm_hour = number[3], .tm_min = number[4], .tm_sec = number[5] };
	return (int64_t)timegm(&tm) * 1000000 + number[6];
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* Return  NULL: no memory */
static struct t2x_git_arg *add_arg(struct t2x_git_parser *parser)
{
	if (parser->nargs == parser->max_args) {
		unsigned max = parser->max_args ? 2 * parser->max_args : FIRST_ARGS;
		struct t2x_git_arg *larger = t2x_realloc(parser->args, max * sizeof(*larger));
		if (!larger)
			return NULL;
		parser->args = larger;
		parser->max_args = max;
	}
	parser->args[parser->nargs] = (struct t2x_git_arg){ .type = TLG_ARG_NULL };
	return &parser->args[parser->nargs++];
}

static void set_text(struct t2x_git_arg *arg, struct t2x_git_text text)
{
	arg->type = text.at ? TLG_ARG_TEXT : TLG_ARG_NULL;
	arg->value = (int64_t)text.length;
	arg->text = text;
}

static int add_words(struct t2x_git_parser *parser, const struct t2x_json_item *list)
{
	const char *p, *end;
	struct t2x_json_item word;
	int is_bad;

	if (!list || list->type != T2X_JSON_ARRAY)
		return 1;
	end = list->text + list->length;
	for (p = list->text + 1; (p = t2x_json_next(p, end, NULL, &word, &is_bad));) {
		struct t2x_git_arg *arg = add_arg(parser);
		if (!arg)
			return 0;
		set_text(arg, text_of(parser, &word));
	}
	return 1;
}

static int64_t scope_of(const struct t2x_git_text *name)
{
	static const char *const names[] = {
		"unknown", "system", "global", "local", "worktree", "command", "submodule"
	};

	for (unsigned i = 0; name->at && i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == name->length && !memcmp(names[i], name->at, name->length))
			return i;
	return 0;
}

/* An integer; a flag; the name of a scope. */
static int64_t signed_of(struct t2x_git_parser *parser, const char *key)
{
	const struct t2x_json_item *item = find(parser, key);
	struct t2x_git_text text;
	int64_t value = 0;

	if (!item)
		return 0;
	if (item->type == T2X_JSON_TRUE)
		return TLG_CHILD_SHELL;
	if (item->type == T2X_JSON_STRING) {
		text = text_of(parser, item);
		return scope_of(&text);
	}
	t2x_json_integer(item, &value);
	return value;
}

/* A count, or a duration, whose key says that it is one, in nanoseconds. */
static int64_t unsigned_of(struct t2x_git_parser *parser, const char *key)
{
	int64_t us;

	if (strncmp(key, "t_", 2) != 0)
		return integer_of(parser, key, 0);
	us = microseconds_of(parser, key);
	return us == T2X_GIT_NO_TIME ? 0 : us * 1000;
}

static struct t2x_git_text last_text(struct t2x_git_parser *parser, const struct kind *kind, const char *key)
{
	const char *words;
	int64_t code;

	if (key)
		return text_of(parser, find(parser, key));
	/* exec_result: the text of the error, which git prints in its other formats only */
	code = integer_of(parser, "code", 0);
	if (kind->style != TLG_STYLE_exec_result || code <= 0 || code > INT32_MAX)
		return (struct t2x_git_text){ "", 0 };
	words = strerror((int)code);
	return (struct t2x_git_text){ words, strlen(words) };
}

/* Return  0: no memory */
static int read_arguments(struct t2x_git_parser *parser, const struct kind *kind, struct t2x_git_line *line)
{
	const char *letters = tlg_style_by_id(kind->style)->args;

	for (unsigned i = 0; letters[i]; i++) {
		const char *key = i < KEYS ? kind->keys[i] : NULL;
		struct t2x_git_arg *arg;
		if (letters[i] == 'S' || letters[i] == 'M') {
			line->last = last_text(parser, kind, key);
			continue;
		}
		if (letters[i] == '*') {
			if (!add_words(parser, find(parser, key)))
				return 0;
			continue;
		}
		arg = add_arg(parser);
		if (!arg)
			return 0;
		arg->type = TLG_ARG_INT;
		if (letters[i] == 's') {
			set_text(arg, text_of(parser, find(parser, key)));
		} else if (letters[i] == 'i') {
			arg->value = signed_of(parser, key);
		} else {
			arg->type = TLG_ARG_UINT;
			if (letters[i] == 't')
				line->start_arg = (int)parser->nargs - 1;
			else
				arg->value = unsigned_of(parser, key);
		}
	}
	return 1;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static const struct kind *find_kind(const struct t2x_json_item *name)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == name->length && !memcmp(kinds[i].name, name->text, name->length))
			return &kinds[i];
	return NULL;
}

/* The names of the callsite, by the keys that the kind has for them. */
static void read_names(struct t2x_git_parser *parser, struct t2x_git_line *line)
{
	static const struct t2x_git_text any = { "%s", 2 };

	switch (line->style) {
	case TLG_STYLE_version:
		line->label = text_of(parser, find(parser, "evt"));
		if (line->label.length == 1 && *line->label.at == '4')
			line->label = (struct t2x_git_text){ NULL, 0 };   /* what is printed anyway */
		break;
	case TLG_STYLE_region_enter:
	case TLG_STYLE_region_leave:
		line->category = text_of(parser, find(parser, "category"));
		line->label = text_of(parser, find(parser, "label"));
		line->format = line->last.at ? any : line->last;
		break;
	case TLG_STYLE_data:
	case TLG_STYLE_data_json:
		line->category = text_of(parser, find(parser, "category"));
		line->label = text_of(parser, find(parser, "key"));
		break;
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		line->category = text_of(parser, find(parser, "category"));
		line->label = text_of(parser, find(parser, "name"));
		break;
	case TLG_STYLE_error:
		line->format = text_of(parser, find(parser, "fmt"));
		if (!line->format.at && line->last.at)
			line->format = any;
		break;
	case TLG_STYLE_printf:
		line->format = line->last.at ? any : line->last;
		break;
	default:
		break;
	}
}

/* What all kinds have.  nesting follows from the regions. */
static void read_common(struct t2x_git_parser *parser, struct t2x_git_line *line)
{
	struct t2x_git_text time;
	int64_t value;

	line->sid = text_of(parser, find(parser, "sid"));
	line->thread = text_of(parser, find(parser, "thread"));
	line->file = text_of(parser, find(parser, "file"));
	value = integer_of(parser, "line", 0);
	line->line = value > INT32_MAX || value < INT32_MIN ? 0 : (int32_t)value;
	value = integer_of(parser, "repo", -1);
	line->repo = value < 0 || value >= TLG_REPO_NO_ID ? 0 : value ? (uint16_t)value : TLG_REPO_NO_ID;
	time = text_of(parser, find(parser, "time"));
	line->time_us = time.at ? read_time(&time) : T2X_GIT_NO_TIME;
	line->abs_us = microseconds_of(parser, "t_abs");
	line->rel_us = microseconds_of(parser, "t_rel");
	find(parser, "nesting");
}

enum t2x_git_verdict
t2x_git_parse(struct t2x_git_parser *parser, const char *text, size_t n, struct t2x_git_line *line)
{
	const struct t2x_json_item *name;
	const struct kind *kind;

	*line = (struct t2x_git_line){ .start_arg = -1 };
	parser->used = parser->nargs = 0;
	if (parser->max < n) {
		char *larger = t2x_realloc(parser->text, 2 * n);
		if (!larger)
			return T2X_GIT_NO_MEMORY;
		parser->text = larger;
		parser->max = 2 * n;
	}
	if (!scan_members(parser, text, n, &line->others))
		return T2X_GIT_BROKEN;
	name = find(parser, "event");
	if (!name || name->type != T2X_JSON_STRING)
		return T2X_GIT_BROKEN;
	read_common(parser, line);
	if (!line->sid.length || line->sid.length > T2X_GIT_SID_BYTES || !line->thread.at)
		return T2X_GIT_BROKEN;
	kind = find_kind(name);
	if (!kind)
		return T2X_GIT_UNKNOWN;
	line->style = kind->style;
	if (!read_arguments(parser, kind, line))
		return T2X_GIT_NO_MEMORY;
	read_names(parser, line);
	line->args = parser->args;
	line->nargs = parser->nargs;
	for (unsigned i = 0; i < parser->nmembers; i++)
		line->others += !parser->members[i].is_used;
	return T2X_GIT_OK;
}

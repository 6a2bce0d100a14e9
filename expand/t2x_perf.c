/* SPDX-License-Identifier: MIT */
/*
 * t2x_perf.c - git's perf target: columns, for reading along and for tables.
 *
 * The format of most lines, so what a line's checkpoint decides alone is put together once and kept in
 * the scope's cache.
 */
#include "t2x_text.h"

#include <stdlib.h>

enum {
	PLACE_BYTES = 28,       /* of "file:line"; what is longer loses its beginning */
	EVENT_BYTES = 12,
	REPO_BYTES = 3,
	CATEGORY_BYTES = 12,    /* what is longer loses its end */
	THREAD_BYTES = 24,
	COLUMNS_ROOM = 256,     /* at least all columns of a line together */
};

enum { ABSOLUTE = 1, RELATIVE = 2 };   /* which times a kind has */

static const int own_lines[4] = { 207, 219, 580, 596 };

/* The columns that are the same for all events of a checkpoint, with the separators around them. */
struct pieces {
	char place[1 + PLACE_BYTES + 3];
	char event[EVENT_BYTES + 3 + 7 + 3];   /* "region_enter | r65535  | " at most */
	char category[CATEGORY_BYTES + 3];
	unsigned char event_length;
	uint32_t label_length;
};

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

static void fill_pieces(struct pieces *pieces, const struct t2x_event *ev)
{
	const char *name = t2x_text_event_name(ev->style);
	const char *category = ev->scope && ev->scope->category ? ev->scope->category : "";
	const char *label = ev->scope && ev->scope->label ? ev->scope->label : "";
	char repo[T2X_MAX_DIGITS + 2], *end = repo;
	size_t repo_length;

	fill_place(pieces->place, ev);
	if (ev->scope && ev->scope->repo) {
		*end++ = 'r';
		end = t2x_put_uint(end, t2x_repo_id(ev->scope));
		*end++ = ' ';
	}
	repo_length = (size_t)(end - repo);
	end = put_column(pieces->event, name, strlen(name), EVENT_BYTES);
	end = put_column(end, repo, repo_length, REPO_BYTES);
	pieces->event_length = (unsigned char)(end - pieces->event);
	put_column(pieces->category, category, strnlen(category, CATEGORY_BYTES), CATEGORY_BYTES);
	pieces->label_length = (uint32_t)strlen(label);
}

/* The checkpoint's pieces; in spare if they cannot be kept. */
static const struct pieces *find_pieces(const struct t2x_event *ev, struct pieces *spare)
{
	struct pieces *pieces;

	if (ev->scope && ev->scope->cache)
		return ev->scope->cache;
	pieces = ev->scope ? malloc(sizeof(*pieces)) : NULL;
	if (pieces)
		ev->scope->cache = pieces;
	else
		pieces = spare;
	fill_pieces(pieces, ev);
	return pieces;
}

/* "d0 | main                     | " */
static char *put_thread(char *p, const struct t2x_event *ev)
{
	const char *name = ev->thread->name;

	*p++ = 'd';
	p = t2x_put_uint(p, ev->process->depth);
	memcpy(p, " | ", 3);
	return put_column(p + 3, name, strnlen(name, THREAD_BYTES), THREAD_BYTES);
}

/* A time of nine characters, or wider if it must be; behind it there is room for COLUMNS_ROOM bytes again. */
static char *put_time(struct t2x_out *out, char *p, uint64_t us)
{
	if (us < UINT64_C(100) * 1000000) {
		unsigned seconds = (unsigned)us / 1000000;

		p[0] = seconds < 10 ? ' ' : (char)('0' + seconds / 10);
		p[1] = (char)('0' + seconds % 10);
		p[2] = '.';
		p = t2x_put_6(p + 3, (unsigned)us % 1000000);
	} else {
		out->pos = p;
		t2x_out_seconds_us(out, us, 9);
		p = t2x_out_room(out, COLUMNS_ROOM);
	}
	memcpy(p, " | ", 3);
	return p + 3;
}

static char *put_no_time(char *p)
{
	memcpy(p, "          | ", 12);
	return p + 12;
}

/* All columns and the dots; the payload is next.  category: that column with its separator, NULL: the scope's. */
static void begin_columns(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
			  const struct pieces *pieces, const char *category)
{
	struct t2x_out *out = printer->out;
	char *p = t2x_out_room(out, COLUMNS_ROOM);

	if (!printer->options.brief) {
		p = t2x_text_local_time(printer, p, ev);
		memcpy(p, pieces->place, sizeof(pieces->place));
		p += sizeof(pieces->place);
	}
	p = put_thread(p, ev);
	memcpy(p, pieces->event, sizeof(pieces->event));
	p += pieces->event_length;
	p = times & ABSOLUTE ? put_time(out, p, ev->abs_us) : put_no_time(p);
	p = times & RELATIVE ? put_time(out, p, ev->rel_us) : put_no_time(p);
	memcpy(p, category ? category : pieces->category, sizeof(pieces->category));
	out->pos = p + sizeof(pieces->category);
	if (ev->open > 1)
		t2x_out_repeat(out, '.', 2 * ((size_t)ev->open - 1));
}

static void begin_line(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	struct pieces spare;

	begin_columns(printer, ev, times, find_pieces(ev, &spare), NULL);
}

/* A line whose payload is its first argument. */
static void print_text(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_text_arg(printer->out, &ev->args[0]);
	t2x_out_end_line(printer->out);
}
#define print_version print_text
#define print_cmd_path print_text
#define print_cmd_mode print_text

static void print_cmd_name(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev, 0);
	t2x_text_arg(out, &ev->args[T2X_NAME_OWN]);
	if (ev->args[T2X_NAME_HIERARCHY].length) {
		t2x_out_literal(out, " (");
		t2x_text_arg(out, &ev->args[T2X_NAME_HIERARCHY]);
		t2x_out_char(out, ')');
	}
	t2x_out_end_line(out);
}

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_text_argv(printer->out, ev->args, ev->nargs);
	t2x_out_end_line(printer->out);
}

static void print_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_string(printer->out, ev->style == TLG_STYLE_signal ? "signo:" : "code:");
	t2x_out_int(printer->out, ev->args[0].value);
	t2x_out_end_line(printer->out);
}
#define print_atexit print_exit
#define print_signal print_exit

static void print_message(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ev->style == TLG_STYLE_printf ? ABSOLUTE : 0);
	if (ev->message)
		t2x_out_bytes(printer->out, ev->message, ev->message_length);
	t2x_out_end_line(printer->out);
}
#define print_error print_message
#define print_printf print_message

/* "[<argv>]", the words from position first on, behind what the caller put after the bracket. */
static void end_argv(struct t2x_out *out, const struct t2x_event *ev, unsigned first, int separate)
{
	if (separate && ev->nargs > first)
		t2x_out_char(out, ' ');
	t2x_text_argv(out, ev->args + first, ev->nargs - first);
	t2x_out_char(out, ']');
	t2x_out_end_line(out);
}

static void print_cmd_ancestry(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_out_literal(printer->out, "ancestry:[");
	end_argv(printer->out, ev, 0, 0);
}

static void print_alias(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_line(printer, ev, 0);
	t2x_out_literal(out, "alias:");
	t2x_text_arg(out, &ev->args[T2X_ALIAS_NAME]);
	t2x_out_literal(out, " argv:[");
	end_argv(out, ev, T2X_ALIAS_ARGV, 0);
}

static void begin_child(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	begin_line(printer, ev, times);
	t2x_out_literal(printer->out, "[ch");
	t2x_out_int(printer->out, ev->args[T2X_CHILD_ID].value);
	t2x_out_char(printer->out, ']');
}

static void print_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *args = ev->args;
	int git = (args[T2X_CHILD_FLAGS].value & TLG_CHILD_GIT) != 0;

	begin_child(printer, ev, ABSOLUTE);
	t2x_out_literal(out, " class:");
	if (args[T2X_CHILD_HOOK].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, "hook hook:");
		t2x_text_arg(out, &args[T2X_CHILD_HOOK]);
	} else if (args[T2X_CHILD_CLASS].type == TLG_ARG_TEXT) {
		t2x_text_arg(out, &args[T2X_CHILD_CLASS]);
	} else {
		t2x_out_char(out, '?');
	}
	if (args[T2X_CHILD_DIR].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " cd:");
		t2x_text_quoted(out, args[T2X_CHILD_DIR].text, args[T2X_CHILD_DIR].length);
	}
	t2x_out_literal(out, " argv:[");
	if (git)
		t2x_out_literal(out, "git");
	end_argv(out, ev, T2X_CHILD_ARGV, git);
}

static void print_child_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_child(printer, ev, ABSOLUTE | RELATIVE);
	t2x_out_literal(out, " pid:");
	t2x_out_int(out, ev->args[T2X_CHILD_PID].value);
	t2x_out_literal(out, " code:");
	t2x_out_int(out, ev->args[T2X_CHILD_CODE].value);
	t2x_out_end_line(out);
}

static void print_child_ready(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_child(printer, ev, ABSOLUTE | RELATIVE);
	t2x_out_literal(out, " pid:");
	t2x_out_int(out, ev->args[T2X_CHILD_PID].value);
	t2x_out_literal(out, " ready:");
	t2x_text_arg(out, &ev->args[T2X_READY_STATE]);
	t2x_out_end_line(out);
}

static void begin_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_literal(printer->out, "id:");
	t2x_out_int(printer->out, ev->args[T2X_EXEC_ID].value);
}

static void print_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;
	const struct t2x_arg *exe = &ev->args[T2X_EXEC_EXE];

	begin_exec(printer, ev);
	t2x_out_literal(out, " argv:[");
	if (exe->type == TLG_ARG_TEXT)
		t2x_text_arg(out, exe);
	end_argv(out, ev, T2X_EXEC_ARGV, exe->type == TLG_ARG_TEXT);
}

static void print_exec_result(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	begin_exec(printer, ev);
	t2x_out_literal(out, " code:");
	t2x_out_int(out, ev->args[T2X_EXEC_CODE].value);
	if (ev->args[T2X_EXEC_CODE].value > 0) {
		t2x_out_literal(out, " err:");
		t2x_text_arg(out, &ev->args[T2X_EXEC_ERROR]);
	}
	t2x_out_end_line(out);
}

static void print_thread_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_end_line(printer->out);
}

static void print_thread_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE | RELATIVE);
	t2x_out_end_line(printer->out);
}

/* The configuration scope stands in the category column, and is cut like any category. */
static void print_def_param(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *scope = t2x_text_param_scope(&ev->args[T2X_PARAM_SCOPE]);
	struct t2x_out *out = printer->out;
	struct pieces spare;
	char text[CATEGORY_BYTES], column[CATEGORY_BYTES + 3];
	size_t n = strnlen(scope, CATEGORY_BYTES - 6);

	memcpy(text, "scope:", 6);
	memcpy(text + 6, scope, n);
	put_column(column, text, 6 + n, CATEGORY_BYTES);
	begin_columns(printer, ev, 0, find_pieces(ev, &spare), column);
	t2x_text_arg(out, &ev->args[T2X_PARAM_NAME]);
	if (ev->args[T2X_PARAM_VALUE].type == TLG_ARG_TEXT) {
		t2x_out_char(out, ':');
		t2x_text_arg(out, &ev->args[T2X_PARAM_VALUE]);
	}
	t2x_out_end_line(out);
}

static void print_def_repo(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_out_literal(printer->out, "worktree:");
	t2x_text_quoted(printer->out, ev->args[0].text, ev->args[0].length);
	t2x_out_end_line(printer->out);
}

static void print_named(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times)
{
	struct t2x_out *out = printer->out;
	struct pieces spare;
	const struct pieces *pieces = find_pieces(ev, &spare);

	begin_columns(printer, ev, times, pieces, NULL);
	if (ev->scope->label) {
		t2x_out_literal(out, "label:");
		t2x_out_bytes(out, ev->scope->label, pieces->label_length);
	}
	if (ev->message) {
		t2x_out_char(out, ' ');
		t2x_out_bytes(out, ev->message, ev->message_length);
	}
	t2x_out_end_line(out);
}

static void print_region_enter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	print_named(printer, ev, ABSOLUTE);
}
#define print_step print_region_enter

static void print_region_leave(struct t2x_printer *printer, const struct t2x_event *ev)
{
	print_named(printer, ev, ABSOLUTE | RELATIVE);
}

static void begin_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE | RELATIVE);
	t2x_text_name(printer->out, ev->scope->label);
	t2x_out_char(printer->out, ':');
}

static void print_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_data(printer, ev);
	t2x_text_arg(printer->out, &ev->args[0]);
	t2x_out_end_line(printer->out);
}
#define print_data_json print_data

static void print_data_intmax(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_data(printer, ev);
	t2x_out_int(printer->out, ev->args[0].value);
	t2x_out_end_line(printer->out);
}

static void begin_sum(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, 0);
	t2x_out_literal(printer->out, "name:");
	t2x_text_name(printer->out, ev->scope->label);
}

static void print_timer(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_sum(printer, ev);
	t2x_text_timer(printer->out, ev->args);
	t2x_out_end_line(printer->out);
}
#define print_th_timer print_timer

static void print_counter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_sum(printer, ev);
	t2x_out_literal(printer->out, " value:");
	t2x_out_uint(printer->out, (uint64_t)ev->args[0].value);
	t2x_out_end_line(printer->out);
}
#define print_th_counter print_counter

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	begin_line(printer, ev, ABSOLUTE);
	t2x_out_literal(printer->out, "?scope#");
	t2x_out_uint(printer->out, ev->scope_index);
	t2x_out_end_line(printer->out);
}

/* Not shown in this format. */
#define print_too_many_files NULL

const struct t2x_writer t2x_writer_perf = {
	.name = "perf",
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

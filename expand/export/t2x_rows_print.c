/* SPDX-License-Identifier: MIT */
/*
 * t2x_rows_print.c - the formats csv and ndjson: a row for each event, for databases and scripts.
 *
 * Both have the same columns in UTF-8; in JSON those that are empty are absent, and the time is a string, as jq has
 * doubles for numbers.  Cells of CSV are those of text/t2x_csv.h.
 *
 * Any row can be printed cell by cell.  Those of the kinds that a trace has by the million have at most two cells of
 * their own beside the times; the others are decided by the scope and the thread alone, and come from templates.  A row
 * with a text that has to be escaped, or a time that is not known, is printed cell by cell.
 */
#include <errno.h>
#include <stdlib.h>

#include "t2x_rows.h"
#include "text/t2x_csv.h"
#include "text/t2x_utf8.h"

static const char *const names[T2X_COLUMNS] = {
#define T2X_ROWS_COLUMN(name) #name,
#include "t2x_rows.def"
#undef T2X_ROWS_COLUMN
};

/* ---- cell by cell ------------------------------------------------------------------------------- */

/* Nonzero if one of eight bytes is this one. */
static inline uint64_t find_byte(uint64_t bytes, char byte)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), differs = bytes ^ (ones * (unsigned char)byte);

	return (differs - ones) & ~differs & ones << 7;
}

/* Nonzero if a text with these eight bytes in it cannot stand for itself; rarely also if it can. */
static inline uint64_t find_special(uint64_t bytes, int is_json)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	if (is_json)
		return find_byte(bytes, '"') | find_byte(bytes, '\\') | (((bytes - ones * 0x20) | bytes) & ones << 7);
	return find_byte(bytes, '"') | find_byte(bytes, ',') | find_byte(bytes, '\n') | find_byte(bytes, '\r') |
	       (bytes & ones << 7);
}

static inline uint64_t load(const char *text, size_t n)
{
	uint64_t bytes = UINT64_C(0x0101010101010101) * 'a';

	memcpy(&bytes, text, n);
	return bytes;
}

/* Whether the text is the same when it is printed; of 8 bytes or more the last 8 overlap those before them. */
static inline int is_plain(const char *text, size_t n, int is_json)
{
	uint64_t found = !is_json && t2x_csv_is_special(text[0]);
	const char *last;

	if (n < 8) {
		while (n--)
			found |= find_special(load(text++, 1), is_json);
		return !found;
	}
	last = text + n - 8;
	for (; text < last; text += 8)
		found |= find_special(load(text, 8), is_json);
	return !(found | find_special(load(last, 8), is_json));
}

static void show_csv(struct t2x_out *out, const struct t2x_cell *cell)
{
	if (cell->kind == T2X_CELL_NUMBER)
		t2x_out_int(out, cell->number);
	else if (cell->kind == T2X_CELL_UNSIGNED)
		t2x_out_uint(out, (uint64_t)cell->number);
	else if (cell->kind == T2X_CELL_TEXT && cell->n && is_plain(cell->text, cell->n, 0))
		t2x_out_bytes(out, cell->text, cell->n);
	else if (cell->kind == T2X_CELL_TEXT)
		t2x_csv_text(out, cell->text, cell->n);
}

static void show_json(struct t2x_out *out, const struct t2x_cell *cell)
{
	if (cell->kind == T2X_CELL_NUMBER)
		t2x_out_int(out, cell->number);
	else if (cell->kind == T2X_CELL_UNSIGNED)
		t2x_out_uint(out, (uint64_t)cell->number);
	else
		t2x_utf8_json(out, cell->text, cell->n);
}

/* The cells of some columns, behind those that are there.  In JSON what is empty is absent. */
static void show(struct t2x_out *out, const struct t2x_cell *cells, unsigned from, unsigned to, int is_json)
{
	for (unsigned i = from; i < to; i++) {
		if (!is_json) {
			t2x_out_char(out, ',');
			show_csv(out, &cells[i]);
		} else if (cells[i].kind != T2X_CELL_EMPTY) {
			t2x_out_literal(out, ",\"");
			t2x_out_string(out, names[i]);
			t2x_out_literal(out, "\":");
			show_json(out, &cells[i]);
		}
	}
}

static __attribute__((noinline)) void
show_all(struct t2x_printer *printer, const struct t2x_event *ev, int is_json)
{
	struct t2x_cell cells[T2X_COLUMNS];
	struct t2x_out *out = printer->out;

	t2x_rows_fill(cells, printer, ev);
	if (is_json)
		t2x_out_char(out, '{');
	if (is_json && cells[T2X_COLUMN_time].kind != T2X_CELL_EMPTY)
		t2x_out_literal(out, "\"time\":\"");
	show_csv(out, &cells[T2X_COLUMN_time]);
	if (is_json && cells[T2X_COLUMN_time].kind != T2X_CELL_EMPTY)
		t2x_out_literal(out, "\",");
	t2x_out_string(out, is_json ? "\"pid\":" : ",");
	t2x_out_int(out, cells[T2X_COLUMN_pid].number);
	show(out, cells, T2X_COLUMN_pid + 1, T2X_COLUMNS, is_json);
	if (is_json)
		t2x_out_char(out, '}');
	t2x_out_end_line(out);
}

/* ---- templates ---------------------------------------------------------------------------------- */

/* What is in them: of a scope, what is in front of the depth with its name, and what is behind the message. */
enum { HEAD, TAIL };
enum { WHO };

static size_t measure(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Whether such texts, n bytes in all, surely fit into the output, whatever they are escaped to. */
static int is_short(size_t n)
{
	return n <= T2X_OUT_ROOM / 6 - 64;
}

/*
 * The cells of some columns, and text behind them, as a part of the template behind what is there.  They are put
 * together in the free part of the output.
 */
static void cache(struct t2x_printer *printer, struct t2x_template *template, unsigned which,
		  const struct t2x_cell *cells, unsigned from, unsigned to, const char *behind, int is_json)
{
	char *at = t2x_out_room(printer->out, T2X_OUT_ROOM);
	size_t n;

	show(printer->out, cells, from, to, is_json);
	t2x_out_string(printer->out, behind);
	n = (size_t)(printer->out->pos - at);
	printer->out->pos = at;
	t2x_template_keep(template, which, at, n);
}

static __attribute__((noinline)) void
fill_scope(struct t2x_printer *printer, struct t2x_template *template, const struct t2x_event *ev, int is_json)
{
	const struct t2x_scope *scope = ev->scope;
	struct t2x_cell cells[T2X_COLUMNS];

	template->number = scope->number;
	template->length[HEAD] = template->length[TAIL] = T2X_TEMPLATE_TOO_LONG;
	if (!is_short(measure(scope->file) + measure(scope->category) + measure(scope->label)))
		return;
	t2x_rows_fill(cells, printer, ev);
	cache(printer, template, HEAD, cells, T2X_COLUMN_event, T2X_COLUMN_depth, is_json ? ",\"depth\":" : ",",
	      is_json);
	cache(printer, template, TAIL, cells, T2X_COLUMN_message + 1, T2X_COLUMN_text, is_json ? "" : ",", is_json);
}

static __attribute__((noinline)) void
fill_thread(struct t2x_printer *printer, struct t2x_template *template, const struct t2x_event *ev, int is_json)
{
	struct t2x_cell cells[T2X_COLUMNS];

	template->number = ev->thread->number;
	template->length[WHO] = T2X_TEMPLATE_TOO_LONG;
	if (!is_short(strlen(ev->thread->process->sid)))
		return;
	t2x_rows_fill(cells, printer, ev);
	cache(printer, template, WHO, cells, T2X_COLUMN_sid, T2X_COLUMN_thread + 1, "", is_json);
}

/* ---- usual rows --------------------------------------------------------------------------------- */

enum { USUAL = 1, HAS_REL = 2, HAS_NUMBER = 4, HAS_TEXT = 8 };
static const unsigned char kinds[TLG_STYLE_COUNT] = {
	[TLG_STYLE_region_enter] = USUAL, [TLG_STYLE_printf] = USUAL, [TLG_STYLE_step] = USUAL,
	[TLG_STYLE_region_leave] = USUAL | HAS_REL,
	[TLG_STYLE_data] = USUAL | HAS_REL | HAS_TEXT,
	[TLG_STYLE_data_intmax] = USUAL | HAS_REL | HAS_NUMBER,
	[TLG_STYLE_data_json] = USUAL | HAS_REL | HAS_TEXT,
};

enum { LONGEST = 1024 };               /* text in a usual row: two of them and two templates fit into T2X_OUT_ROOM */

/* One with other leading digits, which it leaves for those to come; or one that is all last digits, or negative. */
static __attribute__((noinline)) char *put_other_number(char *p, struct t2x_leading_digits *digits, uint64_t number)
{
	const uint64_t span = 1000000;

	if ((int64_t)number < (int64_t)span)
		return t2x_put_int(p, (int64_t)number);
	digits->base = number - number % span;
	digits->span = span;
	digits->length = (unsigned)(t2x_put_uint(digits->text, number / span) - digits->text);
	memcpy(p, digits->text, sizeof(digits->text));
	return t2x_put_6(p + digits->length, (unsigned)(number % span));
}

static inline char *put_near_number(char *p, struct t2x_leading_digits *digits, uint64_t number)
{
	uint64_t last = number - digits->base;

	if (last >= digits->span)
		return put_other_number(p, digits, number);
	memcpy(p, digits->text, sizeof(digits->text));
	return t2x_put_6(p + digits->length, (unsigned)last);
}

#define PUT(p, literal) ((char *)memcpy((p), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* In CSV the separator stands also where nothing follows. */
#define PUT_NAME(p, name) (is_json ? PUT((p), ",\"" name "\":") : PUT((p), ","))

/* Return  NULL: not as it is */
static inline char *put_text(char *p, const char *text, size_t n, int is_json)
{
	if (!n || n > LONGEST || !is_plain(text, n, is_json))
		return NULL;
	if (is_json)
		*p++ = '"';
	memcpy(p, text, n);
	p += n;
	if (is_json)
		*p++ = '"';
	return p;
}

/* Between the scope's parts.  Return  NULL: the message is not as it is */
static inline char *put_own(char *p, struct t2x_rows *rows, const struct t2x_event *ev, unsigned kind, int is_json)
{
	p = PUT_NAME(t2x_put_uint(p, ev->open), "abs");
	p = put_near_number(p, &rows->abs, t2x_event_abs_ns(ev));
	if (kind & HAS_REL && t2x_rows_has_rel(ev))
		p = t2x_put_int(PUT_NAME(p, "rel"), (int64_t)ev->rel_ns);
	else if (!is_json)
		*p++ = ',';
	if (kind & HAS_NUMBER && ev->nargs)
		p = t2x_put_int(PUT_NAME(p, "value"), ev->args[0].value);
	else if (!is_json)
		*p++ = ',';
	if (ev->message)
		p = put_text(PUT_NAME(p, "message"), ev->message, ev->message_length, is_json);
	else if (!is_json)
		*p++ = ',';
	return p;
}

/* The scope's last part, and what is behind it.  Return  NULL: the text is not as it is */
static inline char *put_end(char *p, const struct t2x_template *scope, const struct t2x_event *ev, unsigned kind,
			    int is_json)
{
	p = t2x_template_put(p, scope->text + scope->length[HEAD], scope->length[TAIL]);
	if (kind & HAS_TEXT && ev->nargs) {
		if (!ev->args[0].text)
			return NULL;
		p = put_text(is_json ? PUT(p, ",\"text\":") : p, ev->args[0].text, ev->args[0].length, is_json);
	}
	if (p && is_json)
		*p++ = '}';
	return p;
}

/* Whether all times that a row has are known. */
static inline int has_times(const struct t2x_event *ev)
{
	return t2x_rows_is_known(ev->ns) && t2x_rows_is_known(ev->thread->process->start_ns);
}

static inline __attribute__((always_inline)) void
print(struct t2x_printer *printer, const struct t2x_event *ev, int is_json)
{
	unsigned kind = ev->scope && !ev->lost && !ev->is_repeated && has_times(ev) ? kinds[ev->style] : 0;
	struct t2x_template *scope, *thread;
	struct t2x_rows *rows = printer->own;
	char *p = NULL;

	if (kind) {
		scope = t2x_template_of_scope(printer->templates, ev->scope->number);
		thread = t2x_template_of_thread(printer->templates, ev->thread->number);
		/* filling them takes room in the output for a while: first */
		if (!t2x_template_is_of(scope, ev->scope->number))
			fill_scope(printer, scope, ev, is_json);
		if (!t2x_template_is_of(thread, ev->thread->number))
			fill_thread(printer, thread, ev, is_json);
		if (scope->length[HEAD] != T2X_TEMPLATE_TOO_LONG && scope->length[TAIL] != T2X_TEMPLATE_TOO_LONG &&
		    thread->length[WHO] != T2X_TEMPLATE_TOO_LONG) {
			p = t2x_out_room(printer->out, T2X_OUT_ROOM);
			p = put_near_number(is_json ? PUT(p, "{\"time\":\"") : p, &rows->time, ev->ns);
			p = t2x_put_uint(is_json ? PUT(p, "\",\"pid\":") : PUT(p, ","), ev->thread->process->pid);
			p = t2x_template_put(p, thread->text, thread->length[WHO]);
			p = t2x_template_put(p, scope->text, scope->length[HEAD]);
			p = put_own(p, rows, ev, kind, is_json);
			p = p ? put_end(p, scope, ev, kind, is_json) : NULL;
		}
	}
	if (!p) {
		show_all(printer, ev, is_json);
		return;
	}
	t2x_out_end_line_at(printer->out, p);
}

static void print_csv(struct t2x_printer *printer, const struct t2x_event *ev)
{
	print(printer, ev, 0);
}

static void print_json(struct t2x_printer *printer, const struct t2x_event *ev)
{
	print(printer, ev, 1);
}

/* ---- the writers -------------------------------------------------------------------------------- */

static int begin_ndjson(struct t2x_printer *printer)
{
	struct t2x_rows *rows = calloc(1, sizeof(*rows));

	if (!rows || t2x_rows_begin_words(&rows->words, &printer->options)) {
		free(rows);
		return -ENOMEM;
	}
	printer->own = rows;
	return 0;
}

static void put_names(struct t2x_out *out)
{
	for (unsigned i = 0; i < T2X_COLUMNS; i++) {
		t2x_out_string(out, i ? "," : "");
		t2x_out_string(out, names[i]);
	}
	t2x_out_end_line(out);
}

static int begin_csv(struct t2x_printer *printer)
{
	int error = begin_ndjson(printer);

	if (!error)
		put_names(printer->out);
	return error;
}

static void finish(struct t2x_printer *printer)
{
	struct t2x_rows *rows = printer->own;

	t2x_rows_free_words(&rows->words);
	free(rows);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_csv = {
	.begin = begin_csv, .finish = finish, .unresolved = print_csv,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_csv,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

const struct t2x_writer t2x_writer_ndjson = {
	.begin = begin_ndjson, .finish = finish, .unresolved = print_json,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_json,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

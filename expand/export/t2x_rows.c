/* SPDX-License-Identifier: MIT */
/*
 * t2x_rows.c - the cells of a row: which columns an event fills depends on its kind alone; the rest is empty.  See
 * t2x_rows.def for the columns.
 */
#include <errno.h>
#include <stdlib.h>

#include "t2x_rows.h"
#include "text/t2x_text.h"

static int take_words(void *target, const char *text, size_t n)
{
	struct t2x_rows_words *words = target;

	if (words->n + n > words->capacity) {
		size_t capacity = 2 * (words->n + n);
		char *more = realloc(words->text, capacity);

		if (!more)
			return ENOMEM;
		words->text = more;
		words->capacity = capacity;
	}
	memcpy(words->text + words->n, text, n);
	words->n += n;
	return 0;
}

int t2x_rows_begin_words(struct t2x_rows_words *words, const struct t2x_options *options)
{
	words->options = options;
	return -t2x_out_init_fn(&words->quote, take_words, words);
}

void t2x_rows_free_words(struct t2x_rows_words *words)
{
	t2x_out_free(&words->quote);
	free(words->text);
}

/* ---- cells -------------------------------------------------------------------------------------- */

static void set_number(struct t2x_cell *cell, int64_t number)
{
	*cell = (struct t2x_cell){ .kind = T2X_CELL_NUMBER, .number = number };
}

static void set_text(struct t2x_cell *cell, const char *text, size_t n)
{
	if (text)
		*cell = (struct t2x_cell){ .kind = T2X_CELL_TEXT, .text = text, .n = n };
}

static void set_string(struct t2x_cell *cell, const char *text)
{
	set_text(cell, text, text ? strlen(text) : 0);
}

static void set_arg(struct t2x_cell *cell, const struct t2x_event *ev, unsigned at)
{
	if (at >= ev->nargs)
		return;
	if (ev->args[at].type != TLG_ARG_INT && ev->args[at].type != TLG_ARG_UINT) {
		set_text(cell, ev->args[at].text, ev->args[at].length);
		return;
	}
	set_number(cell, ev->args[at].value);
	if (ev->args[at].type == TLG_ARG_UINT)
		cell->kind = T2X_CELL_UNSIGNED;
}

/* A value is a number, or else a text: each has a column of its own, so that a column has one type. */
static void set_value(struct t2x_cell *cells, const struct t2x_event *ev, unsigned at)
{
	struct t2x_cell *value = &cells[T2X_COLUMN_value];

	set_arg(value, ev, at);
	if (value->kind != T2X_CELL_TEXT)
		return;
	cells[T2X_COLUMN_text] = *value;
	*value = (struct t2x_cell){ .kind = T2X_CELL_EMPTY };
}

/* The time of an event, and what is measured from it, if it is known. */
static void set_times(struct t2x_cell *cells, const struct t2x_event *ev)
{
	if (!t2x_rows_is_known(ev->ns))
		return;
	set_number(&cells[T2X_COLUMN_time], (int64_t)ev->ns);
	if (t2x_rows_is_known(ev->thread->process->start_ns))
		set_number(&cells[T2X_COLUMN_abs], (int64_t)t2x_event_abs_ns(ev));
}

static void set_rel(struct t2x_cell *cells, const struct t2x_event *ev)
{
	if (t2x_rows_is_known(ev->ns) && t2x_rows_has_rel(ev))
		set_number(&cells[T2X_COLUMN_rel], (int64_t)ev->rel_ns);
}

/* The arguments from the first one on, quoted for the shell. */
static void set_words(struct t2x_cell *cell, struct t2x_rows_words *words, const struct t2x_event *ev, unsigned first)
{
	words->n = 0;
	if (ev->nargs > first)
		t2x_text_argv(&words->quote, ev->args + first, ev->nargs - first);
	t2x_out_flush(&words->quote);
	set_text(cell, words->text ? words->text : "", words->n);
}

/* The stack and the labels of a sample: one text behind the other. */
static void set_sample(struct t2x_cell *cells, struct t2x_rows_words *words, const struct t2x_event *ev)
{
	size_t stack;

	words->n = 0;
	t2x_text_stack(words->options, &words->quote, ev);
	t2x_out_flush(&words->quote);
	stack = words->n;
	t2x_text_labels(&words->quote, ev);
	t2x_out_flush(&words->quote);
	set_text(&cells[T2X_COLUMN_message], words->text ? words->text : "", stack);
	if (words->n > stack)
		set_text(&cells[T2X_COLUMN_labels], words->text + stack, words->n - stack);
	set_arg(&cells[T2X_COLUMN_count], ev, T2X_SAMPLE_COUNT);
	set_value(cells, ev, T2X_SAMPLE_VALUE);
	set_arg(&cells[T2X_COLUMN_period], ev, T2X_SAMPLE_PERIOD);
	cells[T2X_COLUMN_file].kind = cells[T2X_COLUMN_line].kind = T2X_CELL_EMPTY;   /* these are modules */
}

static void set_child(struct t2x_cell *cells, const struct t2x_event *ev, unsigned value, unsigned message)
{
	set_arg(&cells[T2X_COLUMN_id], ev, T2X_CHILD_ID);
	set_arg(&cells[T2X_COLUMN_child_pid], ev, T2X_CHILD_PID);
	if (value)
		set_value(cells, ev, value);
	if (message)
		set_arg(&cells[T2X_COLUMN_message], ev, message);
	if (ev->args[value ? T2X_CHILD_START : T2X_READY_START].value)
		set_rel(cells, ev);
}

static void set_timer(struct t2x_cell *cells, const struct t2x_event *ev)
{
	set_arg(&cells[T2X_COLUMN_count], ev, T2X_TIMER_INTERVALS);
	set_value(cells, ev, T2X_TIMER_TOTAL);
	set_arg(&cells[T2X_COLUMN_min], ev, T2X_TIMER_MIN);
	set_arg(&cells[T2X_COLUMN_max], ev, T2X_TIMER_MAX);
}

/* Those of commands and children. */
static void set_command(struct t2x_cell *cells, struct t2x_rows_words *words, const struct t2x_event *ev)
{
	switch (ev->style) {
	case TLG_STYLE_start: case TLG_STYLE_cmd_ancestry:
		set_words(&cells[T2X_COLUMN_message], words, ev, 0);
		break;
	case TLG_STYLE_cmd_name:
		set_value(cells, ev, T2X_NAME_OWN);
		set_arg(&cells[T2X_COLUMN_message], ev, T2X_NAME_HIERARCHY);
		break;
	case TLG_STYLE_alias:
		set_value(cells, ev, T2X_ALIAS_NAME);
		set_words(&cells[T2X_COLUMN_message], words, ev, T2X_ALIAS_ARGV);
		break;
	case TLG_STYLE_child_start:
		set_arg(&cells[T2X_COLUMN_id], ev, T2X_CHILD_ID);
		set_value(cells, ev, T2X_CHILD_CLASS);
		set_words(&cells[T2X_COLUMN_message], words, ev, T2X_CHILD_ARGV);
		break;
	case TLG_STYLE_child_exit:
		set_child(cells, ev, T2X_CHILD_CODE, 0);
		break;
	case TLG_STYLE_child_ready:
		set_child(cells, ev, 0, T2X_READY_STATE);
		break;
	case TLG_STYLE_exec:
		set_arg(&cells[T2X_COLUMN_id], ev, T2X_EXEC_ID);
		set_value(cells, ev, T2X_EXEC_EXE);
		set_words(&cells[T2X_COLUMN_message], words, ev, T2X_EXEC_ARGV);
		break;
	case TLG_STYLE_exec_result:
		set_arg(&cells[T2X_COLUMN_id], ev, T2X_EXEC_ID);
		set_value(cells, ev, T2X_EXEC_CODE);
		set_arg(&cells[T2X_COLUMN_message], ev, T2X_EXEC_ERROR);
		break;
	case TLG_STYLE_def_param:
		set_arg(&cells[T2X_COLUMN_label], ev, T2X_PARAM_NAME);
		set_value(cells, ev, T2X_PARAM_VALUE);
		set_string(&cells[T2X_COLUMN_message], t2x_text_param_scope(&ev->args[T2X_PARAM_SCOPE]));
		break;
	default:
		set_value(cells, ev, 0);
		break;
	}
}

/* What belongs to the kind of the event. */
static void set_kind(struct t2x_cell *cells, struct t2x_rows_words *words, const struct t2x_event *ev)
{
	switch (ev->style) {
	case TLG_STYLE_none:
		set_number(&cells[T2X_COLUMN_value], ev->scope_index);
		break;
	case TLG_STYLE_region_enter: case TLG_STYLE_printf: case TLG_STYLE_error: case TLG_STYLE_step:
	case TLG_STYLE_too_many_files: case TLG_STYLE_thread_start:
		break;
	case TLG_STYLE_data: case TLG_STYLE_data_intmax: case TLG_STYLE_data_json:
		set_value(cells, ev, 0);
		/* fall through */
	case TLG_STYLE_region_leave: case TLG_STYLE_thread_exit:
		set_rel(cells, ev);
		break;
	case TLG_STYLE_timer: case TLG_STYLE_th_timer:
		set_timer(cells, ev);
		break;
	case TLG_STYLE_sample:
		set_sample(cells, words, ev);
		break;
	default:
		set_command(cells, words, ev);
		break;
	}
}

void t2x_rows_fill(struct t2x_cell *cells, const struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_rows *rows = printer->own;
	const struct t2x_thread *thread = ev->thread;
	const struct t2x_scope *scope = ev->scope;

	memset(cells, 0, T2X_COLUMNS * sizeof(*cells));
	set_times(cells, ev);
	set_number(&cells[T2X_COLUMN_pid], thread->process->pid);
	set_string(&cells[T2X_COLUMN_sid], thread->process->sid);
	set_number(&cells[T2X_COLUMN_tid], thread->tid);
	set_string(&cells[T2X_COLUMN_thread], thread->name);
	set_string(&cells[T2X_COLUMN_event], t2x_text_event_name(ev->style));
	set_number(&cells[T2X_COLUMN_depth], ev->open);
	set_text(&cells[T2X_COLUMN_message], ev->message, ev->message_length);
	if (ev->lost || ev->is_repeated)
		set_string(&cells[T2X_COLUMN_flag], ev->lost ? "missing" : "repeated");
	if (scope) {
		set_string(&cells[T2X_COLUMN_category], scope->category);
		set_string(&cells[T2X_COLUMN_label], scope->label);
		set_string(&cells[T2X_COLUMN_file], scope->file);
		if (scope->file)
			set_number(&cells[T2X_COLUMN_line], scope->line);
		if (scope->repo)
			set_number(&cells[T2X_COLUMN_repo], t2x_repo_id(scope));
	}
	set_kind(cells, &rows->words, ev);
}

/* SPDX-License-Identifier: MIT */
/*
 * t2x_functions.c - the format `report': the functions of each profile of samples with self and total, as a table, as
 * the tree of calls (--tree), with their callers (--callers), as CSV or JSON.  What perf report and go tool pprof -top
 * are for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_human.h"
#include "profile/t2x_prof_kinds.h"
#include "profile/t2x_sampled.h"
#include "profile/t2x_samples_functions.h"
#include "text/t2x_csv.h"
#include "text/t2x_formats.h"
#include "text/t2x_json.h"
#include "text/t2x_utf8.h"
#include "t2x_filter.h"

enum { USUAL_TOP = 40, MAX_CALLERS = 8 };

/* One table: a profile, or the part of it whose label has this text. */
struct section {
	struct t2x_out *out;
	struct t2x_functions functions;
	struct t2x_samples_about about;
	struct t2x_samples_selected of;
	unsigned top;             /* rows at most; 0: all */
	int has_callers;
};

/* ---- cells -------------------------------------------------------------------------------------- */

/* is_cell: as wide as a column */
static void put_number(struct t2x_out *out, const struct t2x_prof_kind *kind, int64_t value, int is_cell)
{
	static const enum t2x_human_kind kinds[] = {
		[T2X_PROF_time] = T2X_HUMAN_TIME, [T2X_PROF_bytes] = T2X_HUMAN_SIZE, [T2X_PROF_count] = T2X_HUMAN_COUNT,
	};
	char text[T2X_HUMAN_BYTES];

	t2x_out_string(out, t2x_human(text, kinds[kind->form->unit], (double)value, is_cell ? 8 : 0, is_cell ? 3 : 0));
}

/* With its share of all, two columns; nothing is blank. */
static void put_value(struct t2x_out *out, const struct t2x_prof_kind *kind, int64_t value, int64_t all)
{
	char share[16];

	if (!value) {
		t2x_out_repeat(out, ' ', 19);
		return;
	}
	put_number(out, kind, value, 1);
	snprintf(share, sizeof(share), " %5.1f%%", all > 0 ? 100.0 * (double)value / (double)all : 0);
	t2x_out_string(out, share);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "hot_function  (hot.c:12)" */
static void put_function(struct t2x_out *out, const struct t2x_function *function)
{
	t2x_out_in_line(out, function->name);
	if (*function->file && *function->name != '[') {
		t2x_out_literal(out, "  (");
		t2x_out_in_line(out, base_name(function->file));
		if (function->line > 0) {
			t2x_out_char(out, ':');
			t2x_out_int(out, function->line);
		}
		t2x_out_char(out, ')');
	}
}

static const struct t2x_function *find_row(const struct t2x_functions *functions, uint32_t number)
{
	return &functions->rows[functions->row_of[number]];
}

/* "cpu: 1.53 s in 153 samples" */
static void put_title(const struct section *section)
{
	struct t2x_out *out = section->out;

	t2x_out_in_line(out, section->about.name);
	if (section->of.key) {
		t2x_out_literal(out, ", ");
		t2x_out_string(out, section->of.key);
		t2x_out_char(out, ' ');
		t2x_out_in_line(out, *section->of.text ? section->of.text : "none");
	}
	t2x_out_literal(out, ": ");
	put_number(out, section->about.kind, section->functions.all, 0);
	if (!section->of.key) {
		t2x_out_literal(out, " in ");
		t2x_out_int(out, section->about.samples);
		t2x_out_string(out, section->about.samples == 1 ? " sample" : " samples");
	}
	t2x_out_end_line(out);
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* The first call of a function as callee: calls are in the order of callees.  Return  ncalls: there is none */
static uint32_t find_calls(const struct t2x_functions *functions, uint32_t callee)
{
	uint32_t low = 0, high = functions->ncalls;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (functions->calls[middle].callee < callee)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_callers(const struct section *section, const struct t2x_function *function)
{
	const struct t2x_functions *functions = &section->functions;
	uint32_t first = find_calls(functions, function->number), shown = 0, hidden = 0;

	for (uint32_t i = first; i < functions->ncalls && functions->calls[i].callee == function->number; i++) {
		if (shown++ >= MAX_CALLERS) {
			hidden++;
			continue;
		}
		t2x_out_repeat(section->out, ' ', 20);
		put_value(section->out, section->about.kind, functions->calls[i].value, function->total);
		t2x_out_string(section->out, "    <- ");
		put_function(section->out, find_row(functions, functions->calls[i].caller));
		t2x_out_end_line(section->out);
	}
	if (hidden) {
		t2x_out_repeat(section->out, ' ', 46);
		t2x_out_uint(section->out, hidden);
		t2x_out_string(section->out, " callers more\n");
	}
}

static void put_table(const struct section *section)
{
	const struct t2x_functions *functions = &section->functions;
	struct t2x_out *out = section->out;
	uint32_t n = section->top && section->top < functions->n ? section->top : functions->n;

	put_title(section);
	t2x_out_literal(out, "    self                total            function\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct t2x_function *function = &functions->rows[i];

		put_value(out, section->about.kind, function->self, functions->all);
		t2x_out_char(out, ' ');
		put_value(out, section->about.kind, function->total, functions->all);
		t2x_out_literal(out, "  ");
		put_function(out, function);
		t2x_out_end_line(out);
		if (section->has_callers)
			put_callers(section, function);
	}
	if (n < functions->n) {
		t2x_out_repeat(out, ' ', 41);
		t2x_out_uint(out, functions->n - n);
		t2x_out_literal(out, " functions more: --top=N\n");
	}
}

/* ---- the tree ----------------------------------------------------------------------------------- */

/* A node, ordered so that those of one parent are together, the largest first. */
struct branch {
	uint32_t parent, node;
	uint64_t value;
};

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void put_node(const struct section *section, const struct t2x_stack *node, uint32_t depth)
{
	struct t2x_out *out = section->out;

	put_value(out, section->about.kind, (int64_t)node->count, section->functions.all);
	t2x_out_char(out, ' ');
	put_value(out, section->about.kind, (int64_t)node->self_ns, section->functions.all);
	t2x_out_literal(out, "  ");
	t2x_out_repeat(out, ' ', 2 * (size_t)depth);
	put_function(out, find_row(&section->functions, node->frame));
	t2x_out_end_line(out);
}

/* The first branch of each parent: first has one more than nodes.  by parent, from 0: the outermost */
static void find_firsts(const struct branch *branches, uint32_t n, uint32_t *first)
{
	uint32_t at = 0;

	for (uint32_t parent = 0; parent <= n; parent++) {
		while (at < n && branches[at].parent < parent)
			at++;
		first[parent] = at;
	}
	first[n + 1] = n;
}

/*
 * From the outermost function inwards, the largest first; what comes to less than one in 200 is left out.
 * next  for each depth the branch that comes next
 */
static void walk(const struct section *section, const struct branch *branches, const uint32_t *first, uint32_t *next)
{
	const struct t2x_stacks *tree = &section->functions.tree;
	uint32_t depth = 0, hidden = 0, parent = 0;

	next[0] = first[0];
	for (;;) {
		uint32_t at = next[depth];
		const struct t2x_stack *node;

		if (at >= first[parent + 1]) {
			if (!depth--)
				break;
			parent = tree->stacks[parent - 1].parent;
			continue;
		}
		next[depth]++;
		node = &tree->stacks[branches[at].node - 1];
		if (node->count < (uint64_t)section->functions.all / 200) {
			hidden++;
			continue;
		}
		put_node(section, node, depth);
		parent = branches[at].node;
		next[++depth] = first[parent];
	}
	if (hidden) {
		t2x_out_repeat(section->out, ' ', 41);
		t2x_out_uint(section->out, hidden);
		t2x_out_string(section->out, hidden == 1 ? " branch of less than 0.5% is left out\n"
							 : " branches of less than 0.5% each are left out\n");
	}
}

/* Return  0 or ENOMEM */
static int put_tree(const struct section *section)
{
	const struct t2x_stacks *tree = &section->functions.tree;
	struct branch *branches = calloc(tree->count + (size_t)1, sizeof(*branches));
	uint32_t *first = calloc(tree->count + (size_t)2, sizeof(*first));
	uint32_t *next = calloc(tree->count + (size_t)2, sizeof(*next));       /* no path is longer */
	int is_full = branches && first && next;

	put_title(section);
	t2x_out_string(section->out, "   total                 self            calls\n");
	for (uint32_t i = 0; is_full && i < tree->count; i++)
		branches[i] = (struct branch){ tree->stacks[i].parent, i + 1, tree->stacks[i].count };
	if (is_full && tree->count) {
		qsort(branches, tree->count, sizeof(*branches), compare_branches);
		find_firsts(branches, tree->count, first);
		walk(section, branches, first, next);
	}
	free(branches);
	free(first);
	free(next);
	return is_full ? 0 : ENOMEM;
}

/* ---- for programs ------------------------------------------------------------------------------- */

static void put_csv(const struct section *section, int is_first)
{
	struct t2x_out *out = section->out;

	if (is_first)
		t2x_out_literal(out, "profile,unit,of,function,file,line,self,total\n");
	for (uint32_t i = 0; i < section->functions.n; i++) {
		const struct t2x_function *function = &section->functions.rows[i];
		const char *of = section->of.key ? section->of.text : "";

		if (section->top && i >= section->top)
			break;
		t2x_csv_quoted(out, section->about.name, strlen(section->about.name));
		t2x_out_char(out, ',');
		t2x_out_string(out, section->about.kind->form->value[section->about.kind->shown].unit);
		t2x_out_char(out, ',');
		t2x_csv_quoted(out, of, strlen(of));
		t2x_out_char(out, ',');
		t2x_csv_quoted(out, function->name, strlen(function->name));
		t2x_out_char(out, ',');
		t2x_csv_quoted(out, function->file, strlen(function->file));
		t2x_out_char(out, ',');
		if (function->line > 0)
			t2x_out_int(out, function->line);
		t2x_out_char(out, ',');
		t2x_out_int(out, function->self);
		t2x_out_char(out, ',');
		t2x_out_int(out, function->total);
		t2x_out_end_line(out);
	}
}

static void put_json_text(struct t2x_out *out, const char *key, const char *text)
{
	t2x_json_key(out, key);
	t2x_utf8_json(out, text, strlen(text));
}

static void put_json_callers(const struct section *section, const struct t2x_function *function)
{
	const struct t2x_functions *functions = &section->functions;
	uint32_t first = find_calls(functions, function->number);

	t2x_out_string(section->out, ",\"callers\":[");
	for (uint32_t i = first; i < functions->ncalls && functions->calls[i].callee == function->number; i++) {
		const struct t2x_function *caller = find_row(functions, functions->calls[i].caller);

		t2x_out_string(section->out, i > first ? ",{\"value\":" : "{\"value\":");
		t2x_out_int(section->out, functions->calls[i].value);
		put_json_text(section->out, "function", caller->name);
		put_json_text(section->out, "file", caller->file);
		t2x_out_char(section->out, '}');
	}
	t2x_out_char(section->out, ']');
}

static void put_json(const struct section *section, int is_first)
{
	const struct t2x_functions *functions = &section->functions;
	struct t2x_out *out = section->out;

	t2x_out_string(out, is_first ? "{\"profiles\":[\n{\"total\":" : ",\n{\"total\":");
	t2x_out_int(out, functions->all);
	put_json_text(out, "profile", section->about.name);
	put_json_text(out, "unit", section->about.kind->form->value[section->about.kind->shown].unit);
	if (section->of.key)
		put_json_text(out, section->of.key, section->of.text);
	else
		t2x_json_int(out, "samples", section->about.samples);
	t2x_json_int(out, "left_out", section->top && section->top < functions->n ? functions->n - section->top : 0);
	t2x_out_literal(out, ",\"functions\":[");
	for (uint32_t i = 0; i < functions->n && (!section->top || i < section->top); i++) {
		const struct t2x_function *function = &functions->rows[i];

		t2x_out_string(out, i ? ",\n{\"self\":" : "\n{\"self\":");
		t2x_out_int(out, function->self);
		t2x_json_int(out, "total", function->total);
		put_json_text(out, "function", function->name);
		put_json_text(out, "file", function->file);
		if (function->line > 0)
			t2x_json_int(out, "line", function->line);
		if (section->has_callers)
			put_json_callers(section, function);
		t2x_out_char(out, '}');
	}
	t2x_out_literal(out, "]}");
}

/* ---- the format --------------------------------------------------------------------------------- */

static int is_json(const struct t2x_printer *printer)
{
	const char *as = t2x_option(&printer->options, T2X_OPTION_as);

	return as && *as == 'j';
}

/* The label that --by keeps apart.  Return  NULL: none */
static const char *find_key(const struct t2x_printer *printer)
{
	static const char label[] = "label:";
	const char *by = t2x_option(&printer->options, T2X_OPTION_by);

	if (by && !strcmp(by, "process"))
		return "pid";
	return by && !strncmp(by, label, strlen(label)) ? by + strlen(label) : by;
}

/* Return  0 or ENOMEM */
static int show_section(struct t2x_printer *printer, const struct t2x_samples *samples, const char *key,
			const char *text, int is_first)
{
	const char *as = t2x_option(&printer->options, T2X_OPTION_as);
	const char *top = t2x_option(&printer->options, T2X_OPTION_top);
	struct section section = {
		.out = printer->out, .about = t2x_samples_find_about(samples), .of = { key, text },
		.top = top ? (unsigned)strtoul(top, NULL, 10) : as && *as != 't' ? 0 : USUAL_TOP,
		.has_callers = t2x_option(&printer->options, T2X_OPTION_callers) != NULL,
	};
	int error = t2x_functions_make(&section.functions, samples, &section.of);

	if (!error && is_json(printer)) {
		put_json(&section, is_first);
	} else if (!error && as && *as == 'c') {
		put_csv(&section, is_first);
	} else if (!error) {
		t2x_out_string(printer->out, is_first ? "" : "\n");
		if (t2x_option(&printer->options, T2X_OPTION_tree))
			error = put_tree(&section);
		else
			put_table(&section);
	}
	t2x_functions_free(&section.functions);
	return error;
}

static int show(const struct t2x_samples *samples, struct t2x_printer *printer, unsigned nth)
{
	const char *key = find_key(printer);
	uint32_t n = 0;
	char **texts = key ? t2x_samples_label_texts(samples, key, &n) : NULL;
	int error = key ? texts ? 0 : ENOMEM : show_section(printer, samples, NULL, NULL, !nth);

	for (uint32_t i = 0; i < n && !error; i++)
		error = show_section(printer, samples, key, texts[i], !nth && !i);
	t2x_samples_free_texts(texts, n);
	return error;
}

static int begin(struct t2x_printer *printer)
{
	const char *key = find_key(printer);
	int error = t2x_sampled_begin(printer, t2x_sampled_profile(printer), key != NULL);

	if (!error && key && !strcmp(key, "program"))
		t2x_sampled_label_programs(printer);
	return error;
}

static void finish(struct t2x_printer *printer)
{
	unsigned shown = t2x_sampled_show(printer, show);
	const struct t2x_filter *filter = printer->options.filter;

	if (!shown && !(filter && t2x_filter_report(filter, NULL)))
		t2x_report_note(&(struct t2x_report){ .to = stderr }, "samples", "there are none to show");
	if (is_json(printer))
		t2x_out_string(printer->out, shown ? "\n]}\n" : "{\"profiles\":[]}\n");
}

const struct t2x_writer t2x_writer_report = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin, .finish = finish, .unresolved = t2x_sampled_event, .ignores_messages = 1,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = t2x_sampled_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

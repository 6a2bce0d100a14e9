/* SPDX-License-Identifier: MIT */
/* t2x_samples_functions.c - see t2x_samples_functions.h. */
#include "t2x_samples_functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_samples_private.h"

enum { FIRST_ROWS = 64 };

/* Room for one element more.  Return  0: no memory */
static int make_room(void *array, uint32_t n, uint32_t *max, size_t size)
{
	return !t2x_index_room(array, n, max, FIRST_ROWS, size);
}

/* ---- functions ---------------------------------------------------------------------------------- */

static uint32_t add_function(struct t2x_functions *functions, const struct t2x_function *found, uint32_t hash)
{
	void *rows = functions->rows;

	if (!make_room(&rows, functions->n, &functions->max_rows, sizeof(functions->rows[0])))
		return 0;
	functions->rows = rows;
	if (t2x_index_add(&functions->names, hash, functions->n + 1))
		return 0;
	functions->rows[functions->n] = *found;
	functions->rows[functions->n].number = functions->n + 1;
	return ++functions->n;
}

/* The number of a function.  Return  0: no memory */
static uint32_t find_function(struct t2x_functions *functions, const struct t2x_function *wanted)
{
	uint64_t seed = t2x_index_hash(t2x_index_seed(), wanted->name, strlen(wanted->name));
	uint32_t hash = (uint32_t)t2x_index_hash(seed, wanted->file, strlen(wanted->file)), number;
	struct t2x_index_search search = t2x_index_begin(hash);

	while ((number = t2x_index_next(&functions->names, &search))) {
		const struct t2x_function *row = &functions->rows[number - 1];

		if (!strcmp(row->name, wanted->name) && !strcmp(row->file, wanted->file))
			return number;
	}
	return add_function(functions, wanted, hash);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Code without a name, by the file that it is in. */
static uint32_t find_unnamed(struct t2x_functions *functions, const struct t2x_samples *samples, uint32_t module)
{
	struct t2x_function wanted = { .file = "" };

	if (module)
		wanted.file = t2x_samples_text(samples, t2x_samples_row(&samples->modules,
					       const struct t2x_samples_module, module - 1)->file);
	snprintf(wanted.name, sizeof(wanted.name), "[%s]", *wanted.file ? base_name(wanted.file) : "unknown");
	return find_function(functions, &wanted);
}

static uint32_t find_named(struct t2x_functions *functions, const struct t2x_samples *samples, uint32_t function)
{
	const struct t2x_samples_function *row =
		t2x_samples_row(&samples->functions, const struct t2x_samples_function, function - 1);
	struct t2x_function wanted = {
		.file = t2x_samples_text(samples, row->file), .line = row->start_line,
	};

	snprintf(wanted.name, sizeof(wanted.name), "%s", t2x_samples_text(samples, row->name));
	return find_function(functions, &wanted);
}

/* ---- stacks ------------------------------------------------------------------------------------- */

/* Put a function at the end of the path.  Return  0: no memory */
static int put_path(struct t2x_functions *functions, uint32_t *n, uint32_t number)
{
	void *path = functions->path;

	if (!number || !make_room(&path, *n, &functions->max_path, sizeof(functions->path[0])))
		return 0;
	functions->path = path;
	functions->path[(*n)++] = number;
	return 1;
}

/* The functions of a stack, the innermost first.  Return  how many; 0: no memory */
static uint32_t find_path(struct t2x_functions *functions, const struct t2x_samples *samples,
			  const struct t2x_samples_stack *stack)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t number = samples->words[stack->word + i];
		const struct t2x_samples_location *location = !number ? NULL :
			t2x_samples_row(&samples->locations, const struct t2x_samples_location, number - 1);

		for (uint32_t k = 0; location && k < location->nlines; k++) {
			const struct t2x_samples_source *source =
				t2x_samples_row(&samples->lines, const struct t2x_samples_source, location->line + k);

			if (!put_path(functions, &n, find_named(functions, samples, source->function)))
				return 0;
		}
		if (location && !location->nlines &&
		    !put_path(functions, &n, find_unnamed(functions, samples, location->module)))
			return 0;
	}
	return n || put_path(functions, &n, find_unnamed(functions, samples, 0)) ? n : 0;
}

/* Of a stack, by its number from 1 up.  Return  0: no memory */
static int add_call(struct t2x_functions *functions, uint32_t caller, uint32_t callee, int64_t value, uint32_t stack)
{
	uint32_t hash = (uint32_t)t2x_index_mix(t2x_index_seed(), (uint64_t)caller << 32 | callee), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	void *calls = functions->calls, *seen = functions->seen;

	while ((number = t2x_index_next(&functions->pairs, &search))) {
		struct t2x_call *call = &functions->calls[number - 1];

		if (call->caller != caller || call->callee != callee)
			continue;
		if (functions->seen[number - 1] != stack)
			t2x_samples_sum(&call->value, value);
		functions->seen[number - 1] = stack;
		return 1;
	}
	if (!make_room(&calls, functions->ncalls, &functions->max_calls, sizeof(functions->calls[0])))
		return 0;
	functions->calls = calls;
	if (!make_room(&seen, functions->ncalls, &functions->max_seen, sizeof(functions->seen[0])))
		return 0;
	functions->seen = seen;
	if (t2x_index_add(&functions->pairs, hash, functions->ncalls + 1))
		return 0;
	functions->seen[functions->ncalls] = stack;
	functions->calls[functions->ncalls++] = (struct t2x_call){ caller, callee, value };
	return 1;
}

/* The path as a branch of the tree.  Return  0: no memory */
static int add_branch(struct t2x_functions *functions, uint32_t n, int64_t value)
{
	uint32_t node = 0;

	while (n--) {
		node = t2x_stacks_find(&functions->tree, node, functions->path[n], 0);
		if (!node)
			return 0;
	}
	functions->tree.stacks[node - 1].self_ns += (uint64_t)value;
	return 1;
}

/* Return  0: no memory */
static int add_stack(struct t2x_functions *functions, const struct t2x_samples *samples,
		     const struct t2x_samples_stack *stack, uint32_t number)
{
	int64_t value = t2x_samples_round(stack->scaled[samples->kind->shown]);
	uint32_t n;

	if (value <= 0)
		return 1;
	n = find_path(functions, samples, stack);
	if (!n)
		return 0;
	t2x_samples_sum(&functions->all, value);
	t2x_samples_sum(&functions->rows[functions->path[0] - 1].self, value);
	for (uint32_t i = 0; i < n; i++) {
		struct t2x_function *function = &functions->rows[functions->path[i] - 1];

		if (function->stack != number)
			t2x_samples_sum(&function->total, value);
		function->stack = number;
		if (i + 1 < n && !add_call(functions, functions->path[i + 1], functions->path[i], value, number))
			return 0;
	}
	return add_branch(functions, n, value);
}

/* The text of a tag; that of a number is put into digits. */
static const char *text_of(const struct t2x_samples *samples, const struct t2x_samples_tag *tag, char digits[24])
{
	if (!tag->is_number)
		return t2x_samples_text(samples, tag->text);
	snprintf(digits, 24, "%" PRId64, tag->number);
	return digits;
}

/* A label of a stack.  Return  NULL: it has none of this key */
static const struct t2x_samples_tag *
find_tag(const struct t2x_samples *samples, const struct t2x_samples_stack *stack, const char *key)
{
	for (uint32_t i = 0; i < stack->tags; i++) {
		uint32_t number = samples->words[stack->word + stack->depth + i];
		const struct t2x_samples_tag *tag = !number ? NULL :
			t2x_samples_row(&samples->tags, const struct t2x_samples_tag, number - 1);

		if (tag && !strcmp(t2x_samples_text(samples, tag->key), key))
			return tag;
	}
	return NULL;
}

static int is_selected(const struct t2x_samples *samples, const struct t2x_samples_stack *stack,
		       const struct t2x_samples_selected *selected)
{
	const struct t2x_samples_tag *tag;
	char digits[24];

	if (!selected->key)
		return 1;
	tag = find_tag(samples, stack, selected->key);
	return !strcmp(tag ? text_of(samples, tag, digits) : "", selected->text);
}

/* ---- order -------------------------------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b)
{
	const struct t2x_function *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : strcmp(x->file, y->file);
}

static int compare_calls(const void *a, const void *b)
{
	const struct t2x_call *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

/* Return  0 or ENOMEM */
static int sort(struct t2x_functions *functions)
{
	functions->row_of = calloc(functions->n + (size_t)1, sizeof(functions->row_of[0]));
	if (!functions->row_of)
		return ENOMEM;
	if (functions->n)
		qsort(functions->rows, functions->n, sizeof(functions->rows[0]), compare_functions);
	if (functions->ncalls)
		qsort(functions->calls, functions->ncalls, sizeof(functions->calls[0]), compare_calls);
	for (uint32_t i = 0; i < functions->n; i++)
		functions->row_of[functions->rows[i].number] = i;
	/* a node comes behind the one around it */
	for (uint32_t i = functions->tree.count; i--;) {
		struct t2x_stack *node = &functions->tree.stacks[i];

		node->count += node->self_ns;
		if (node->parent)
			functions->tree.stacks[node->parent - 1].count += node->count;
	}
	return 0;
}

/* ---- all of them -------------------------------------------------------------------------------- */

int t2x_functions_make(struct t2x_functions *functions, const struct t2x_samples *samples,
		       const struct t2x_samples_selected *selected)
{
	if (samples->error)
		return samples->error;
	for (uint32_t i = 0; i < samples->stacks.count; i++) {
		const struct t2x_samples_stack *stack =
			t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i);

		if (is_selected(samples, stack, selected) && !add_stack(functions, samples, stack, i + 1))
			return ENOMEM;
	}
	return sort(functions);
}

void t2x_functions_free(struct t2x_functions *functions)
{
	free(functions->rows);
	free(functions->calls);
	free(functions->row_of);
	free(functions->seen);
	free(functions->path);
	t2x_stacks_free(&functions->tree);
	t2x_index_free(&functions->names);
	t2x_index_free(&functions->pairs);
}

static int compare_texts(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void t2x_samples_free_texts(char **texts, uint32_t n)
{
	for (uint32_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

/* Sorted, and each once.  Return  how many are left */
static uint32_t sort_texts(char **texts, uint32_t n)
{
	uint32_t kept = 0;

	qsort(texts, n, sizeof(texts[0]), compare_texts);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !strcmp(texts[kept - 1], texts[i]))
			free(texts[i]);
		else
			texts[kept++] = texts[i];
	}
	return kept;
}

char **t2x_samples_label_texts(const struct t2x_samples *samples, const char *key, uint32_t *n)
{
	char **texts = calloc(samples->stacks.count + (size_t)1, sizeof(texts[0]));

	for (uint32_t i = 0; texts && i < samples->stacks.count; i++) {
		const struct t2x_samples_tag *tag =
			find_tag(samples, t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i), key);
		char digits[24];

		texts[i] = strdup(tag ? text_of(samples, tag, digits) : "");
		if (!texts[i]) {
			t2x_samples_free_texts(texts, i);
			return NULL;
		}
	}
	*n = texts ? sort_texts(texts, samples->stacks.count) : 0;
	return texts;
}

struct t2x_samples_about t2x_samples_find_about(const struct t2x_samples *samples)
{
	struct t2x_samples_about about = {
		.name = samples->name, .kind = samples->kind, .period = samples->period,
		.duration_ns = samples->duration_ns,
	};

	for (uint32_t i = 0; i < samples->stacks.count; i++)
		t2x_samples_sum(&about.samples,
				t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i)->raw[0]);
	return about;
}

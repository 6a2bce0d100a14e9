/* SPDX-License-Identifier: MIT */
/* t2x_samples.c - see t2x_samples.h. */
#include "t2x_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_samples_private.h"
#include "tlg.h"

enum { FIRST_ROWS = 64, FIRST_WORDS = 1024 };

/* ---- tables ------------------------------------------------------------------------------------- */

static void *fail(struct t2x_samples *samples)
{
	samples->error = ENOMEM;
	return NULL;
}

/* A new row, all zero.  Return  NULL: no memory */
static void *add_row(struct t2x_samples *samples, struct t2x_samples_table *table, size_t size)
{
	if (samples->error || t2x_index_room(&table->rows, table->count, &table->max, FIRST_ROWS, size))
		return fail(samples);
	return memset((char *)table->rows + table->count++ * size, 0, size);
}

/* The same, to be found by this hash. */
static void *add_found(struct t2x_samples *samples, struct t2x_samples_table *table, size_t size, uint32_t hash)
{
	void *row = add_row(samples, table, size);

	if (row && t2x_index_add(&table->index, hash, table->count)) {
		table->count--;
		return fail(samples);
	}
	return row;
}

static void free_table(struct t2x_samples_table *table)
{
	free(table->rows);
	t2x_index_free(&table->index);
}

/*
 * Rows without pointers are the same if their bytes are: they have no padding, or it is zero.
 * bytes  of the row that make it what it is; the others are zero at first
 */
static uint32_t find_row(struct t2x_samples *samples, struct t2x_samples_table *table, const void *row, size_t bytes,
			 size_t size)
{
	uint32_t hash = (uint32_t)t2x_index_hash(t2x_index_seed(), row, bytes), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	void *added;

	while ((number = t2x_index_next(&table->index, &search)))
		if (memcmp((char *)table->rows + (number - 1) * size, row, bytes) == 0)
			return number;
	added = add_found(samples, table, size, hash);
	if (!added)
		return 0;
	memcpy(added, row, bytes);
	return table->count;
}

uint32_t t2x_samples_string(struct t2x_samples *samples, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	uint32_t hash = (uint32_t)t2x_index_hash(t2x_index_seed(), text, length), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	struct t2x_samples_string *string;
	char *copy;

	while ((number = t2x_index_next(&samples->strings.index, &search))) {
		string = t2x_samples_row(&samples->strings, struct t2x_samples_string, number - 1);
		if (string->length == length && memcmp(string->text, text ? text : "", length) == 0)
			return number - 1;
	}
	copy = strdup(text ? text : "");
	string = copy ? add_found(samples, &samples->strings, sizeof(*string), hash) : fail(samples);
	if (!string) {
		free(copy);
		return 0;
	}
	*string = (struct t2x_samples_string){ copy, length };
	return samples->strings.count - 1;
}

/* ---- where -------------------------------------------------------------------------------------- */

uint32_t t2x_samples_mapping(struct t2x_samples *samples, const struct t2x_samples_mapping *mapping)
{
	struct t2x_samples_module module = {
		.start = mapping->start, .limit = mapping->limit, .offset = mapping->offset,
		.file = t2x_samples_string(samples, mapping->file),
		.build_id = t2x_samples_string(samples, mapping->build_id),
	};

	return find_row(samples, &samples->modules, &module, offsetof(struct t2x_samples_module, has_functions),
			sizeof(module));
}

/* A module that has no code has a name that says what it stands for.  Return  NULL: it has code */
static const char *name_of_none(const struct t2x_samples *samples, uint32_t mapping)
{
	const char *file = mapping ? t2x_samples_text(samples, t2x_samples_row(&samples->modules,
				     const struct t2x_samples_module, mapping - 1)->file) : "";

	return tlg_is_off_cpu(file) ? file : NULL;
}

uint32_t t2x_samples_location(struct t2x_samples *samples, uint32_t mapping, uint64_t address)
{
	struct t2x_samples_location location = { .address = address, .module = mapping };
	uint32_t number = find_row(samples, &samples->locations, &location, offsetof(struct t2x_samples_location, line),
				   sizeof(location));

	const char *name = !address && !mapping ? TLG_STACK_CUT : name_of_none(samples, mapping);

	if (name)
		t2x_samples_symbolize(samples, number, &(struct t2x_samples_line){
			.function = name, .system_name = name, .file = "" }, 1);
	return number;
}

uint32_t t2x_samples_locations(const struct t2x_samples *samples)
{
	return samples->locations.count;
}

static struct t2x_samples_location *get_location(const struct t2x_samples *samples, uint32_t number)
{
	return t2x_samples_row(&samples->locations, struct t2x_samples_location, number - 1);
}

uint64_t t2x_samples_address(const struct t2x_samples *samples, uint32_t location)
{
	return location ? get_location(samples, location)->address : 0;
}

int t2x_samples_mapping_of(const struct t2x_samples *samples, uint32_t location, struct t2x_samples_mapping *mapping)
{
	uint32_t number = location ? get_location(samples, location)->module : 0;
	const struct t2x_samples_module *module;

	if (!number)
		return 0;
	module = t2x_samples_row(&samples->modules, const struct t2x_samples_module, number - 1);
	*mapping = (struct t2x_samples_mapping){
		.start = module->start, .limit = module->limit, .offset = module->offset,
		.file = t2x_samples_text(samples, module->file),
		.build_id = t2x_samples_text(samples, module->build_id),
	};
	return 1;
}

static uint32_t find_function(struct t2x_samples *samples, const struct t2x_samples_line *line)
{
	struct t2x_samples_function function;

	memset(&function, 0, sizeof(function));   /* its padding, too */
	function.name = t2x_samples_string(samples, line->function);
	function.system_name = line->system_name ? t2x_samples_string(samples, line->system_name) : function.name;
	function.file = t2x_samples_string(samples, line->file);
	function.start_line = line->start_line;
	return find_row(samples, &samples->functions, &function, sizeof(function), sizeof(function));
}

/* What is known of a module whose location has these lines. */
static void note_lines(struct t2x_samples_module *module, const struct t2x_samples_line *lines, unsigned n)
{
	module->has_functions = 1;
	module->has_inlined |= n > 1;
	for (unsigned i = 0; i < n; i++) {
		module->has_files |= lines[i].file && *lines[i].file;
		module->has_lines |= lines[i].line > 0;
	}
}

void t2x_samples_symbolize(struct t2x_samples *samples, uint32_t number, const struct t2x_samples_line *lines,
			   unsigned n)
{
	struct t2x_samples_location *location = number ? get_location(samples, number) : NULL;
	uint32_t first = samples->lines.count;

	if (!location || location->nlines || !n)
		return;
	for (unsigned i = 0; i < n; i++) {
		uint32_t function = find_function(samples, &lines[i]);
		struct t2x_samples_source *source = add_row(samples, &samples->lines, sizeof(*source));
		if (!source)
			return;
		*source = (struct t2x_samples_source){ function, lines[i].line };
	}
	location->line = first;
	location->nlines = n;
	if (!location->module)
		return;
	note_lines(t2x_samples_row(&samples->modules, struct t2x_samples_module, location->module - 1), lines, n);
}

/* ---- what --------------------------------------------------------------------------------------- */

static uint32_t find_tag(struct t2x_samples *samples, const struct t2x_samples_label *label)
{
	struct t2x_samples_tag tag = {
		.key = t2x_samples_string(samples, label->key), .is_number = !label->text, .number = label->number,
	};

	if (label->text) {
		tag.text = t2x_samples_string(samples, label->text);
		tag.number = 0;
	} else {
		tag.unit = t2x_samples_string(samples, label->unit);
	}
	return find_row(samples, &samples->tags, &tag, sizeof(tag), sizeof(tag));
}

/* The words of a sample behind those of the others, where they stay if it is a new stack.  Return  0: no memory */
static int put_words(struct t2x_samples *samples, const struct t2x_sample *sample)
{
	size_t need = samples->nwords + sample->depth + sample->nlabels, max = samples->max_words;
	uint32_t *words;

	while (max <= need)
		max = max ? 2 * max : FIRST_WORDS;
	if (max > samples->max_words) {
		words = realloc(samples->words, max * sizeof(*words));
		if (!words) {
			fail(samples);
			return 0;
		}
		samples->words = words;
		samples->max_words = max;
	}
	words = samples->words + samples->nwords;
	for (unsigned i = 0; i < sample->depth; i++)
		words[i] = sample->stack[i];
	for (unsigned i = 0; i < sample->nlabels; i++)
		words[sample->depth + i] = find_tag(samples, &sample->labels[i]);
	return !samples->error;
}

/* Return  NULL: no memory */
static struct t2x_samples_stack *find_stack(struct t2x_samples *samples, const struct t2x_sample *sample)
{
	const uint32_t *words = samples->words + samples->nwords;
	size_t n = sample->depth + (size_t)sample->nlabels;
	uint64_t seed = t2x_index_mix(t2x_index_seed(), sample->depth);
	uint32_t hash = (uint32_t)t2x_index_hash(seed, words, n * sizeof(*words));
	struct t2x_index_search search = t2x_index_begin(hash);
	struct t2x_samples_stack *stack;
	uint32_t number;

	while ((number = t2x_index_next(&samples->stacks.index, &search))) {
		stack = t2x_samples_row(&samples->stacks, struct t2x_samples_stack, number - 1);
		if (stack->depth == sample->depth && stack->tags == sample->nlabels &&
		    memcmp(samples->words + stack->word, words, n * sizeof(*words)) == 0)
			return stack;
	}
	stack = add_found(samples, &samples->stacks, sizeof(*stack), hash);
	if (!stack)
		return NULL;
	stack->word = samples->nwords;
	stack->depth = sample->depth;
	stack->tags = sample->nlabels;
	samples->nwords += n;
	return stack;
}

static void add_value(struct t2x_samples_stack *stack, unsigned which, int64_t value, double scale)
{
	t2x_samples_sum(&stack->raw[which], value);
	stack->scaled[which] += (double)value * scale;
}

void t2x_samples_add(struct t2x_samples *samples, const struct t2x_sample *sample)
{
	enum t2x_prof_form_id form = samples->kind->id;
	double scale = t2x_prof_scale(samples->kind, sample->count, sample->value, sample->period);
	struct t2x_samples_stack *stack = put_words(samples, sample) ? find_stack(samples, sample) : NULL;

	if (!stack)
		return;
	if (!samples->period)
		samples->period = sample->period;
	if (form != T2X_PROF_FORM_HEAP || sample->count > 0) {
		add_value(stack, 0, sample->count, scale);
		add_value(stack, 1, sample->value, scale);
	}
	if (form == T2X_PROF_FORM_HEAP) {
		add_value(stack, T2X_IN_USE, sample->count, scale);
		add_value(stack, T2X_IN_USE_BYTES, sample->value, scale);
	}
}

void t2x_samples_set_time(struct t2x_samples *samples, uint64_t start_ns, uint64_t duration_ns)
{
	samples->start_ns = start_ns;
	samples->duration_ns = duration_ns;
}

void t2x_samples_comment(struct t2x_samples *samples, const char *text)
{
	samples->comment = t2x_samples_string(samples, text);
}

/* ---- life --------------------------------------------------------------------------------------- */

struct t2x_samples *t2x_samples_new(const char *profile)
{
	struct t2x_samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->kind = t2x_prof_kind_of(profile);
	samples->name = strdup(profile);
	t2x_samples_string(samples, "");
	if (samples->name && !samples->error)
		return samples;
	t2x_samples_free(samples);
	return NULL;
}

void t2x_samples_free(struct t2x_samples *samples)
{
	if (!samples)
		return;
	for (uint32_t i = 0; i < samples->strings.count; i++)
		free(t2x_samples_row(&samples->strings, struct t2x_samples_string, i)->text);
	free_table(&samples->strings);
	free_table(&samples->modules);
	free_table(&samples->locations);
	free_table(&samples->lines);
	free_table(&samples->functions);
	free_table(&samples->tags);
	free_table(&samples->stacks);
	free(samples->words);
	free(samples->name);
	free(samples);
}

/* SPDX-License-Identifier: MIT */
/*
 * t2x_samples_proto.c - a profile of samples as gzip of a Profile of profile.proto.
 *
 * Numbers of rows are the ids, numbers of strings the places in its table, which is written last.
 */
#include <errno.h>
#include <stdio.h>

#include "t2x_pprof_message.h"
#include "t2x_samples.h"
#include "t2x_samples_private.h"
#include "tlg.h"

struct message {
	struct t2x_samples *samples;
	int has_states;                   /* samples say where a thread is off the CPU */
	struct t2x_pprof_message to;
};

/* A type's name; an object's is the profile's. */
static uint32_t type_string(struct t2x_samples *samples, const char *type)
{
	return t2x_samples_string(samples, type ? type : samples->name);
}

static void put_type(struct message *message, unsigned field, const struct t2x_prof_value *value)
{
	t2x_pprof_type(&message->to, field, type_string(message->samples, value->type),
		       t2x_samples_string(message->samples, value->unit));
}

static int has_value(const struct t2x_prof_kind *kind, unsigned i)
{
	return i < T2X_PROF_VALUES && kind->form->value[i].unit;
}

static void put_label(struct message *message, const struct t2x_samples_tag *tag)
{
	t2x_protobuf_uint(&message->to.part, T2X_PPROF_LABEL_KEY, tag->key);
	t2x_protobuf_uint(&message->to.part, T2X_PPROF_LABEL_TEXT, tag->text);
	t2x_protobuf_uint(&message->to.part, T2X_PPROF_LABEL_NUMBER, (uint64_t)tag->number);
	t2x_protobuf_uint(&message->to.part, T2X_PPROF_LABEL_UNIT, tag->unit);
	t2x_protobuf_message(&message->to.inner, T2X_PPROF_SAMPLE_LABEL, &message->to.part);
}

/* Where a stack's innermost function is: the name of its module.  Return  "": it is in none */
static const char *innermost_of(const struct t2x_samples *samples, const struct t2x_samples_stack *stack)
{
	const uint32_t location = stack->depth ? samples->words[stack->word] : 0;
	struct t2x_samples_mapping mapping;

	return t2x_samples_mapping_of(samples, location, &mapping) ? mapping.file : "";
}

/* A trace of an older library does not say who is off the CPU. */
static int has_states(const struct t2x_samples *samples)
{
	if (samples->kind->recorded != T2X_PROF_KIND_WALL)
		return 0;
	for (uint32_t i = 0; i < samples->stacks.count; i++)
		if (tlg_is_off_cpu(innermost_of(samples, t2x_samples_row(&samples->stacks,
									 const struct t2x_samples_stack, i))))
			return 1;
	return 0;
}

static void put_text_label(struct message *message, const char *key, const char *text)
{
	put_label(message, &(struct t2x_samples_tag){
		.key = t2x_samples_string(message->samples, key), .text = t2x_samples_string(message->samples, text),
	});
}

/* The frame that stands for no code, as a label, too: readers can select by labels. */
static void put_state(struct message *message, const struct t2x_samples_stack *stack)
{
	const char *module = innermost_of(message->samples, stack), *call;
	char name[64];
	int length;

	put_text_label(message, "state", tlg_is_off_cpu(module) ? "off-CPU" : "on-CPU");
	call = tlg_off_cpu_call(module, &length);
	if (!call)
		return;
	snprintf(name, sizeof(name), "%.*s", length, call);
	put_text_label(message, "syscall", name);
}

static void put_sample(struct message *message, const struct t2x_samples_stack *stack)
{
	const struct t2x_samples *samples = message->samples;
	const uint32_t *words = samples->words + stack->word;

	for (uint32_t i = 0; i < stack->depth; i++)
		if (words[i])
			t2x_protobuf_packed(&message->to.part, words[i]);
	t2x_protobuf_message(&message->to.inner, T2X_PPROF_SAMPLE_LOCATIONS, &message->to.part);
	for (unsigned i = 0; has_value(samples->kind, i); i++)
		t2x_protobuf_packed(&message->to.part, (uint64_t)t2x_samples_round(stack->scaled[i]));
	t2x_protobuf_message(&message->to.inner, T2X_PPROF_SAMPLE_VALUES, &message->to.part);
	for (uint32_t i = 0; i < stack->tags; i++)
		put_label(message, t2x_samples_row(&samples->tags, const struct t2x_samples_tag,
						   words[stack->depth + i] - 1));
	if (message->has_states)
		put_state(message, stack);
	t2x_pprof_inner(&message->to, T2X_PPROF_SAMPLE);
}

static void put_mapping(struct message *message, uint32_t number)
{
	const struct t2x_samples_module *module =
		t2x_samples_row(&message->samples->modules, const struct t2x_samples_module, number - 1);

	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_ID, number);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_START, module->start);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_LIMIT, module->limit);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_OFFSET, module->offset);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_FILE, module->file);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_BUILD_ID, module->build_id);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_FUNCTIONS, module->has_functions);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_FILES, module->has_files);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_LINES, module->has_lines);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_MAPPING_INLINED, module->has_inlined);
	t2x_pprof_inner(&message->to, T2X_PPROF_MAPPING);
}

/* Readers take the first for the program, and name the profile after it.  Return  0: all are libraries */
static uint32_t find_program(const struct t2x_samples *samples)
{
	for (uint32_t i = 1; i <= samples->modules.count; i++) {
		const struct t2x_samples_module *module =
			t2x_samples_row(&samples->modules, const struct t2x_samples_module, i - 1);
		const struct t2x_samples_string *file =
			t2x_samples_row(&samples->strings, const struct t2x_samples_string, module->file);
		if (file->length && *file->text != '[' && !strstr(file->text, ".so"))
			return i;
	}
	return 0;
}

static void put_mappings(struct message *message)
{
	const uint32_t program = find_program(message->samples);

	if (program)
		put_mapping(message, program);
	for (uint32_t i = 1; i <= message->samples->modules.count; i++)
		if (i != program)
			put_mapping(message, i);
}

static void put_location(struct message *message, uint32_t number)
{
	const struct t2x_samples *samples = message->samples;
	const struct t2x_samples_location *location =
		t2x_samples_row(&samples->locations, const struct t2x_samples_location, number - 1);

	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_LOCATION_ID, number);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_LOCATION_MAPPING, location->module);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_LOCATION_ADDRESS, location->address);
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct t2x_samples_source *line =
			t2x_samples_row(&samples->lines, const struct t2x_samples_source, location->line + i);
		t2x_protobuf_uint(&message->to.part, T2X_PPROF_LINE_FUNCTION, line->function);
		t2x_protobuf_uint(&message->to.part, T2X_PPROF_LINE_LINE, (uint64_t)line->line);
		t2x_protobuf_message(&message->to.inner, T2X_PPROF_LOCATION_LINE, &message->to.part);
	}
	t2x_pprof_inner(&message->to, T2X_PPROF_LOCATION);
}

static void put_function(struct message *message, uint32_t number)
{
	const struct t2x_samples_function *function =
		t2x_samples_row(&message->samples->functions, const struct t2x_samples_function, number - 1);

	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_FUNCTION_ID, number);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_FUNCTION_NAME, function->name);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_FUNCTION_SYSTEM_NAME, function->system_name);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_FUNCTION_FILE, function->file);
	t2x_protobuf_uint(&message->to.inner, T2X_PPROF_FUNCTION_LINE, (uint64_t)function->start_line);
	t2x_pprof_inner(&message->to, T2X_PPROF_FUNCTION);
}

static void put_strings(struct message *message)
{
	const struct t2x_samples_table *strings = &message->samples->strings;

	for (uint32_t i = 0; i < strings->count; i++) {
		const struct t2x_samples_string *string =
			t2x_samples_row(strings, const struct t2x_samples_string, i);
		t2x_pprof_string(&message->to, string->text, string->length);
	}
}

static void put_profile(struct message *message)
{
	struct t2x_samples *samples = message->samples;
	const struct t2x_prof_form *form = samples->kind->form;

	for (unsigned i = 0; has_value(samples->kind, i); i++)
		put_type(message, T2X_PPROF_SAMPLE_TYPE, &form->value[i]);
	for (uint32_t i = 0; i < samples->stacks.count; i++)
		put_sample(message, t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i));
	put_mappings(message);
	for (uint32_t i = 1; i <= samples->locations.count; i++)
		put_location(message, i);
	for (uint32_t i = 1; i <= samples->functions.count; i++)
		put_function(message, i);
	t2x_pprof_number(&message->to, T2X_PPROF_TIME, samples->start_ns);
	t2x_pprof_number(&message->to, T2X_PPROF_DURATION, samples->duration_ns);
	put_type(message, T2X_PPROF_PERIOD_TYPE, &form->period);
	t2x_pprof_number(&message->to, T2X_PPROF_PERIOD, samples->period > 0 ? (uint64_t)samples->period : 1);
	t2x_pprof_number(&message->to, T2X_PPROF_COMMENT, samples->comment);
	t2x_pprof_number(&message->to, T2X_PPROF_DEFAULT_TYPE,
			 type_string(samples, form->value[samples->kind->shown].type));
	put_strings(message);
}

int t2x_samples_write(struct t2x_samples *samples, t2x_write_fn *write, void *target)
{
	struct message message = { .samples = samples, .has_states = has_states(samples) };
	int error;

	if (samples->error)
		return samples->error;
	if (t2x_pprof_begin(&message.to, write, target))
		return ENOMEM;
	put_profile(&message);
	error = t2x_pprof_end(&message.to);
	return samples->error ? samples->error : error;
}

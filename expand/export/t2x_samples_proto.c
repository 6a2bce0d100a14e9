/* SPDX-License-Identifier: MIT */
/*
 * t2x_samples_proto.c - a profile of samples as gzip of a Profile of profile.proto.
 *
 * Numbers of rows are the ids, numbers of strings the places in its table, which is written last: the message has
 * fields in any order.
 */
#include <errno.h>

#include "t2x_deflate.h"
#include "t2x_protobuf.h"
#include "t2x_samples.h"
#include "t2x_samples_private.h"

/* Numbers of fields. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME = 9, DURATION, PERIOD_TYPE, PERIOD, COMMENT,
       DEFAULT_TYPE };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_BUILD_ID, MAPPING_FUNCTIONS,
       MAPPING_FILES, MAPPING_LINES, MAPPING_INLINED };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

enum { LEVEL = 1 };                     /* of compression: Go's own */

struct message {
	struct t2x_samples *samples;
	struct t2x_deflate *deflate;
	t2x_write_fn *write;
	void *target;
	int error;                              /* errno of write */
	struct t2x_bytes field, inner, part;    /* reused */
};

static int write_out(void *target, const char *bytes, size_t n)
{
	struct message *message = target;

	if (!message->error)
		message->error = message->write(message->target, bytes, n);
	return message->error;
}

/* A field of the profile goes out. */
static void put_field(struct message *message)
{
	if (!message->field.error)
		t2x_deflate_put(message->deflate, message->field.bytes, message->field.n);
	message->field.n = 0;
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
	t2x_protobuf_uint(&message->field, field, value);
	put_field(message);
}

static void put_inner(struct message *message, unsigned field)
{
	t2x_protobuf_message(&message->field, field, &message->inner);
	put_field(message);
}

/* A type's name; an object's is the profile's. */
static uint32_t type_string(struct t2x_samples *samples, const char *type)
{
	return t2x_samples_string(samples, type ? type : samples->name);
}

static void put_type(struct message *message, unsigned field, const char *type, const char *unit)
{
	t2x_protobuf_uint(&message->inner, TYPE_TYPE, type_string(message->samples, type));
	t2x_protobuf_uint(&message->inner, TYPE_UNIT, t2x_samples_string(message->samples, unit));
	put_inner(message, field);
}

static void put_label(struct message *message, const struct t2x_samples_tag *tag)
{
	t2x_protobuf_uint(&message->part, LABEL_KEY, tag->key);
	t2x_protobuf_uint(&message->part, LABEL_TEXT, tag->text);
	t2x_protobuf_uint(&message->part, LABEL_NUMBER, (uint64_t)tag->number);
	t2x_protobuf_uint(&message->part, LABEL_UNIT, tag->unit);
	t2x_protobuf_message(&message->inner, SAMPLE_LABEL, &message->part);
}

static void put_sample(struct message *message, const struct t2x_samples_stack *stack)
{
	const struct t2x_samples *samples = message->samples;
	const uint32_t *words = samples->words + stack->word;

	for (uint32_t i = 0; i < stack->depth; i++)
		if (words[i])
			t2x_protobuf_packed(&message->part, words[i]);
	t2x_protobuf_message(&message->inner, SAMPLE_LOCATIONS, &message->part);
	for (unsigned i = 0; i < samples->kind->values; i++)
		t2x_protobuf_packed(&message->part, (uint64_t)t2x_samples_round(stack->scaled[i]));
	t2x_protobuf_message(&message->inner, SAMPLE_VALUES, &message->part);
	for (uint32_t i = 0; i < stack->tags; i++)
		put_label(message, t2x_samples_row(&samples->tags, const struct t2x_samples_tag,
						   words[stack->depth + i] - 1));
	put_inner(message, SAMPLE);
}

static void put_mapping(struct message *message, uint32_t number)
{
	const struct t2x_samples_module *module =
		t2x_samples_row(&message->samples->modules, const struct t2x_samples_module, number - 1);

	t2x_protobuf_uint(&message->inner, MAPPING_ID, number);
	t2x_protobuf_uint(&message->inner, MAPPING_START, module->start);
	t2x_protobuf_uint(&message->inner, MAPPING_LIMIT, module->limit);
	t2x_protobuf_uint(&message->inner, MAPPING_OFFSET, module->offset);
	t2x_protobuf_uint(&message->inner, MAPPING_FILE, module->file);
	t2x_protobuf_uint(&message->inner, MAPPING_BUILD_ID, module->build_id);
	t2x_protobuf_uint(&message->inner, MAPPING_FUNCTIONS, module->has_functions);
	t2x_protobuf_uint(&message->inner, MAPPING_FILES, module->has_files);
	t2x_protobuf_uint(&message->inner, MAPPING_LINES, module->has_lines);
	t2x_protobuf_uint(&message->inner, MAPPING_INLINED, module->has_inlined);
	put_inner(message, MAPPING);
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

	t2x_protobuf_uint(&message->inner, LOCATION_ID, number);
	t2x_protobuf_uint(&message->inner, LOCATION_MAPPING, location->module);
	t2x_protobuf_uint(&message->inner, LOCATION_ADDRESS, location->address);
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct t2x_samples_source *line =
			t2x_samples_row(&samples->lines, const struct t2x_samples_source, location->line + i);
		t2x_protobuf_uint(&message->part, LINE_FUNCTION, line->function);
		t2x_protobuf_uint(&message->part, LINE_LINE, (uint64_t)line->line);
		t2x_protobuf_message(&message->inner, LOCATION_LINE, &message->part);
	}
	put_inner(message, LOCATION);
}

static void put_function(struct message *message, uint32_t number)
{
	const struct t2x_samples_function *function =
		t2x_samples_row(&message->samples->functions, const struct t2x_samples_function, number - 1);

	t2x_protobuf_uint(&message->inner, FUNCTION_ID, number);
	t2x_protobuf_uint(&message->inner, FUNCTION_NAME, function->name);
	t2x_protobuf_uint(&message->inner, FUNCTION_SYSTEM_NAME, function->system_name);
	t2x_protobuf_uint(&message->inner, FUNCTION_FILE, function->file);
	t2x_protobuf_uint(&message->inner, FUNCTION_LINE, (uint64_t)function->start_line);
	put_inner(message, FUNCTION);
}

static void put_strings(struct message *message)
{
	const struct t2x_samples_table *strings = &message->samples->strings;

	for (uint32_t i = 0; i < strings->count; i++) {
		const struct t2x_samples_string *string =
			t2x_samples_row(strings, const struct t2x_samples_string, i);
		t2x_protobuf_text(&message->field, STRING, string->text, string->length);
		put_field(message);
	}
}

static void put_profile(struct message *message)
{
	struct t2x_samples *samples = message->samples;
	const struct t2x_samples_kind *kind = samples->kind;

	for (unsigned i = 0; i < kind->values; i++)
		put_type(message, SAMPLE_TYPE, kind->value[i].type, kind->value[i].unit);
	for (uint32_t i = 0; i < samples->stacks.count; i++)
		put_sample(message, t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i));
	put_mappings(message);
	for (uint32_t i = 1; i <= samples->locations.count; i++)
		put_location(message, i);
	for (uint32_t i = 1; i <= samples->functions.count; i++)
		put_function(message, i);
	put_number(message, TIME, samples->start_ns);
	put_number(message, DURATION, samples->duration_ns);
	put_type(message, PERIOD_TYPE, kind->period.type, kind->period.unit);
	put_number(message, PERIOD, samples->period > 0 ? (uint64_t)samples->period : 1);
	put_number(message, COMMENT, samples->comment);
	put_number(message, DEFAULT_TYPE, type_string(samples, kind->value[kind->first].type));
	put_strings(message);
}

int t2x_samples_write(struct t2x_samples *samples, t2x_write_fn *write, void *target)
{
	struct message message = { .samples = samples, .write = write, .target = target };

	if (samples->error)
		return samples->error;
	message.deflate = t2x_deflate_new(T2X_DEFLATE_GZIP, LEVEL, write_out, &message);
	if (!message.deflate)
		return ENOMEM;
	put_profile(&message);
	t2x_deflate_end(message.deflate);
	t2x_deflate_free(message.deflate);
	if (samples->error || message.field.error || message.inner.error || message.part.error)
		message.error = ENOMEM;
	t2x_bytes_free(&message.field);
	t2x_bytes_free(&message.inner);
	t2x_bytes_free(&message.part);
	return message.error;
}

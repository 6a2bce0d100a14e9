/* SPDX-License-Identifier: MIT */
/*
 * t2x_samples_text.c - a profile of samples as Go's legacy text: a head, a line for each stack, the largest first,
 * under it a comment for each of its functions, and the modules as /proc/PID/maps shows them.
 *
 * Readers take one off each address, for it is meant to be where a call returns to: so they get one more.
 */
#include <errno.h>
#include <stdlib.h>

#include "t2x_samples.h"
#include "t2x_samples_private.h"

enum { HEX_DIGITS = 16 };

static void put_hex(struct t2x_out *out, uint64_t value)
{
	char *p = t2x_out_room(out, HEX_DIGITS);
	unsigned digits = 1;

	while (digits < HEX_DIGITS && value >> 4 * digits)
		digits++;
	for (unsigned i = digits; i--;)
		*p++ = "0123456789abcdef"[value >> 4 * i & 15];
	out->pos += digits;
}

/* A text within its line, and, if it is a word, within that. */
static void put_text(struct t2x_out *out, const char *text, int is_word)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		t2x_out_char(out, c < ' ' || (is_word && c == ' ') ? '_' : *text);
	}
}

/* What the lines have in front of " @". */
static void put_values(struct t2x_out *out, enum t2x_prof_form_id form, const int64_t *raw)
{
	switch (form) {
	case T2X_PROF_FORM_HEAP:
		t2x_out_int(out, raw[T2X_IN_USE]);
		t2x_out_literal(out, ": ");
		t2x_out_int(out, raw[T2X_IN_USE_BYTES]);
		t2x_out_literal(out, " [");
		t2x_out_int(out, raw[T2X_ALLOCATED]);
		t2x_out_literal(out, ": ");
		t2x_out_int(out, raw[T2X_ALLOCATED_BYTES]);
		t2x_out_char(out, ']');
		break;
	case T2X_PROF_FORM_WAITS:
		t2x_out_int(out, raw[1]);
		t2x_out_char(out, ' ');
		t2x_out_int(out, raw[0]);
		break;
	case T2X_PROF_FORM_TIME:
	case T2X_PROF_FORM_OBJECTS:
		t2x_out_int(out, raw[0]);
		break;
	}
}

static void put_head(struct t2x_out *out, const struct t2x_samples *samples)
{
	enum t2x_prof_form_id form = samples->kind->id;
	int64_t total[T2X_PROF_VALUES] = { 0 }, period = samples->period > 0 ? samples->period : 1;

	for (uint32_t i = 0; i < samples->stacks.count; i++) {
		const int64_t *raw = t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i)->raw;
		for (unsigned k = 0; k < T2X_PROF_VALUES; k++)
			t2x_samples_sum(&total[k], raw[k]);
	}
	if (form == T2X_PROF_FORM_HEAP) {
		t2x_out_literal(out, "heap profile: ");
		put_values(out, form, total);
		t2x_out_literal(out, " @ heap_v2/");
		t2x_out_int(out, period);
	} else if (form == T2X_PROF_FORM_WAITS) {
		/* of mutex, too: gperftools' pprof knows no other head */
		t2x_out_literal(out, "--- contention:\ncycles/second=1000000000\nsampling period=");
		t2x_out_int(out, period);
	} else {
		put_text(out, samples->name, 1);
		t2x_out_literal(out, " profile: total ");
		put_values(out, form, total);
	}
	t2x_out_char(out, '\n');
}

/* A function at an address, from 0 up, the innermost first, and the line there. */
static const struct t2x_samples_function *function_at(const struct t2x_samples *samples,
						      const struct t2x_samples_location *location, uint32_t i,
						      int64_t *line)
{
	const struct t2x_samples_source *source =
		t2x_samples_row(&samples->lines, const struct t2x_samples_source, location->line + i);

	*line = source->line;
	return t2x_samples_row(&samples->functions, const struct t2x_samples_function, source->function - 1);
}

/* The names of an address, the innermost first. */
static void put_names(struct t2x_out *out, const struct t2x_samples *samples, uint32_t number)
{
	const struct t2x_samples_location *location =
		t2x_samples_row(&samples->locations, const struct t2x_samples_location, number - 1);

	for (uint32_t i = 0; i < location->nlines; i++) {
		int64_t line;
		const struct t2x_samples_function *function = function_at(samples, location, i, &line);
		const char *file = t2x_samples_text(samples, function->file);

		t2x_out_literal(out, "#\t0x");
		put_hex(out, location->address);
		t2x_out_char(out, '\t');
		put_text(out, t2x_samples_text(samples, function->name), 0);
		if (*file) {
			t2x_out_char(out, '\t');
			put_text(out, file, 0);
			t2x_out_char(out, ':');
			t2x_out_int(out, line);
		}
		t2x_out_char(out, '\n');
	}
}

static void put_stack(struct t2x_out *out, const struct t2x_samples *samples, const struct t2x_samples_stack *stack)
{
	const uint32_t *words = samples->words + stack->word;

	if (samples->kind->id != T2X_PROF_FORM_HEAP && (stack->raw[0] <= 0 || stack->raw[1] < 0))
		return;                         /* readers refuse it */
	put_values(out, samples->kind->id, stack->raw);
	t2x_out_literal(out, " @");
	for (uint32_t i = 0; i < stack->depth; i++) {
		t2x_out_literal(out, " 0x");
		put_hex(out, t2x_samples_address(samples, words[i]) + 1);
	}
	if (!stack->depth)
		t2x_out_literal(out, " 0x1");
	t2x_out_char(out, '\n');
	for (uint32_t i = 0; i < stack->depth; i++)
		if (words[i])
			put_names(out, samples, words[i]);
}

/* What stacks are ordered by, as Go does. */
static int64_t size_of(enum t2x_prof_form_id form, const struct t2x_samples_stack *stack)
{
	return stack->raw[form == T2X_PROF_FORM_HEAP ? T2X_IN_USE_BYTES : form == T2X_PROF_FORM_WAITS ? 1 : 0];
}

struct ranked {
	int64_t size;
	uint32_t row;
};

static int by_size(const void *a, const void *b)
{
	const struct ranked *one = a, *two = b;

	if (one->size != two->size)
		return one->size < two->size ? 1 : -1;
	return one->row < two->row ? -1 : 1;
}

/* Return  0, or ENOMEM */
static int put_stacks(struct t2x_out *out, const struct t2x_samples *samples)
{
	uint32_t n = samples->stacks.count;
	struct ranked *ranked = malloc((n + (size_t)1) * sizeof(*ranked));
	const struct t2x_samples_stack *stacks = samples->stacks.rows;

	if (!ranked)
		return ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){ size_of(samples->kind->id, &stacks[i]), i };
	qsort(ranked, n, sizeof(*ranked), by_size);
	for (uint32_t i = 0; i < n; i++)
		put_stack(out, samples, &stacks[ranked[i].row]);
	free(ranked);
	return 0;
}

static void put_modules(struct t2x_out *out, const struct t2x_samples *samples)
{
	t2x_out_literal(out, "\n--- Memory map: ---\n");
	for (uint32_t i = 0; i < samples->modules.count; i++) {
		const struct t2x_samples_module *module =
			t2x_samples_row(&samples->modules, const struct t2x_samples_module, i);

		if (t2x_samples_is_made(samples, module))
			continue;                 /* it is at all addresses */
		put_hex(out, module->start);
		t2x_out_char(out, '-');
		put_hex(out, module->limit);
		t2x_out_literal(out, " r-xp ");
		put_hex(out, module->offset);
		t2x_out_literal(out, " 00:00 0 ");
		put_text(out, t2x_samples_text(samples, module->file), 0);
		t2x_out_char(out, '\n');
	}
}

static int put_legacy(struct t2x_out *out, const struct t2x_samples *samples)
{
	int error;

	put_head(out, samples);
	error = put_stacks(out, samples);
	put_modules(out, samples);
	return error;
}

/* Either text goes out.  put  returns 0 or ENOMEM    Return  0 or an errno */
static int write_text(const struct t2x_samples *samples, t2x_write_fn *write, void *target,
		      int (*put)(struct t2x_out *out, const struct t2x_samples *samples))
{
	struct t2x_out out;
	int error;

	if (samples->error)
		return samples->error;
	if (t2x_out_init_fn(&out, write, target))
		return ENOMEM;
	error = put(&out, samples);
	if (!error)
		error = t2x_out_flush(&out);
	t2x_out_free(&out);
	return error;
}

int t2x_samples_write_text(struct t2x_samples *samples, t2x_write_fn *write, void *target)
{
	return write_text(samples, write, target, put_legacy);
}

/* ---- folded stacks ------------------------------------------------------------------------------ */

/* A name of which nothing means something in the line. */
static void put_folded_name(struct t2x_out *out, const char *name)
{
	for (; *name; name++)
		t2x_out_char(out, *name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name);
}

/* Where it is in its file, "libc.so.6+0x271f9", which is the same in each process; "0x7f12" if it is in none. */
static void put_folded_address(struct t2x_out *out, const struct t2x_samples *samples,
			       const struct t2x_samples_location *location)
{
	const struct t2x_samples_module *module = !location->module ? NULL :
		t2x_samples_row(&samples->modules, const struct t2x_samples_module, location->module - 1);
	const char *file = module && !t2x_samples_is_made(samples, module) ? t2x_samples_text(samples, module->file)
									   : "";
	const char *slash = strrchr(file, '/');

	put_folded_name(out, slash ? slash + 1 : file);
	t2x_out_string(out, *file ? "+0x" : "0x");
	put_hex(out, *file ? location->address - module->start + module->offset : location->address);
}

/* The functions of an address, the outermost first. */
static void put_folded(struct t2x_out *out, const struct t2x_samples *samples, uint32_t number)
{
	const struct t2x_samples_location *location =
		t2x_samples_row(&samples->locations, const struct t2x_samples_location, number - 1);

	for (uint32_t i = location->nlines; i--;) {
		int64_t line;

		put_folded_name(out, t2x_samples_text(samples, function_at(samples, location, i, &line)->name));
		if (i)
			t2x_out_char(out, ';');
	}
	if (!location->nlines)
		put_folded_address(out, samples, location);
}

static int put_folded_stacks(struct t2x_out *out, const struct t2x_samples *samples)
{
	for (uint32_t i = 0; i < samples->stacks.count; i++) {
		const struct t2x_samples_stack *stack =
			t2x_samples_row(&samples->stacks, const struct t2x_samples_stack, i);
		int64_t value = t2x_samples_round(stack->scaled[samples->kind->shown]);

		if (value <= 0)
			continue;
		for (uint32_t k = stack->depth; k--;) {
			if (samples->words[stack->word + k])
				put_folded(out, samples, samples->words[stack->word + k]);
			t2x_out_char(out, k ? ';' : ' ');
		}
		if (!stack->depth)
			t2x_out_literal(out, "? ");
		t2x_out_int(out, value);
		t2x_out_char(out, '\n');
	}
	return 0;
}

int t2x_samples_write_folded(struct t2x_samples *samples, t2x_write_fn *write, void *target)
{
	return write_text(samples, write, target, put_folded_stacks);
}

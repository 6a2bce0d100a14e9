/* SPDX-License-Identifier: MIT */
/*
 * t2x_samples_private.h - the tables of a profile of samples, for t2x_samples*.c.
 *
 * Whatever repeats is a row of a table and has its number; strings have numbers from 0 up, and 0 is the empty one.
 */
#ifndef T2X_SAMPLES_PRIVATE_H
#define T2X_SAMPLES_PRIVATE_H

#include "t2x_index.h"
#include "t2x_prof_kinds.h"

/* The values of T2X_PROF_FORM_HEAP: allocated objects and bytes, those in use. */
enum { T2X_ALLOCATED, T2X_ALLOCATED_BYTES, T2X_IN_USE, T2X_IN_USE_BYTES };

/* A table: rows of one size, which doubles. */
struct t2x_samples_table {
	void *rows;
	uint32_t count, max;
	struct t2x_index index;
};

struct t2x_samples_string { char *text; size_t length; };
struct t2x_samples_module {
	uint64_t start, limit, offset;
	uint32_t file, build_id;          /* strings */
	unsigned has_functions, has_files, has_lines, has_inlined;
};
struct t2x_samples_location {
	uint64_t address;
	uint32_t module;
	uint32_t line, nlines;            /* rows of lines, from 0 up */
};
struct t2x_samples_source {
	uint32_t function;
	int64_t line;
};
struct t2x_samples_function {
	uint32_t name, system_name, file; /* strings */
	int64_t start_line;
};
struct t2x_samples_tag {
	uint32_t key, text, unit;         /* strings */
	int is_number;
	int64_t number;
};
struct t2x_samples_stack {
	size_t word;                      /* of words: depth locations, then tags */
	uint32_t depth, tags;
	int64_t raw[T2X_PROF_VALUES];
	double scaled[T2X_PROF_VALUES];
};

struct t2x_samples {
	const struct t2x_prof_kind *kind;
	char *name;                       /* of the profile */
	int error;                        /* 0 or ENOMEM */
	struct t2x_samples_table strings, modules, locations, lines, functions, tags, stacks;
	uint32_t *words;
	size_t nwords, max_words;
	uint64_t start_ns, duration_ns;
	int64_t period;
	uint32_t comment;                 /* a string */
};

/* Row i from 0 up, as a type. */
#define t2x_samples_row(table, type, i) (&((type *)(table)->rows)[i])

/* A sum that wraps around: whoever makes a trace can choose the numbers in it. */
static inline void t2x_samples_sum(int64_t *sum, int64_t value)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

/* The nearest whole number; what is beyond numbers of 64 bits becomes the last of them. */
static inline int64_t t2x_samples_round(double value)
{
	if (value >= 0x1p63)
		return INT64_MAX;
	return value <= -0x1p63 ? INT64_MIN : (int64_t)(value + (value < 0 ? -0.5 : 0.5));
}

/* The number of a text.  Return  0: also without memory */
uint32_t t2x_samples_string(struct t2x_samples *samples, const char *text);

static inline const char *t2x_samples_text(const struct t2x_samples *samples, uint32_t string)
{
	return t2x_samples_row(&samples->strings, const struct t2x_samples_string, string)->text;
}

/* Code that a process has made at run time, see FORMAT.md section 8: a module that is no file. */
static inline int t2x_samples_is_made(const struct t2x_samples *samples, const struct t2x_samples_module *module)
{
	return *t2x_samples_text(samples, module->file) == '[';
}

#endif

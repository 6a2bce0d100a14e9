/* SPDX-License-Identifier: MIT */
/*
 * t2x_samples.h - a profile of samples: stacks of addresses with values, labels and the modules that the addresses are
 * in, as gzip of a Profile of profile.proto, or as Go's legacy text.
 *
 * It is made from what is recorded (FORMAT.md section 8, `sample`), by t2expand from a trace, by libtrace2-prof in the
 * process itself; so it knows no events and no files.  Equal stacks with equal labels are added up, raw for the text,
 * and scaled by their periods for the message; memory: distinct stacks and addresses.  From malloc(), no global state,
 * one thread at a time for each.  Errors are sticky: without memory nothing more is taken in, and writing says so.
 *
 * Mappings and locations have numbers from 1 up; 0: there was no memory for it, or there is none, and every function
 * here accepts that.
 */
#ifndef T2X_SAMPLES_H
#define T2X_SAMPLES_H

#include "base/t2x_out.h"

struct t2x_samples;

/*
 * profile  a kind of format/prof_kinds.def, or any other name: then objects are counted.
 * Return   NULL: no memory
 */
struct t2x_samples *t2x_samples_new(const char *profile);
void t2x_samples_free(struct t2x_samples *samples);

/* ---- where -------------------------------------------------------------------------------------- */

/* Part of a file in memory. */
struct t2x_samples_mapping {
	uint64_t start, limit, offset;    /* limit: behind it; offset in the file */
	const char *file, *build_id;      /* build_id: in hex; "" or NULL: not known */
};

/* The number of a mapping, of an address in one (0: in none).  The same for the same. */
uint32_t t2x_samples_mapping(struct t2x_samples *samples, const struct t2x_samples_mapping *mapping);
/* Address 0 in none has a name: the stack is cut there. */
uint32_t t2x_samples_location(struct t2x_samples *samples, uint32_t mapping, uint64_t address);

/* What a location is called.  All but the last of several are inlined in the one behind. */
struct t2x_samples_line {
	const char *function;
	const char *system_name;          /* as linkers know it; NULL: as function */
	const char *file;                 /* NULL: not known */
	int64_t line, start_line;         /* of the address, of the function; 0: not known */
};

/* For symbols to be looked up, once for each: so many locations are there, and this is where one of them is. */
uint32_t t2x_samples_locations(const struct t2x_samples *samples);
uint64_t t2x_samples_address(const struct t2x_samples *samples, uint32_t location);
/* mapping  filled; valid until the next is made.  Return  0: it is in none */
int t2x_samples_mapping_of(const struct t2x_samples *samples, uint32_t location, struct t2x_samples_mapping *mapping);

/* Name a location that has no name yet. */
void t2x_samples_symbolize(struct t2x_samples *samples, uint32_t location, const struct t2x_samples_line *lines,
			   unsigned n);

/* ---- what --------------------------------------------------------------------------------------- */

/* A text, or a number with a unit. */
struct t2x_samples_label {
	const char *key;
	const char *text;                 /* NULL: it is a number */
	int64_t number;
	const char *unit;                 /* NULL: none */
};

/*
 * count, value, period are those of the event `sample`, or the sum of several such with one stack, one period and, in
 * heap, one size and sign.  t2x_prof_scale() says how many it stands for.  Of what is freed count and value are
 * negative, and it is taken off what is in use.
 */
struct t2x_sample {
	const uint32_t *stack;            /* locations, the innermost first */
	unsigned depth, nlabels;
	const struct t2x_samples_label *labels;
	int64_t count, value, period;
};

void t2x_samples_add(struct t2x_samples *samples, const struct t2x_sample *sample);

/* When the profile began, since 1970-01-01 UTC, and how long it was; what a reader should know besides. */
void t2x_samples_set_time(struct t2x_samples *samples, uint64_t start_ns, uint64_t duration_ns);
void t2x_samples_comment(struct t2x_samples *samples, const char *text);

/* ---- out ---------------------------------------------------------------------------------------- */

/*
 * Write the message, gzipped.  write  gets all bytes in order; its first error ends it
 * Return  0, the errno of write, or ENOMEM
 */
int t2x_samples_write(struct t2x_samples *samples, t2x_write_fn *write, void *target);

/*
 * The same for the text, that of Go's debug=1, which `go tool pprof` and gperftools' pprof read: the largest first,
 * values not scaled, no labels, names in comments, the modules at its end.
 */
int t2x_samples_write_text(struct t2x_samples *samples, t2x_write_fn *write, void *target);

/*
 * The same as folded stacks: functions from the outermost to the innermost with semicolons between them, a blank, the
 * value that is shown first, scaled; nothing of what comes to no more than 0.
 */
int t2x_samples_write_folded(struct t2x_samples *samples, t2x_write_fn *write, void *target);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_prof_kinds.h - the kinds of profiles as format/prof_kinds.def has them: what the numbers of a sample mean.
 *
 * A name that is not in the table is a profile of the program's own, which counts objects.  The functions here allocate
 * nothing and change nothing.
 */
#ifndef T2X_PROF_KINDS_H
#define T2X_PROF_KINDS_H

#include <stdint.h>

enum t2x_prof_form_id {
#define PROF_FORM(id, unit, each, scale, shown, type, of, count, value, period) T2X_PROF_FORM_##id,
#include "prof_kinds.def"
};

enum t2x_prof_unit { T2X_PROF_time, T2X_PROF_bytes, T2X_PROF_count };
enum t2x_prof_scale { T2X_PROF_ONE, T2X_PROF_PERIOD, T2X_PROF_SIZE };
enum t2x_prof_during { T2X_PROF_RUNS, T2X_PROF_LASTS, T2X_PROF_MOMENT };
enum t2x_prof_freed { T2X_PROF_GOES, T2X_PROF_STAYS };
enum { T2X_PROF_VALUES = 4 };

struct t2x_prof_value {
	const char *type;                 /* NULL: the name of the profile */
	const char *unit;                 /* NULL: there is no such value */
	enum t2x_prof_freed freed;
	const char *title;                /* beside other values; "": that of the kind */
};

struct t2x_prof_form {
	enum t2x_prof_unit unit;
	enum t2x_prof_scale scale;
	const char *each;                 /* what is counted beside the values; "": nothing */
	struct t2x_prof_value period, value[T2X_PROF_VALUES];
	const char *count_means, *value_means, *period_means;
};

/* All kinds and views, in the order of the table. */
enum t2x_prof_kind_id {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) T2X_PROF_KIND_##id,
#define PROF_VIEW(id, name, kind, form, shown) T2X_PROF_KIND_##id,
#include "prof_kinds.def"
	T2X_PROF_KINDS
};

struct t2x_prof_kind {
	const char *name;                 /* NULL: any that is not in the table */
	enum t2x_prof_kind_id recorded;   /* the kind of its samples: of "allocs" that of "heap"; of others itself */
	enum t2x_prof_form_id id;
	const struct t2x_prof_form *form;
	enum t2x_prof_during during;
	unsigned shown;                   /* the value that is shown first */
	const char *title;                /* of its events; of a view "" */
};

extern const struct t2x_prof_kind t2x_prof_kinds[T2X_PROF_KINDS];

/* The kind of a profile; of a name that is not in the table, NULL among them, one that counts objects. */
const struct t2x_prof_kind *t2x_prof_kind_of(const char *profile);

/* How many a sample stands for, by its count, value and period. */
double t2x_prof_scale(const struct t2x_prof_kind *kind, int64_t count, int64_t value, int64_t period);

#endif

/* SPDX-License-Identifier: MIT */
/* t2x_prof_kinds.c - see t2x_prof_kinds.h. */
#include "t2x_prof_kinds.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* An id that is left out would be a part of a name that compiles. */
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) \
	static_assert(sizeof(#id) > 1 && sizeof(#name) > 1, "a kind has an id and a name");
#define PROF_VIEW(id, name, kind, form, shown) \
	static_assert(sizeof(#id) > 1 && sizeof(#name) > 1, "a view has an id and a name");
#include "prof_kinds.def"

/* A value that is shown has a line of its own in the table, or it has no name here. */
enum {
#define PROF_VALUE(form, number, type, unit, freed, title) VALUE_##form##_##number = (number),
#include "prof_kinds.def"
};

static const struct t2x_prof_form forms[] = {
#define PROF_FORM(ID, UNIT, EACH, SCALE, SHOWN, TYPE, OF, COUNT, VALUE, PERIOD) \
	[T2X_PROF_FORM_##ID].unit = T2X_PROF_##UNIT, [T2X_PROF_FORM_##ID].scale = T2X_PROF_##SCALE, \
	[T2X_PROF_FORM_##ID].each = EACH, [T2X_PROF_FORM_##ID].period = { TYPE, OF, T2X_PROF_GOES, "" }, \
	[T2X_PROF_FORM_##ID].count_means = COUNT, [T2X_PROF_FORM_##ID].value_means = VALUE, \
	[T2X_PROF_FORM_##ID].period_means = PERIOD,
#define PROF_VALUE(FORM, NUMBER, TYPE, UNIT, FREED, TITLE) \
	[T2X_PROF_FORM_##FORM].value[NUMBER] = { TYPE, UNIT, T2X_PROF_##FREED, .title = TITLE },
#include "prof_kinds.def"
};

/* The value that profiles of a form show first */
enum {
#define PROF_FORM(id, unit, each, scale, shown, type, of, count, value, period) SHOWN_##id = VALUE_##id##_##shown,
#include "prof_kinds.def"
};

const struct t2x_prof_kind t2x_prof_kinds[T2X_PROF_KINDS] = {
#define PROF_KIND(ID, NAME, FORM, DURING, RATE, USUAL, MIN, MAX, TITLE, HELP) \
	{ .name = #NAME, .recorded = T2X_PROF_KIND_##ID, .id = T2X_PROF_FORM_##FORM, \
	  .form = &forms[T2X_PROF_FORM_##FORM], .during = T2X_PROF_##DURING, .shown = SHOWN_##FORM, .title = TITLE },
#define PROF_VIEW(ID, NAME, KIND, FORM, SHOWN) \
	{ .name = #NAME, .recorded = T2X_PROF_KIND_##KIND, .id = T2X_PROF_FORM_##FORM, \
	  .form = &forms[T2X_PROF_FORM_##FORM], .during = T2X_PROF_MOMENT, .shown = VALUE_##FORM##_##SHOWN, \
	  .title = "" },
#include "prof_kinds.def"
};

static const struct t2x_prof_kind others = {
	.recorded = T2X_PROF_KINDS, .id = T2X_PROF_FORM_OBJECTS, .form = &forms[T2X_PROF_FORM_OBJECTS],
	.during = T2X_PROF_MOMENT, .shown = SHOWN_OBJECTS, .title = "",
};

const struct t2x_prof_kind *t2x_prof_kind_of(const char *profile)
{
	for (unsigned i = 0; profile && i < T2X_PROF_KINDS; i++)
		if (!strcmp(t2x_prof_kinds[i].name, profile))
			return &t2x_prof_kinds[i];
	return &others;
}

/* ---- scales ------------------------------------------------------------------------------------- */

/*
 * 1 - exp(-x) for x > 0, without the library of mathematics, which would cost every process its loading: the series
 * for an x that is small enough, then 1 - (1 - e)^2 = e * (2 - e) for twice the x, in which nothing cancels out.
 */
static double chance(double x)
{
	unsigned doublings = 0;
	double e;

	if (x > 40)
		return 1;
	for (; x > 0x1p-10; x /= 2)
		doublings++;
	e = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
	while (doublings--)
		e *= 2 - e;
	return e;
}

/* One byte in `period' is picked, and with it the object that it is in. */
static double scale_of_size(double size, double period)
{
	return size > 0 ? 1 / chance(size / period) : 1;
}

double t2x_prof_scale(const struct t2x_prof_kind *kind, int64_t count, int64_t value, int64_t period)
{
	if (period <= 1 || !count)
		return 1;
	switch (kind->form->scale) {
	case T2X_PROF_PERIOD:
		return (double)period;
	case T2X_PROF_SIZE:
		return scale_of_size((double)value / (double)count, (double)period);
	case T2X_PROF_ONE:
		break;
	}
	return 1;
}

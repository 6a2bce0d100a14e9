/* SPDX-License-Identifier: MIT */
/* The table of profile kinds as the expander has it, and how many a sample of each kind stands for. */
#include "profile/t2x_prof_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double found, double wanted)
{
	assert_true(found > wanted * (1 - 1e-9) && found < wanted * (1 + 1e-9));
}

static double scale(const char *profile, int64_t count, int64_t value, int64_t period)
{
	return t2x_prof_scale(t2x_prof_kind_of(profile), count, value, period);
}

static void test_prof_kinds_each_is_found_by_its_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_PROF_KINDS; i++)
		assert_ptr_equal(t2x_prof_kind_of(t2x_prof_kinds[i].name), &t2x_prof_kinds[i]);
}

static void test_prof_kinds_each_shows_a_value_that_it_has(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_PROF_KINDS; i++) {
		const struct t2x_prof_kind *kind = &t2x_prof_kinds[i], *recorded = &t2x_prof_kinds[kind->recorded];

		assert_true(kind->shown < T2X_PROF_VALUES);
		assert_non_null(kind->form->value[kind->shown].unit);
		assert_non_null(kind->form->period.unit);
		assert_ptr_equal(kind->form, recorded->form);
		assert_int_equal(recorded->recorded, kind->recorded);
		assert_true(*recorded->title);
	}
}

static void test_prof_kinds_a_view_is_recorded_as_another_kind(void **state)
{
	const struct t2x_prof_kind *allocs = t2x_prof_kind_of("allocs"), *heap = t2x_prof_kind_of("heap");

	(void)state;
	assert_string_equal(t2x_prof_kinds[allocs->recorded].name, "heap");
	assert_string_equal(allocs->form->value[allocs->shown].type, "alloc_space");
	assert_string_equal(heap->form->value[heap->shown].type, "inuse_space");
}

static void test_prof_kinds_an_unknown_name_counts_objects(void **state)
{
	const struct t2x_prof_kind *files = t2x_prof_kind_of("files");

	(void)state;
	assert_null(files->name);
	assert_int_equal(files->id, T2X_PROF_FORM_OBJECTS);
	assert_int_equal(files->form->unit, T2X_PROF_count);
	assert_int_equal(files->during, T2X_PROF_MOMENT);
	assert_ptr_equal(t2x_prof_kind_of(NULL), files);
	assert_ptr_equal(t2x_prof_kind_of(""), files);
}

static void test_prof_scale_of_ticks_is_one(void **state)
{
	(void)state;
	assert_near(scale("cpu", 7, 7000, 1000), 1);
	assert_near(scale("wall", 7, 7000, 1000), 1);
	assert_near(scale("files", 1, 0, 1000), 1);
}

static void test_prof_scale_of_waits_is_the_period(void **state)
{
	(void)state;
	assert_near(scale("mutex", 1, 500, 10), 10);
	assert_near(scale("block", 1, 500, 3), 3);
	assert_near(scale("block", 1, 500, 0), 1);
	assert_near(scale("block", 0, 0, 10), 1);
}

static void test_prof_scale_of_heap_is_by_size(void **state)
{
	(void)state;
	assert_near(scale("heap", 1, 4096, 1), 1);
	/* 1 / (1 - exp(-size / period)) */
	assert_near(scale("heap", 1, 1, 524288), 524288.5000001589);
	assert_near(scale("heap", 1, 16, 524288), 32768.50000254313);
	assert_near(scale("heap", 3, 3 * 4096, 524288), 128.5006510410044);
	assert_near(scale("heap", 1, 524288, 524288), 1.5819767068693265);
	assert_near(scale("heap", -2, -2 * 524288, 524288), 1.5819767068693265);
	assert_near(scale("heap", 1, 3 << 20, 524288), 1.0024849116568446);
	assert_near(scale("heap", 1, 1 << 24, 524288), 1.0000000000000127);
	assert_near(scale("allocs", 1, 100, 1024), 10.748136727623397);
	assert_near(scale("heap", 1, 0, 512), 1);
	assert_near(scale("heap", 1, -16, 512), 1);
	assert_near(scale("heap", 0, 16, 512), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prof_kinds_each_is_found_by_its_name),
		cmocka_unit_test(test_prof_kinds_each_shows_a_value_that_it_has),
		cmocka_unit_test(test_prof_kinds_a_view_is_recorded_as_another_kind),
		cmocka_unit_test(test_prof_kinds_an_unknown_name_counts_objects),
		cmocka_unit_test(test_prof_scale_of_ticks_is_one),
		cmocka_unit_test(test_prof_scale_of_waits_is_the_period),
		cmocka_unit_test(test_prof_scale_of_heap_is_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

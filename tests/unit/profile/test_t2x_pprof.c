/* SPDX-License-Identifier: MIT */
/* test_t2x_pprof.c - what a request below debug/pprof/ asks for. */
#include "t2test.h"

#include <string.h>

#include "profile/t2x_prof_kinds.h"
#include "profile/t2x_pprof.h"

static struct t2x_pprof got;

static enum t2x_pprof_page path(const char *text)
{
	t2x_pprof_path(&got, text);
	return got.page;
}

static void test_pprof_paths_are_those_of_go(void **state)
{
	(void)state;
	assert_int_equal(path(""), T2X_PPROF_LIST);
	assert_int_equal(path("trace"), T2X_PPROF_TRACE);
	assert_int_equal(path("cmdline"), T2X_PPROF_CMDLINE);
	assert_int_equal(path("symbol"), T2X_PPROF_SYMBOL);
	assert_int_equal(path("profile"), T2X_PPROF_PROFILE);
	assert_string_equal(got.profile, "cpu");
	assert_int_equal(path("goroutine"), T2X_PPROF_PROFILE);
	assert_string_equal(got.profile, "threads");
}

static void test_pprof_each_kind_of_the_table_has_a_page(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_PROF_KINDS; i++) {
		assert_int_equal(path(t2x_prof_kinds[i].name), T2X_PPROF_PROFILE);
		assert_true(got.is_kind);
		assert_string_equal(got.profile, t2x_prof_kinds[i].name);
	}
}

static void test_pprof_each_listed_name_is_a_page(void **state)
{
	(void)state;
	for (unsigned i = 0; t2x_pprof_names[i]; i++) {
		if (i)
			assert_true(strcmp(t2x_pprof_names[i - 1], t2x_pprof_names[i]) < 0);
		assert_true(path(t2x_pprof_names[i]) != T2X_PPROF_PROFILE || got.is_kind);
	}
}

static void test_pprof_other_names_are_no_kinds(void **state)
{
	char lengthy[2 * T2X_PPROF_NAME];

	(void)state;
	assert_int_equal(path("files"), T2X_PPROF_PROFILE);
	assert_false(got.is_kind);
	assert_string_equal(got.profile, "files");
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_int_equal(path(lengthy), T2X_PPROF_PROFILE);
	assert_string_equal(got.profile, "");
}

static void test_pprof_clocks_and_traces_have_an_end(void **state)
{
	(void)state;
	t2x_pprof_query(&got, "");
	path("profile");
	assert_int_equal(t2x_pprof_ms(&got), 30000);
	path("wall");
	assert_int_equal(t2x_pprof_ms(&got), 30000);
	path("trace");
	assert_int_equal(t2x_pprof_ms(&got), 1000);
	path("heap");
	assert_int_equal(t2x_pprof_ms(&got), 0);
	t2x_pprof_query(&got, "seconds=0.5");
	assert_int_equal(t2x_pprof_ms(&got), 500);
	path("profile");
	assert_int_equal(t2x_pprof_ms(&got), 500);
}

static void test_pprof_query_begins_anew(void **state)
{
	(void)state;
	t2x_pprof_query(&got, "seconds=5&format=chrome");
	assert_null(got.why);
	assert_true(got.is_chrome);
	t2x_pprof_query(&got, "debug=2");
	assert_int_equal(got.ms, 0);
	assert_int_equal(got.debug, 2);
	assert_false(got.is_chrome);
	t2x_pprof_query(&got, "seconds=1&debug=1");
	assert_string_equal(got.why, "seconds and debug params are incompatible");
	t2x_pprof_query(&got, "x=y");
	assert_null(got.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof_paths_are_those_of_go),
		cmocka_unit_test(test_pprof_each_kind_of_the_table_has_a_page),
		cmocka_unit_test(test_pprof_each_listed_name_is_a_page),
		cmocka_unit_test(test_pprof_other_names_are_no_kinds),
		cmocka_unit_test(test_pprof_clocks_and_traces_have_an_end),
		cmocka_unit_test(test_pprof_query_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

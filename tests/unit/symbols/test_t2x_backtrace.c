/* SPDX-License-Identifier: MIT */
/* Stacks and modules of samples as their scopes have them, and as a file from nowhere may have them. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/t2x_backtrace.h"

static struct t2x_backtrace *make(const char *stack, const char *modules)
{
	const struct t2x_scope scope = { .style = TLG_STYLE_sample, .file = modules, .format = stack };
	struct t2x_backtrace *backtrace = t2x_backtrace_new(&scope);

	assert_non_null(backtrace);
	return backtrace;
}

static void test_backtrace_addresses_are_in_their_modules(void **state)
{
	struct t2x_backtrace *backtrace = make("1234 20ff ffffffffff600000",
					       "1000-2000 1000 c0ffee /bin/a program\n2000-3000 0 - /lib/b.so");

	(void)state;
	assert_int_equal(backtrace->nmodules, 2);
	assert_int_equal(backtrace->depth, 3);
	assert_int_equal(backtrace->at[0].address, 0x1234);
	assert_ptr_equal(backtrace->at[0].module, &backtrace->modules[0]);
	assert_ptr_equal(backtrace->at[1].module, &backtrace->modules[1]);
	assert_null(backtrace->at[2].module);
	assert_int_equal(backtrace->modules[0].offset, 0x1000);
	assert_int_equal(backtrace->modules[0].limit, 0x2000);
	assert_string_equal(backtrace->modules[0].file, "/bin/a program");
	assert_string_equal(backtrace->modules[0].build_id, "c0ffee");
	assert_string_equal(backtrace->modules[1].build_id, "");
	free(backtrace);
}

static void test_backtrace_bad_text_ends_it(void **state)
{
	static const char *const bad[] = { "", " ", "x", "-1", "0x12", "12  34", "12 zz" };
	static const char *const none[] = {
		"", "\n", "1000", "1000-2000", "1000-2000 0", "1000-2000 0 id", "-2000 0 - /a", "1000-2000 0 -\n/a",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct t2x_backtrace *backtrace = make(bad[i], NULL);
		assert_true(backtrace->depth <= 1);
		assert_int_equal(backtrace->nmodules, 0);
		free(backtrace);
	}
	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct t2x_backtrace *backtrace = make("1", none[i]);
		assert_int_equal(backtrace->nmodules, 0);
		free(backtrace);
	}
	free(make(NULL, NULL));
}

static void test_backtraces_are_remembered_by_scope(void **state)
{
	static struct t2x_backtraces backtraces;
	struct t2x_scope scope = { .format = "12", .number = 7 }, unnumbered = scope, other = scope;
	const struct t2x_backtrace *first = t2x_backtraces_get(&backtraces, &scope);

	(void)state;
	unnumbered.number = 0;
	unnumbered.format = "34";
	other.number += T2X_BACKTRACES;
	other.format = "56";
	assert_ptr_equal(t2x_backtraces_get(&backtraces, &scope), first);
	assert_int_equal(t2x_backtraces_get(&backtraces, &unnumbered)->at[0].address, 0x34);
	unnumbered.format = "78";
	assert_int_equal(t2x_backtraces_get(&backtraces, &unnumbered)->at[0].address, 0x78);
	assert_int_equal(t2x_backtraces_get(&backtraces, &other)->at[0].address, 0x56);
	assert_int_equal(t2x_backtraces_get(&backtraces, &scope)->at[0].address, 0x12);
	t2x_backtraces_free(&backtraces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backtrace_addresses_are_in_their_modules),
		cmocka_unit_test(test_backtrace_bad_text_ends_it),
		cmocka_unit_test(test_backtraces_are_remembered_by_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

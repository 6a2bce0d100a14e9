/* SPDX-License-Identifier: MIT */
/* Names of addresses: from no file outside of the directory that the user has named; functions without one. */
#include "t2test.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ownmodule.h"
#include "symbols/t2x_function.h"
#include "symbols/t2x_symbols.h"

/* This program: a function of it has a name. */
static struct t2x_module module;

static int is_named(struct t2x_symbols *symbols, const struct t2x_module *from)
{
	const struct t2x_names *names = t2x_symbols_find(symbols, from, (uintptr_t)is_named);

	return names && names->n && !strcmp(names->at[names->n - 1].function, "is_named");
}

static int setup(void **state)
{
	(void)state;
	return !own_module((uintptr_t)is_named, &module);
}

/* The name that a trace gives leads to this program, from a directory that has nothing. */
static void test_symbols_of_a_file_outside_of_the_directory_are_not_found(void **state)
{
	char directory[] = "/tmp/test_t2x_symbols-XXXXXX", file[PATH_MAX];
	struct t2x_symbols_places places = { .binaries = directory };
	struct t2x_symbols *symbols = t2x_symbols_new(&places);
	struct t2x_module other = module;

	(void)state;
	if (!dlopen("libdw.so.1", RTLD_LAZY))
		skip();   /* not there for the other machines of harness_arch */
	assert_non_null(symbols);
	assert_non_null(mkdtemp(directory));
	snprintf(file, sizeof(file), "/../..%s", module.file);
	other.file = file;
	assert_false(is_named(symbols, &other));
	snprintf(file, sizeof(file), "../../../../../../../../../../../../..%s", module.file);
	assert_false(is_named(symbols, &other));
	places.binaries = "/";
	assert_true(is_named(symbols, &module));
	t2x_symbols_free(symbols);
	rmdir(directory);
}

/* No library is needed for it, and no file. */
static void test_symbols_of_a_module_without_code_are_its_name(void **state)
{
	const struct t2x_symbols_places places = { .binaries = NULL };
	const struct t2x_module other = { .start = 7, .limit = 8, .file = "[off-CPU: read]", .build_id = "" };
	struct t2x_symbols *symbols = t2x_symbols_new(&places);
	const struct t2x_names *names;

	(void)state;
	for (int i = 0; i < 2; i++) {
		names = t2x_symbols_find(symbols, &other, 7);
		assert_non_null(names);
		assert_int_equal(names->n, 1);
		assert_string_equal(names->at[0].function, "[off-CPU: read]");
	}
	t2x_symbols_free(symbols);
}

/* As of a program that is stripped: by the unwind tables alone. */
static void test_function_of_an_address_within_starts_where_it_begins(void **state)
{
	const struct t2x_symbols_places places = { .binaries = NULL };
	const struct t2x_libdw *libdw = t2x_libdw_load(0);
	struct t2x_image *image;
	Dwarf_Addr begin, start = 0;

	(void)state;
	if (!libdw)
		skip();
	image = t2x_image_open(libdw, &places, &module);
	assert_non_null(image);
	assert_true(t2x_image_address(image, &module, (uintptr_t)is_named, &begin));
	for (unsigned i = 0; i < 8; i++) {
		assert_true(t2x_function_start(image, begin + i, &start));
		assert_int_equal(start, begin);
	}
	/* in front of all code */
	assert_false(t2x_function_start(image, begin - ((uintptr_t)is_named - module.start) - 1, &start));
	t2x_image_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_of_a_module_without_code_are_its_name),
		cmocka_unit_test(test_symbols_of_a_file_outside_of_the_directory_are_not_found),
		cmocka_unit_test(test_function_of_an_address_within_starts_where_it_begins),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Names of the kernel's functions: of a text as the kernel writes it, and of the running kernel only if it is meant. */
#include "t2test.h"

#include <string.h>

#include "symbols/t2x_kernel.h"

static const char kallsyms[] =
	"ffffffff81001000 T first\n"
	"ffffffff81001040 d some_data\n"
	"ffffffff81001100 t second.part.0\n"
	"0000000000000000 A fixed_percpu_data\n"
	"ffffffffc0201000 t in_a_module\t[ext4]\n"
	"ffffffff81001200 W third\n"
	"ffffffff81001300 T\n"
	"nonsense\n"
	"ffffffff81001200 T alias_of_third\n"
	"ffffffff81001400 T not_ended";

static void expect(struct t2x_jit *jit, uint64_t address, const char *name)
{
	const char *found = t2x_jit_find(jit, address);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

static void test_kernel_functions_last_until_the_next(void **state)
{
	struct t2x_jit jit = { .n = 0 };

	(void)state;
	assert_true(t2x_kernel_parse(&jit, kallsyms, sizeof(kallsyms) - 1));
	expect(&jit, 0xffffffff81000fff, NULL);
	expect(&jit, 0xffffffff81001000, "first_[k]");
	expect(&jit, 0xffffffff810010ff, "first_[k]");
	expect(&jit, 0xffffffff81001100, "second.part.0_[k]");
	expect(&jit, 0xffffffff81001200, "alias_of_third_[k]");
	expect(&jit, 0xffffffffc0201000, "in_a_module_[k]");
	expect(&jit, 0xffffffffc0201001, NULL);     /* nobody knows how long the last one is */
	t2x_jit_free(&jit);
}

/* As it shows them to those whom it does not trust. */
static void test_kernel_addresses_that_are_zero_are_none(void **state)
{
	static const char zeros[] = "0000000000000000 T first\n0000000000000000 t second\n";
	struct t2x_jit jit = { .n = 0 };

	(void)state;
	assert_false(t2x_kernel_parse(&jit, zeros, sizeof(zeros) - 1));
	assert_false(t2x_kernel_parse(&jit, "", 0));
	t2x_jit_free(&jit);
}

static void test_kernel_of_another_start_has_no_names(void **state)
{
	struct t2x_jit jit = { .n = 0 };

	(void)state;
	assert_false(t2x_kernel_read(&jit, ""));
	assert_false(t2x_kernel_read(&jit, "0123456789abcdef0123456789abcdef"));
	assert_int_equal(jit.n, 0);
	t2x_jit_free(&jit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_functions_last_until_the_next),
		cmocka_unit_test(test_kernel_addresses_that_are_zero_are_none),
		cmocka_unit_test(test_kernel_of_another_start_has_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

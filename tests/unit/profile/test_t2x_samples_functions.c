/* SPDX-License-Identifier: MIT */
/* Profiles of samples by function: self, total, callers, the tree of calls. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "profile/t2x_samples_functions.h"

static const struct t2x_samples_selected everything = { NULL, NULL };

/* A profile of CPU time whose functions are letters, each at an address of its own. */
static struct t2x_samples *open_profile(void)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");

	assert_non_null(samples);
	return samples;
}

/* A sample of so many nanoseconds.  path: the outermost function first; small letters have no names */
static void add(struct t2x_samples *samples, const char *path, int64_t ns, const char *thread)
{
	const struct t2x_samples_label label = { .key = "thread", .text = thread };
	const struct t2x_samples_mapping file = { 0x1000, 0x2000, 0, "/usr/bin/letters", "" };
	uint32_t stack[64], mapping = t2x_samples_mapping(samples, &file);
	unsigned depth = (unsigned)strlen(path);

	for (unsigned i = 0; i < depth; i++) {
		char name[2] = { path[depth - 1 - i] };
		const struct t2x_samples_line line = { .function = name, .file = "letters.c", .start_line = name[0] };

		stack[i] = t2x_samples_location(samples, mapping, 0x1000 + (unsigned char)name[0]);
		if (name[0] < 'a')
			t2x_samples_symbolize(samples, stack[i], &line, 1);
	}
	t2x_samples_add(samples, &(struct t2x_sample){
		.stack = stack, .depth = depth, .nlabels = thread ? 1 : 0, .labels = &label,
		.count = 1, .value = ns, .period = 1,
	});
}

static struct t2x_functions make(const struct t2x_samples *samples, const struct t2x_samples_selected *selected)
{
	struct t2x_functions functions = { 0 };

	assert_int_equal(t2x_functions_make(&functions, samples, selected), 0);
	return functions;
}

static void expect(const struct t2x_functions *functions, uint32_t row, const char *name, int64_t self, int64_t total)
{
	assert_true(row < functions->n);
	assert_string_equal(functions->rows[row].name, name);
	assert_int_equal(functions->rows[row].self, self);
	assert_int_equal(functions->rows[row].total, total);
}

/* The value of a call; -1: there is none. */
static int64_t find_call(const struct t2x_functions *functions, const char *caller, const char *callee)
{
	for (uint32_t i = 0; i < functions->ncalls; i++) {
		const struct t2x_call *call = &functions->calls[i];

		if (!strcmp(functions->rows[functions->row_of[call->caller]].name, caller) &&
		    !strcmp(functions->rows[functions->row_of[call->callee]].name, callee))
			return call->value;
	}
	return -1;
}

static void test_functions_have_self_and_total_the_largest_self_first(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions;

	(void)state;
	add(samples, "MAB", 30, NULL);
	add(samples, "MB", 20, NULL);
	add(samples, "MA", 10, NULL);
	functions = make(samples, &everything);
	assert_int_equal(functions.all, 60);
	assert_int_equal(functions.n, 3);
	expect(&functions, 0, "B", 50, 50);
	expect(&functions, 1, "A", 10, 40);
	expect(&functions, 2, "M", 0, 60);
	assert_int_equal(functions.rows[0].line, 'B');
	assert_string_equal(functions.rows[0].file, "letters.c");
	t2x_functions_free(&functions);
	t2x_samples_free(samples);
}

/* A calls B calls A calls B: each is in the time once, and so is each call. */
static void test_functions_that_recur_count_once_in_their_total(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions;

	(void)state;
	add(samples, "ABAB", 8, NULL);
	functions = make(samples, &everything);
	expect(&functions, 0, "B", 8, 8);
	expect(&functions, 1, "A", 0, 8);
	assert_int_equal(find_call(&functions, "A", "B"), 8);
	assert_int_equal(find_call(&functions, "B", "A"), 8);
	assert_int_equal(functions.tree.count, 4);
	t2x_functions_free(&functions);
	t2x_samples_free(samples);
}

static void test_functions_callers_are_those_of_all_stacks_the_largest_first(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions;

	(void)state;
	add(samples, "MAC", 5, NULL);
	add(samples, "MBC", 7, NULL);
	add(samples, "BC", 1, NULL);
	functions = make(samples, &everything);
	assert_int_equal(find_call(&functions, "A", "C"), 5);
	assert_int_equal(find_call(&functions, "B", "C"), 8);
	assert_int_equal(find_call(&functions, "M", "C"), -1);
	for (uint32_t i = 1; i < functions.ncalls; i++)
		if (functions.calls[i].callee == functions.calls[i - 1].callee)
			assert_true(functions.calls[i].value <= functions.calls[i - 1].value);
	t2x_functions_free(&functions);
	t2x_samples_free(samples);
}

/* Node by node from the outermost on: with those below, and alone. */
static void test_functions_tree_has_what_each_branch_comes_to(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions;
	uint64_t self = 0;

	(void)state;
	add(samples, "MA", 1, NULL);
	add(samples, "MAB", 2, NULL);
	add(samples, "MB", 4, NULL);
	functions = make(samples, &everything);
	assert_int_equal(functions.tree.count, 4);
	for (uint32_t i = 0; i < functions.tree.count; i++) {
		const struct t2x_stack *node = &functions.tree.stacks[i];

		self += node->self_ns;
		if (!node->parent)
			assert_int_equal(node->count, 7);
		else
			assert_true(node->parent <= i);
	}
	assert_int_equal(self, 7);
	t2x_functions_free(&functions);
	t2x_samples_free(samples);
}

/* Addresses without names are one function of their file, however many they are. */
static void test_functions_without_names_are_one_of_their_file(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions;

	(void)state;
	add(samples, "Mab", 3, NULL);
	add(samples, "Mc", 4, NULL);
	add(samples, "", 5, NULL);
	functions = make(samples, &everything);
	assert_int_equal(functions.n, 3);
	expect(&functions, 0, "[letters]", 7, 7);
	expect(&functions, 1, "[unknown]", 5, 5);
	expect(&functions, 2, "M", 0, 7);
	t2x_functions_free(&functions);
	t2x_samples_free(samples);
}

static void test_functions_of_a_label_are_of_its_stacks_alone(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions;
	uint32_t n;
	char **texts;

	(void)state;
	add(samples, "MA", 1, "worker");
	add(samples, "MA", 2, "main");
	add(samples, "MB", 4, "main");
	add(samples, "MC", 8, NULL);
	texts = t2x_samples_label_texts(samples, "thread", &n);
	assert_int_equal(n, 3);
	assert_string_equal(texts[0], "");
	assert_string_equal(texts[1], "main");
	assert_string_equal(texts[2], "worker");
	functions = make(samples, &(struct t2x_samples_selected){ "thread", texts[1] });
	assert_int_equal(functions.all, 6);
	expect(&functions, 0, "B", 4, 4);
	t2x_functions_free(&functions);
	functions = make(samples, &(struct t2x_samples_selected){ "thread", texts[0] });
	assert_int_equal(functions.all, 8);
	t2x_functions_free(&functions);
	t2x_samples_free_texts(texts, n);
	t2x_samples_free(samples);
}

static void test_functions_of_no_samples_are_none(void **state)
{
	struct t2x_samples *samples = open_profile();
	struct t2x_functions functions = make(samples, &everything);

	(void)state;
	assert_int_equal(functions.n, 0);
	assert_int_equal(functions.all, 0);
	t2x_functions_free(&functions);
	t2x_samples_free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_have_self_and_total_the_largest_self_first),
		cmocka_unit_test(test_functions_that_recur_count_once_in_their_total),
		cmocka_unit_test(test_functions_callers_are_those_of_all_stacks_the_largest_first),
		cmocka_unit_test(test_functions_tree_has_what_each_branch_comes_to),
		cmocka_unit_test(test_functions_without_names_are_one_of_their_file),
		cmocka_unit_test(test_functions_of_a_label_are_of_its_stacks_alone),
		cmocka_unit_test(test_functions_of_no_samples_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

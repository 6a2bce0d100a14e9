/* SPDX-License-Identifier: MIT */
/* Sets of labels: equal ones are one, in the order of their keys; whose they are while something runs. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "trace2_prof.h"

static const struct trace2_labels *with(const struct trace2_labels *labels, const char *key, const char *value)
{
	const char *const pairs[] = { key, value, NULL };
	const struct trace2_labels *result = NULL;

	assert_int_equal(trace2_prof_labels_with(labels, pairs, &result), 0);
	return result;
}

static void test_labels_of_the_same_pairs_are_one_set(void **state)
{
	const struct trace2_labels *ab = with(with(NULL, "a", "1"), "b", "2");
	const struct trace2_labels *ba = with(with(NULL, "b", "2"), "a", "1");

	(void)state;
	assert_ptr_equal(ab, ba);
	assert_ptr_equal(with(ab, "a", "1"), ab);
	assert_ptr_equal(with(with(ab, "a", "other"), "a", "1"), ab);
	assert_string_equal(trace2_prof_label(with(ab, "a", "other"), "a"), "other");
	assert_null(trace2_prof_label(ab, "c"));
	assert_null(trace2_prof_label(NULL, "a"));
}

static void test_labels_with_a_key_alone_fail(void **state)
{
	const char *const pairs[] = { "a", "1", "b", NULL, NULL };
	const struct trace2_labels *result = with(NULL, "a", "1"), *before = result;

	(void)state;
	errno = ENOENT;
	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &result), EINVAL);
	assert_ptr_equal(result, before);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(trace2_prof_labels_with(NULL, NULL, &result), 0);
	assert_null(result);
}

static int list(const char *key, const char *value, void *data)
{
	char *to = data;

	snprintf(to + strlen(to), 32, "%s=%s ", key, value);
	return key[0] == 'b' ? 7 : 0;
}

static void test_labels_are_visited_by_key_until_it_is_enough(void **state)
{
	const struct trace2_labels *labels = with(with(with(NULL, "c", "3"), "b", "2"), "a", "1");
	char text[100] = "";

	(void)state;
	assert_int_equal(trace2_prof_each_label(labels, list, text), 7);
	assert_string_equal(text, "a=1 b=2 ");
}

/* ---- trace2_prof_do() ------------------------------------------------------------------------------ */

static void note(void *data)
{
	*(const struct trace2_labels **)data = trace2_prof_labels();
}

static void test_do_ends_with_the_labels_of_before(void **state)
{
	const struct trace2_labels *one = with(NULL, "do", "1"), *two = with(NULL, "do", "2"), *during = NULL;

	(void)state;
	trace2_prof_set_labels(one);
	trace2_prof_do(two, note, &during);
	assert_ptr_equal(during, two);
	assert_ptr_equal(trace2_prof_labels(), one);
	trace2_prof_set_labels(NULL);
}

static void leave(void *data)
{
	pthread_exit(data);
}

static void *leave_in_do(void *data)
{
	pthread_cleanup_push(note, data);
	trace2_prof_do(with(NULL, "do", "left"), leave, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

/* As an exception of C++ would. */
static void test_do_that_is_unwound_ends_with_the_labels_of_before(void **state)
{
	const struct trace2_labels *after = with(NULL, "not", "noted");
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, leave_in_do, &after), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_null(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_of_the_same_pairs_are_one_set),
		cmocka_unit_test(test_labels_with_a_key_alone_fail),
		cmocka_unit_test(test_labels_are_visited_by_key_until_it_is_enough),
		cmocka_unit_test(test_do_ends_with_the_labels_of_before),
		cmocka_unit_test(test_do_that_is_unwound_ends_with_the_labels_of_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

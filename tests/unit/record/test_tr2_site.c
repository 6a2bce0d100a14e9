/* SPDX-License-Identifier: MIT */
/* Call sites: the same pointers give the same scope, as long as they point to the same texts. */
#include "t2test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "record/tr2_site.h"
#include "ring/tr2_thread.h"
#include "ringfile.h"

static int setup(void **state)
{
	tr2_site_init();
	return ringfile_create(state) || tr2_scope_init(NULL) || tr2_thread_init(0);
}

/* What a call with these names finds. */
static const struct tr2_site *find(const char *label, const char *format, int line, struct tr2_site *room)
{
	struct tr2_scope_key key = {
		.file = "site.c", .category = "test", .label = label, .format = format, .line = line, .style = 22,
	};
	const struct tr2_site *site = tr2_site_of(&key, room);

	assert_int_equal(site->scope, tr2_scope_intern(&key));
	return site;
}

/* These are known by their lines alone, so that they have the same slots each time. */
static void test_site_few_calls_are_close_together(void **state)
{
	struct tr2_site room;

	(void)state;
	assert_int_equal(tr2_g_site_mask, TR2_SITES_FIRST - 1);
	for (int line = 10; line < 20; line++) {
		const struct tr2_site *site = find(NULL, NULL, line, &room);

		assert_in_range(site - tr2_g_sites, 0, TR2_SITES_FIRST + 2);
		assert_ptr_equal(find(NULL, NULL, line, &room), site);
	}
}

static void test_site_literals_are_remembered_as_constant(void **state)
{
	struct tr2_site room;
	const struct tr2_site *first = find("a label", NULL, 1, &room);

	(void)state;
	assert_ptr_not_equal(first, &room);
	assert_int_equal(first->state, TR2_SITE_CONSTANT);
	assert_ptr_equal(find("a label", NULL, 1, &room), first);
	assert_int_not_equal(find("a label", NULL, 2, &room)->scope, first->scope);
	assert_int_not_equal(find(NULL, NULL, 1, &room)->scope, first->scope);
}

static void test_site_buffer_with_another_text_is_another_scope(void **state)
{
	struct tr2_site room;
	char label[8] = "one";
	const struct tr2_site *one = find(label, NULL, 3, &room);
	uint32_t scope = one->scope;

	(void)state;
	assert_int_equal(one->state, TR2_SITE_COMPARED);
	assert_ptr_equal(find(label, NULL, 3, &room), one);
	strcpy(label, "two");
	assert_int_not_equal(find(label, NULL, 3, &room)->scope, scope);
	strcpy(label, "one");
	assert_int_equal(find(label, NULL, 3, &room)->scope, scope);
}

static void test_site_empty_name_is_not_a_missing_one(void **state)
{
	struct tr2_site room;
	char empty[1] = "";
	uint32_t scope = find(empty, NULL, 4, &room)->scope;

	(void)state;
	assert_int_not_equal(find(NULL, NULL, 4, &room)->scope, scope);
	assert_int_equal(find(empty, NULL, 4, &room)->scope, scope);
}

static void test_site_carries_its_parsed_format(void **state)
{
	static const uint8_t two[] = { TR2_TAKE_INT, TR2_TAKE_STRING, 0 };
	struct tr2_site room;

	(void)state;
	assert_memory_equal(find("l", "%d and %s", 5, &room)->format.take, two, sizeof(two));
	assert_int_equal(find("l", "%n", 5, &room)->format.take[0], TR2_FORMAT_NOT_DEFERRED);
	assert_int_equal(find("l", NULL, 5, &room)->format.take[0], 0);
}

/* More call sites than can be remembered, twice: each finds its scope. */
static void test_site_more_than_there_is_room_for_are_found_all_the_same(void **state)
{
	static char labels[2 * TR2_SITES][12];
	static uint32_t scopes[2 * TR2_SITES];
	struct tr2_site room;

	(void)state;
	for (int i = 0; i < 2 * TR2_SITES; i++) {
		snprintf(labels[i], sizeof(labels[i]), "label %d", i);
		scopes[i] = find(labels[i], NULL, 6, &room)->scope;
	}
	for (int i = 0; i < 2 * TR2_SITES; i++)
		assert_int_equal(find(labels[i], NULL, 6, &room)->scope, scopes[i]);
	assert_int_equal(tr2_g_site_mask, TR2_SITES - 1);
}

static void *find_many(void *data)
{
	long wrong = 0;

	for (int round = 0; round < 20000; round++) {
		struct tr2_scope_key key = { .label = "shared", .line = 100 + round % 500, .style = 22 };
		struct tr2_site room;
		wrong += tr2_site_of(&key, &room)->scope != tr2_scope_intern(&key);
	}
	*(long *)data = wrong;
	return NULL;
}

static void test_site_threads_at_once_find_the_same(void **state)
{
	pthread_t threads[4];
	long wrong[4] = { 1, 1, 1, 1 };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_many, &wrong[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(wrong[i], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site_few_calls_are_close_together),   /* first: literals lie anywhere */
		cmocka_unit_test(test_site_literals_are_remembered_as_constant),
		cmocka_unit_test(test_site_buffer_with_another_text_is_another_scope),
		cmocka_unit_test(test_site_empty_name_is_not_a_missing_one),
		cmocka_unit_test(test_site_carries_its_parsed_format),
		cmocka_unit_test(test_site_threads_at_once_find_the_same),
		cmocka_unit_test(test_site_more_than_there_is_room_for_are_found_all_the_same),
	};

	return cmocka_run_group_tests(tests, setup, ringfile_remove);
}

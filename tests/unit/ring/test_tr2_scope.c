/* SPDX-License-Identifier: MIT */
/* The scope table: identity by content, append-only, from many threads at once. */
#include "t2test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ring/tr2_scope.h"
#include "ringfile.h"

static int create(void **state)
{
	return ringfile_create(state) || tr2_scope_init(NULL);
}

static struct tr2_scope_key key(const char *category, const char *label)
{
	return (struct tr2_scope_key){ .file = "a.c", .line = 7, .style = 22, .category = category, .label = label };
}

static void test_scope_same_content_same_index(void **state)
{
	char copy[] = "label";
	struct tr2_scope_key first = key("cat", "label"), second = key("cat", copy);
	uint32_t i = tr2_scope_intern(&first);

	(void)state;
	assert_int_not_equal(i, 0);
	assert_int_equal(tr2_scope_intern(&second), i);
}

static void test_scope_every_part_makes_another(void **state)
{
	struct tr2_scope_key keys[9];
	uint32_t index[9];

	(void)state;
	for (int i = 0; i < 9; i++)
		keys[i] = key("c", "l");
	keys[1].category = "d";
	keys[2].label = "m";
	keys[3].format = "";
	keys[4].line = 8;
	keys[5].repo = 1;
	keys[6].style = 23;
	keys[7].file = "b.c";
	keys[8].file = NULL;
	for (int i = 0; i < 9; i++) {
		index[i] = tr2_scope_intern(&keys[i]);
		assert_int_not_equal(index[i], 0);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(index[i], index[k]);
	}
}

static void test_scope_null_is_not_empty_and_texts_do_not_run_together(void **state)
{
	struct tr2_scope_key keys[] = { key(NULL, "ab"), key("", "ab"), key("a", "b"), key("ab", NULL), key("ab", "") };
	const int n = sizeof(keys) / sizeof(keys[0]);

	(void)state;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(tr2_scope_intern(&keys[i]), tr2_scope_intern(&keys[k]));
}

static void test_scope_content_can_be_read_back(void **state)
{
	struct tr2_scope_key k = {
		.file = "dir/x.c", .line = -5, .style = 7, .repo = 3, .label = "lab", .format = "%s"
	};
	const struct tlg_ring_scope *scope = tr2_scope_get(tr2_scope_intern(&k));

	(void)state;
	assert_non_null(scope);
	assert_int_equal(scope->line, -5);
	assert_int_equal(scope->repo, 3);
	assert_int_equal(scope->style, 7);
	assert_int_equal(scope->names, TLG_NAME_LABEL | TLG_NAME_FORMAT);
	assert_string_equal(tr2_scope_file(scope->filenum), "dir/x.c");
	assert_memory_equal(tr2_shm_text(scope->text), "lab\0%s", 7);
}

/* The first entries lie elsewhere in the file than the others. */
static void test_scope_first_and_later_entries_can_be_read_back(void **state)
{
	enum { COUNT = 400 };
	uint32_t index[COUNT];
	char label[COUNT][80], file[COUNT][16];
	struct tr2_scope_key some;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		snprintf(label[i], sizeof(label[i]), "%0*d", 1 + i % 70, i);
		snprintf(file[i], sizeof(file[i]), "f%d.c", i % 50);
		some = key("first", label[i]);
		some.file = file[i];
		index[i] = tr2_scope_intern(&some);
		assert_int_not_equal(index[i], 0);
	}
	for (int i = 0; i < COUNT; i++) {
		const struct tlg_ring_scope *scope = tr2_scope_get(index[i]);
		assert_non_null(scope);
		assert_string_equal(tr2_shm_text(scope->text), "first");
		assert_string_equal(tr2_shm_text(scope->text) + 6, label[i]);
		assert_string_equal(tr2_scope_file(scope->filenum), file[i]);
		some = key("first", label[i]);
		some.file = file[i];
		assert_int_equal(tr2_scope_intern(&some), index[i]);
	}
}

static void test_scope_name_beyond_limit_is_refused(void **state)
{
	char name[TLG_NAME_MAX + 2];
	struct tr2_scope_key k = key("c", name);

	(void)state;
	memset(name, 'x', sizeof(name));
	name[TLG_NAME_MAX - 1] = '\0';
	assert_int_not_equal(tr2_scope_intern(&k), 0);
	name[TLG_NAME_MAX - 1] = 'x';
	name[TLG_NAME_MAX] = '\0';
	assert_int_equal(tr2_scope_intern(&k), 0);
}

static void test_scope_unknown_index_is_null(void **state)
{
	(void)state;
	assert_null(tr2_scope_get(0));
	assert_null(tr2_scope_get(TLG_MAX_SCOPES));
	assert_null(tr2_scope_get(TLG_MAX_SCOPES - 1));
}

enum { THREADS = 4, NAMES = 2000 };

static void *intern_all(void *data)
{
	uint32_t *index = data;

	for (int i = 0; i < NAMES; i++) {
		char label[32];
		struct tr2_scope_key k = key("threads", label);
		snprintf(label, sizeof(label), "label %d", i);
		index[i] = tr2_scope_intern(&k);
	}
	return NULL;
}

static void test_scope_threads_at_once_agree(void **state)
{
	static uint32_t index[THREADS][NAMES];
	pthread_t threads[THREADS];

	(void)state;
	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, intern_all, index[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int i = 0; i < NAMES; i++) {
		assert_int_not_equal(index[0][i], 0);
		for (int t = 1; t < THREADS; t++)
			assert_int_equal(index[t][i], index[0][i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope_same_content_same_index),
		cmocka_unit_test(test_scope_every_part_makes_another),
		cmocka_unit_test(test_scope_null_is_not_empty_and_texts_do_not_run_together),
		cmocka_unit_test(test_scope_content_can_be_read_back),
		cmocka_unit_test(test_scope_first_and_later_entries_can_be_read_back),
		cmocka_unit_test(test_scope_name_beyond_limit_is_refused),
		cmocka_unit_test(test_scope_unknown_index_is_null),
		cmocka_unit_test(test_scope_threads_at_once_agree),
	};

	return cmocka_run_group_tests(tests, create, ringfile_remove);
}

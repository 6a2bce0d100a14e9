/* SPDX-License-Identifier: MIT */
/* What a page is made of: deflated bytes, sites, chunks of events; tests/page reads whole pages. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile/t2x_deflate.h"
#include "export/t2x_html_data.h"

/* What was written. */
struct kept {
	char *text;
	size_t length;
};

static int keep(void *target, const char *text, size_t n)
{
	struct kept *kept = target;

	kept->text = realloc(kept->text, kept->length + n + 1);
	assert_non_null(kept->text);
	memcpy(kept->text + kept->length, text, n);
	kept->length += n;
	kept->text[kept->length] = '\0';
	return 0;
}

static unsigned count_blocks(const struct kept *kept, const char *kind)
{
	char begin[40];
	unsigned n = 0;

	snprintf(begin, sizeof(begin), "<script type=\"t2/%s\">", kind);
	for (const char *at = kept->text; (at = strstr(at, begin)); at += strlen(begin))
		n++;
	return n;
}

/* ---- deflate ------------------------------------------------------------------------------------ */

/* bits  as inflateInit2 wants them */
static void expect_inflated(const struct kept *kept, int bits, const void *bytes, size_t n)
{
	unsigned char *got = calloc(1, n + 1);
	z_stream stream = {
		.next_in = (unsigned char *)kept->text, .avail_in = (unsigned)kept->length,
		.next_out = got, .avail_out = (unsigned)n + 1,
	};

	assert_int_equal(inflateInit2(&stream, bits), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, n);
	assert_int_equal(stream.avail_in, 0);
	assert_memory_equal(got, bytes, n);
	inflateEnd(&stream);
	free(got);
}

static void test_deflate_each_form_is_inflated_to_the_same(void **state)
{
	static const int bits[] = { [T2X_DEFLATE_ZLIB] = 15, [T2X_DEFLATE_GZIP] = 15 + 16 };
	static unsigned char bytes[300000];
	unsigned word = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)((word = word * 1103515245 + 12345) >> 16);
	for (int form = T2X_DEFLATE_ZLIB; form <= T2X_DEFLATE_GZIP; form++) {
		struct kept kept = { 0 };
		struct t2x_deflate *deflate = t2x_deflate_new((enum t2x_deflate_form)form, 1, keep, &kept);

		assert_non_null(deflate);
		t2x_deflate_put(deflate, bytes, 1000);
		t2x_deflate_put(deflate, bytes + 1000, sizeof(bytes) - 1000);
		t2x_deflate_end(deflate);
		expect_inflated(&kept, bits[form], bytes, sizeof(bytes));
		t2x_deflate_free(deflate);
		free(kept.text);
	}
}

static void test_deflate_after_its_end_begins_anew(void **state)
{
	struct kept kept = { 0 };
	struct t2x_deflate *deflate = t2x_deflate_new(T2X_DEFLATE_ZLIB, 6, keep, &kept);

	(void)state;
	t2x_deflate_put(deflate, "first", 5);
	t2x_deflate_end(deflate);
	kept.length = 0;
	t2x_deflate_put(deflate, "second", 6);
	t2x_deflate_end(deflate);
	expect_inflated(&kept, 15, "second", 6);
	t2x_deflate_free(deflate);
	free(kept.text);
}

/* ---- sites -------------------------------------------------------------------------------------- */

static void test_sites_scopes_that_say_the_same_are_one(void **state)
{
	static const char kind[] = "region_enter", other[] = "data";
	struct t2x_html_sites *sites = calloc(1, sizeof(*sites));
	struct t2x_scope scope = { .category = "a", .label = "b", .file = "c.c", .line = 5, .number = 1 };
	struct t2x_scope again = { .category = "a", .label = "b", .file = "c.c", .line = 5, .number = 2 };

	(void)state;
	assert_int_equal(t2x_html_site(sites, kind, &scope), 0);
	assert_int_equal(t2x_html_site(sites, kind, &scope), 0);
	assert_int_equal(t2x_html_site(sites, kind, &again), 0);
	assert_int_equal(t2x_html_site(sites, other, &again), 1);
	again.line = 6;
	again.number = 3;
	assert_int_equal(t2x_html_site(sites, kind, &again), 2);
	assert_int_equal(t2x_html_site(sites, kind, NULL), 3);
	t2x_html_sites_free(sites);
	free(sites);
}

static void test_sites_beyond_the_limit_are_one_for_each_kind(void **state)
{
	static const char kind[] = "region_enter";
	struct t2x_html_sites *sites = calloc(1, sizeof(*sites));
	char label[20];
	struct t2x_scope scope = { .category = "a", .label = label };

	(void)state;
	for (unsigned i = 0; i < T2X_HTML_SITES; i++) {
		snprintf(label, sizeof(label), "%u", i);
		assert_int_equal(t2x_html_site(sites, kind, &scope), i);
	}
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(label, sizeof(label), "more %u", i);
		assert_int_equal(t2x_html_site(sites, kind, &scope), T2X_HTML_SITES);
	}
	snprintf(label, sizeof(label), "7");
	assert_int_equal(t2x_html_site(sites, kind, &scope), 7);
	t2x_html_sites_free(sites);
	free(sites);
}

static void test_sites_beyond_the_memory_of_names_are_one_for_each_kind(void **state)
{
	static const char kind[] = "region_enter";
	const size_t others = T2X_HTML_NAME_BYTES - 1024 * 1024;
	struct t2x_html_sites *sites = calloc(1, sizeof(*sites));
	char label[20];
	struct t2x_scope scope = { .category = "a", .label = label };
	int64_t last = 0;

	(void)state;
	sites->others = &others;
	for (unsigned i = 0; i < T2X_HTML_SITES; i++) {
		snprintf(label, sizeof(label), "%u", i);
		last = t2x_html_site(sites, kind, &scope);
	}
	assert_in_range(sites->count, 4096, 1024 * 1024 / sizeof(struct t2x_html_site));
	assert_in_range(sites->held, 1024 * 1024, 1025 * 1024);
	assert_int_equal(last, sites->count - 1);
	assert_string_equal(sites->sites[last]->label, "(one of too many names)");
	t2x_html_sites_free(sites);
	free(sites);
}

/* ---- stacks ------------------------------------------------------------------------------------- */

/* The number of a stack of n functions, the innermost first. */
static int64_t find_stack(struct t2x_html_stacks *stacks, uint64_t scope, unsigned n, const char *const *functions)
{
	struct t2x_stack_names *names = calloc(1, sizeof(*names) + n * sizeof(names->at[0]));
	struct t2x_scope of = { .category = "cpu", .number = scope };
	int64_t stack;

	names->n = n;
	for (unsigned i = 0; i < n; i++)
		names->at[i] = functions[i];
	stack = t2x_html_stack(stacks, &of, names);
	free(names);
	return stack;
}

static void test_stacks_outer_functions_are_shared(void **state)
{
	struct t2x_html_stacks *stacks = calloc(1, sizeof(*stacks));
	const char *const deep[] = { "hash", "work", "main" }, *const other[] = { "open \"x\"", "work", "main" };
	struct t2x_scope unknown = { .category = "cpu", .number = 9 };
	struct kept kept = { 0 };
	struct t2x_out out;

	(void)state;
	assert_int_equal(find_stack(stacks, 1, 3, deep), 3);
	assert_int_equal(find_stack(stacks, 2, 3, other), 4);
	assert_int_equal(find_stack(stacks, 3, 3, deep), 3);
	assert_int_equal(find_stack(stacks, 4, 2, deep + 1), 2);
	assert_int_equal(t2x_html_stack(stacks, &unknown, NULL), 0);
	assert_int_equal(t2x_out_init_fn(&out, keep, &kept), 0);
	t2x_html_stacks_print_functions(stacks, &out);
	t2x_html_stacks_print(stacks, &out);
	t2x_out_flush(&out);
	assert_string_equal(kept.text, "[\"main\",\"work\",\"hash\",\"open \\\"x\\\"\"][0,1,1,2,2,3,2,4]");
	t2x_out_free(&out);
	free(kept.text);
	t2x_html_stacks_free(stacks);
	free(stacks);
}

static void test_stacks_of_too_many_functions_are_one(void **state)
{
	struct t2x_html_stacks *stacks = calloc(1, sizeof(*stacks));
	char name[20];
	const char *const names[] = { name };
	int64_t first = 0;

	(void)state;
	for (unsigned i = 0; i < T2X_HTML_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(find_stack(stacks, 1 + i, 1, names), 1 + i);
	}
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "more %u", i);
		first = i ? first : find_stack(stacks, 0, 1, names);
		assert_int_equal(find_stack(stacks, 0, 1, names), first);
	}
	assert_int_equal(stacks->functions.count, T2X_HTML_FUNCTIONS + 1);
	t2x_html_stacks_free(stacks);
	free(stacks);
}

/* ---- chunks ------------------------------------------------------------------------------------- */

static void test_html_data_take_the_memory_of_a_chunk(void **state)
{
	struct t2x_process process = { .pid = 1, .stream = 1, .number = 1, .sid = (char *)"sid" };
	struct t2x_thread thread = { .process = &process, .name = "main", .number = 2 };
	struct t2x_html_data *data = calloc(1, sizeof(*data));
	struct kept kept = { 0 };
	struct t2x_out out;
	size_t most = 0;

	(void)state;
	assert_int_equal(t2x_out_init_fn(&out, keep, &kept), 0);
	data->block = t2x_html_block_new(&out);
	for (unsigned i = 0; i < 3000000; i++) {
		struct t2x_html_thread *to = t2x_html_thread(data, &thread, 1000 * (uint64_t)i);

		t2x_html_event(data, to, 1000 * (uint64_t)i, T2X_HTML_FIRST_SITE, NULL, 0);
		most = data->bytes > most ? data->bytes : most;
	}
	t2x_html_finish(data);
	t2x_out_flush(&out);
	assert_in_range(most, 1, 8 * 1024 * 1024);
	assert_in_range(count_blocks(&kept, "chunk"), 2, 10);
	assert_int_equal(count_blocks(&kept, "facts"), 1);
	assert_int_equal(data->error, 0);
	t2x_html_free(data);
	t2x_out_free(&out);
	free(kept.text);
	free(data);
}

static void test_html_data_of_too_many_threads_are_left_out(void **state)
{
	struct t2x_process process = { .pid = 1, .stream = 1, .number = 1, .sid = (char *)"sid" };
	struct t2x_html_data *data = calloc(1, sizeof(*data));
	struct kept kept = { 0 };
	struct t2x_out out;

	(void)state;
	assert_int_equal(t2x_out_init_fn(&out, keep, &kept), 0);
	data->block = t2x_html_block_new(&out);
	for (unsigned i = 0; i < T2X_HTML_THREADS + 10; i++) {
		struct t2x_thread thread = { .process = &process, .tid = i, .name = "many", .number = 2 + i };
		struct t2x_html_thread *to = t2x_html_thread(data, &thread, 1000);

		assert_int_equal(to != NULL, i < T2X_HTML_THREADS);
		if (to)
			t2x_html_event(data, to, 1000, T2X_HTML_FIRST_SITE, "text", 4);
		/* with the names, about what names and the smallest chunk may have */
		assert_in_range(data->bytes, 0, 6 * 1024 * 1024 + 2048);
		if (data->bytes > 1024 * 1024)
			assert_in_range(data->bytes + data->held, 0, T2X_HTML_NAME_BYTES + 1024 * 1024 + 2048);
	}
	assert_int_equal(data->left_out, 10);
	t2x_html_finish(data);
	t2x_html_free(data);
	t2x_out_free(&out);
	free(kept.text);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deflate_each_form_is_inflated_to_the_same),
		cmocka_unit_test(test_deflate_after_its_end_begins_anew),
		cmocka_unit_test(test_sites_scopes_that_say_the_same_are_one),
		cmocka_unit_test(test_sites_beyond_the_limit_are_one_for_each_kind),
		cmocka_unit_test(test_sites_beyond_the_memory_of_names_are_one_for_each_kind),
		cmocka_unit_test(test_stacks_outer_functions_are_shared),
		cmocka_unit_test(test_stacks_of_too_many_functions_are_one),
		cmocka_unit_test(test_html_data_take_the_memory_of_a_chunk),
		cmocka_unit_test(test_html_data_of_too_many_threads_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

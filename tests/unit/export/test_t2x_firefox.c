/* SPDX-License-Identifier: MIT */
/* The firefox format: markers, samples of stacks, what they say when events are missing, counters, names. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>

#include "export/t2x_firefox_rows.h"
#include "feed.h"
#include "text/t2x_formats.h"

static struct t2x_scope *enter, *leave;

static void open_firefox(struct feed *f)
{
	feed_open(f, &t2x_writer_firefox, 0, 0);
	enter = feed_scope(f, TLG_STYLE_region_enter, "cat", "lab", NULL);
	leave = feed_scope(f, TLG_STYLE_region_leave, "cat", "lab", NULL);
	enter->names = leave->names = 1;
}

/* End the feed; these parts, up to a NULL, are in what was printed, in this order. */
static void expect_parts(struct feed *f, const char *const *parts)
{
	char *text = feed_finish(f), *at = text;

	for (; *parts; parts++) {
		char *found = strstr(at, *parts);

		if (!found)
			print_error("there is no \"%s\" in:\n%s", *parts, at);
		assert_non_null(found);
		at = found + strlen(*parts);
	}
	free(text);
}
#define expect(f, ...) expect_parts((f), (const char *const[]){ __VA_ARGS__, NULL })

static void test_firefox_region_is_a_marker_and_a_sample_with_nanoseconds(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "other", "a\"\xff\xe2\x82\xac", "of %d"), 20, "i", 5);
	feed_hit(&f, leave, 30, "");
	feed_hit(&f, leave, 40, "");
	expect(&f, "{\"meta\":{\"interval\":1,\"startTime\":1795230403000,\"product\":\"trace2\","
		   "\"preprocessedProfileVersion\":63,",
	       "{\"name\":\"cat\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},\n"
	       "{\"name\":\"other\",\"color\":\"orange\",",
	       "{\"name\":\"main\",\"processName\":\"\",\"isMainThread\":true,\"pid\":\"7\",\"tid\":\"7:0\",",
	       "\"processStartupTime\":0.000000,\"processShutdownTime\":null,\"registerTime\":0.000000,"
	       "\"unregisterTime\":null,\n",
	       "\"stack\":[null,0,1,0,null],\n\"time\":[0.000000,0.010999,0.020999,0.030999,0.040999],\n"
	       "\"weight\":[0.010999,0.010000,0.010000,0.010000,0.000000],\n\"length\":5},\n",
	       "\"data\":[{\"type\":\"region\",\"text\":\"of 5\"},{\"type\":\"region\"}],\n\"name\":[2,1],\n"
	       "\"category\":[3,2],\n\"phase\":[1,1],\n\"startTime\":[0.020999,0.010999],\n"
	       "\"endTime\":[0.030999,0.040999],\n\"length\":2}",
	       "\"stackTable\":{\"frame\":[1,2],\n\"prefix\":[null,0],\n\"length\":2}",
	       "\"frameTable\":{\"func\":[0,1,2],\n\"category\":[1,2,3],\n\"line\":[null,1,3],\n",
	       "\"funcTable\":{\"name\":[0,1,2],\n\"source\":[null,0,0],\n",
	       "\"filename\":[3],\n",
	       "\"stringArray\":[\"events lost\",\"lab\",\"a\\\"\\ufffd\xe2\x82\xac\",\"m.c\"]}}\n");
}

static void test_firefox_long_sample_is_repeated_at_its_end_without_weight(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, leave, 5010, "");
	expect(&f, "\"stack\":[null,0,0,null],\n\"time\":[0.000000,0.010999,5.009999,5.010999],\n"
		   "\"weight\":[0.010999,5.000000,0.000000,0.000000],\n\"length\":4},\n");
}

static void test_firefox_region_without_leave_ends_where_it_ended(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, enter, 10, "");
	feed(&f, atexit, 20, "i", 3);
	expect(&f, "\"processShutdownTime\":0.020999,",
	       "\"stack\":[null,0,null],\n\"time\":[0.000000,0.010999,0.020999],\n",
	       "\"data\":[{\"type\":\"region\",\"end\":\"the thread or process ended\"},"
	       "{\"type\":\"event\",\"text\":\"code:3\"}],\n",
	       "\"phase\":[1,0],\n\"startTime\":[0.010999,0.020999],\n\"endTime\":[0.020999,null],\n",
	       "\"stringArray\":[\"events lost\",\"lab\",\"atexit\",");
}

static void test_firefox_region_open_at_the_end_is_a_start(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, enter, 10, "");
	feed(&f, printf, 30, "");
	expect(&f, "\"stack\":[null,0,null],\n\"time\":[0.000000,0.010999,0.030999],\n",
	       "{\"type\":\"region\",\"end\":\"none: it was open at the end of the trace\"}],\n",
	       "\"phase\":[0,2],\n\"startTime\":[0.030999,0.010999],\n\"endTime\":[null,null],\n");
}

static void test_firefox_gap_is_a_marker_and_a_frame_and_regions_in_it_are_marked(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, enter, 10, "");
	feed_gap(&f, 50, (struct t2x_gap){ .events = 7 });
	feed_hit(&f, leave, 60, "");
	feed_hit(&f, leave, 70, "");
	expect(&f, "\"label\":\"Events lost\",\"format\":\"integer\",\"value\":7}",
	       "\"time\":[0.000000,0.010999,0.010999,0.050000,0.060999],\n",
	       "\"data\":[{\"type\":\"lost\",\"value\":7},"
	       "{\"type\":\"region\",\"end\":\"not sure: events are missing in it\"},"
	       "{\"type\":\"lost\",\"value\":1},{\"type\":\"region\",\"end\":\"left here; its start is missing\"}],\n",
	       "\"category\":[1,2,3,2],\n\"phase\":[1,1,0,0],\n",
	       "\"startTime\":[0.010999,0.010999,0.070999,0.070999],\n\"endTime\":[0.050000,0.060999,null,null],\n",
	       "\"stackTable\":{\"frame\":[1,0],\n\"prefix\":[null,0],\n",
	       "\"stringArray\":[\"events lost\",\"lab\",\"lost-enters\",\"m.c\"]}}\n");
}

static void test_firefox_numbers_are_counters_and_markers_texts_markers(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data_intmax, "cat", "n", NULL), 10, "i", -5);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_counter, "cat", "c", NULL), 20, "u", UINT64_MAX);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "cat", "key", NULL), 30, "s", "va\"l");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "hello %s"), 40, "s", "world");
	feed_hit(&f, NULL, 50, "");
	feed_hit(&f, &f.scope[2], 60, "i", 3);
	expect(&f, "\"data\":[{\"type\":\"data\",\"value\":-5},{\"type\":\"counter\",\"value\":18446744073709551615},"
		   "{\"type\":\"data\",\"text\":\"va\\\"l\"},{\"type\":\"event\",\"text\":\"hello world\"},"
		   "{\"type\":\"event\",\"value\":99},{\"type\":\"data\",\"value\":3}],\n",
	       "\"name\":[1,2,3,4,5,1],\n\"category\":[2,2,2,0,0,2],\n",
	       "{\"name\":\"n\",\"category\":\"cat\",\"description\":\"\",\"pid\":\"7\",\"mainThreadIndex\":0,",
	       "\"time\":[0.000000,0.010999,0.060999],\n\"count\":[0,-5,8],\n\"length\":3}},\n",
	       "{\"name\":\"c\",",
	       "\"stringArray\":[\"events lost\",\"n\",\"c\",\"key\",\"printf\",\"unresolved\",\"m.c\"]}}\n");
}

static void test_firefox_counter_beyond_signed_numbers_is_their_largest(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_counter, "cat", "n", NULL), 10, "u", UINT64_MAX);
	feed_hit(&f, &f.scope[2], 20, "u", UINT64_C(5));
	expect(&f, "\"count\":[0,9223372036854775807,-9223372036854775802],\n");
}

static void test_firefox_thread_that_exits_has_its_times(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, leave, 20, "");
	f.current = 1;
	feed(&f, thread_start, 1000, "");
	feed_hit(&f, enter, 1005, "");
	feed(&f, thread_exit, 1010, "");
	expect(&f, "{\"name\":\"main\",",
	       "{\"name\":\"th01:worker\",\"processName\":\"\",\"isMainThread\":false,\"pid\":\"7\",\"tid\":\"7:1\",",
	       "\"registerTime\":1.000000,\"unregisterTime\":1.010999,\n",
	       "\"stack\":[null,0,null],\n\"time\":[1.000000,1.005999,1.010999],\n",
	       "\"data\":[{\"type\":\"region\",\"end\":\"the thread or process ended\"}],\n");
}

static void test_firefox_process_has_the_name_of_its_command(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed(&f, start, 10, "ss", "/usr/bin/pro\"gram", "x");
	expect(&f, "\"product\":\"pro\\\"gram\",", "\"processName\":\"pro\\\"gram\",",
	       "{\"type\":\"event\",\"text\":\"'/usr/bin/pro\\\"gram' x\"}");
}

static void test_firefox_forked_process_has_the_name_of_its_parent(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	f.process.start_ticks = 700;
	f.process.sid = "a";
	feed(&f, start, 10, "s", "/usr/bin/daemon");
	f.process.sid = "a/b";
	f.process.pid = f.process.stream = 8;
	f.process.number = f.thread[0].number = 80;
	feed(&f, step, 20, "");
	expect(&f, "\"product\":\"daemon\",", "\"processName\":\"daemon\",", "\"processName\":\"daemon [fork]\",",
	       "\"pid\":\"8\",");
}

/* Each profile is a thread, in the order of the table of kinds; a sample weighs what it stands for. */
static void test_firefox_samples_of_each_profile_are_a_thread(void **state)
{
	static const struct { const char *profile; int count, value, period; } samples[] = {
		{ "own", 2, 0, 1 }, { "wall", 1, 5000000, 10000000 }, { "heap", 1, 524288, 524288 },
		{ "mutex", 1, 1000, 10 }, { "block", 1, 2000, 1 }, { "cpu", 1, 10000000, 10000000 },
		{ "heap", -1, -524288, 524288 }, { "own", -1, 0, 1 }, { "wall", 1, 1000000, 10000000 },
	};
	struct feed f;

	(void)state;
	open_firefox(&f);
	for (unsigned i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		feed_hit(&f, feed_scope(&f, TLG_STYLE_sample, samples[i].profile, NULL, NULL), 10 + i, "iii",
			 samples[i].count, samples[i].value, samples[i].period);
	expect(&f, "{\"name\":\"main\",", "\"tid\":\"7:0\"",
	       "{\"name\":\"main: CPU\",", "\"isMainThread\":false,", "\"tid\":\"7:0:cpu\"",
	       "\"samples\":{\"weightType\":\"tracing-ms\",\n\"stack\":[null],\n",
	       "\"weight\":[10.000000],\n\"length\":1},",
	       "{\"name\":\"main: Wall clock\",", "\"tid\":\"7:0:wall\"", "\"time\":[0.011999,0.018999],\n",
	       "\"weight\":[5.000000,1.000000],\n",
	       "{\"name\":\"main: Heap\",", "\"length\":0},\n\"nativeAllocations\":{\"weightType\":\"bytes\",\n",
	       "\"weight\":[829411,-829411],\n\"length\":2},",
	       "{\"name\":\"main: Blocked\",", "\"weight\":[0.002000],\n",
	       "{\"name\":\"main: Mutex\",", "\"weight\":[0.010000],\n",
	       "{\"name\":\"main: own\",", "\"samples\":{\"weightType\":\"samples\",\n", "\"weight\":[2,-1],\n");
}

/* A program may have any number of profiles; the samples of the others are markers. */
static void test_firefox_profiles_of_a_thread_are_bounded(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	open_firefox(&f);
	for (unsigned i = 0; i < 20; i++) {
		char profile[2] = { (char)('a' + i), '\0' };

		feed_hit(&f, feed_scope(&f, TLG_STYLE_sample, profile, NULL, NULL), 10 + i, "iii", 1, 0, 1);
	}
	text = feed_finish(&f);
	assert_non_null(strstr(text, "{\"name\":\"main: p\","));
	assert_null(strstr(text, "{\"name\":\"main: q\","));
	assert_non_null(strstr(text, "{\"type\":\"event\",\"text\":\"count:1 value:0"));
	free(text);
}

static void test_firefox_child_is_an_interval_that_ends_with_it(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_commands(&f);
	expect(&f, "{\"type\":\"child\",\"text\":\"[ch", "argv:", "{\"type\":\"child\",\"text\":\"[ch", "code:");
}

static void test_firefox_every_kind_is_printed(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	feed_regions(&f);
	expect(&f, "\"type\":\"timer\"", "\"shared\":{", "\"stringArray\":[");
}

static void test_firefox_empty_trace_is_a_profile(void **state)
{
	struct feed f;

	(void)state;
	open_firefox(&f);
	expect(&f, "\"startTime\":0,", "\"threads\":[],\n\"counters\":[],\n\"shared\":{",
	       "\"stringArray\":[\"events lost\"]}}\n");
}

static void test_firefox_long_text_is_cut(void **state)
{
	struct t2x_firefox_rows rows = { .count = 0 };
	struct t2x_firefox_cursor cursor;
	struct t2x_firefox_marker got;
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text));
	t2x_firefox_put_marker(&rows, &(struct t2x_firefox_marker){ .name = 1, .text = text, .length = sizeof(text) });
	cursor = t2x_firefox_first(&rows);
	assert_true(t2x_firefox_next_marker(&cursor, &got));
	assert_int_equal(got.length, 4096);
	assert_false(t2x_firefox_next_marker(&cursor, &got));
	t2x_firefox_rows_free(&rows);
}

/* Readers have a byte for it. */
static void test_firefox_categories_beyond_255_are_other(void **state)
{
	struct feed f;
	char name[16];

	(void)state;
	open_firefox(&f);
	for (unsigned i = 0; i < 260; i++) {
		struct t2x_scope scope = *enter;
		snprintf(name, sizeof(name), "c%u", i);
		scope.category = name;
		scope.number = 0;
		feed_hit(&f, &scope, 10 + i, "");
	}
	expect(&f, "{\"name\":\"c252\",", "\"subcategories\":[\"Other\"]}],\n\"markerSchema\"",
	       "254,0,0,\n0,0,0,0,0],\n\"line\"");
}

static void test_firefox_rows_are_read_as_they_were_put(void **state)
{
	const struct t2x_firefox_marker put[] = {
		{ .schema = T2X_FIREFOX_REGION, .phase = T2X_FIREFOX_INTERVAL, .name = 1, .start_ns = 5, .end_ns = 900,
		  .end = 4, .text = "", .length = 0 },
		{ .schema = T2X_FIREFOX_EVENT, .name = UINT32_MAX, .start_ns = UINT64_MAX, .end_ns = UINT64_MAX,
		  .has_value = 1, .is_unsigned = 1, .value = INT64_MIN, .text = "abc", .length = 3 },
		{ .schema = T2X_FIREFOX_CHILD, .phase = T2X_FIREFOX_START, .name = 300, .start_ns = 7, .end_ns = 3 },
	};
	struct t2x_firefox_rows rows = { .count = 0 };
	struct t2x_firefox_cursor cursor;
	struct t2x_firefox_marker got;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		t2x_firefox_put_marker(&rows, &put[i]);
	assert_int_equal(rows.count, 3);
	cursor = t2x_firefox_first(&rows);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(t2x_firefox_next_marker(&cursor, &got));
		assert_int_equal(got.schema, put[i].schema);
		assert_int_equal(got.phase, put[i].phase);
		assert_int_equal(got.name, put[i].name);
		assert_true(got.start_ns == put[i].start_ns && got.end_ns == put[i].end_ns);
		assert_int_equal(got.end, put[i].end);
		assert_true(got.has_value == put[i].has_value && got.is_unsigned == put[i].is_unsigned);
		assert_true(got.value == put[i].value);
		assert_int_equal(got.length, put[i].length);
		assert_int_equal(got.text != NULL, put[i].text != NULL);
	}
	assert_false(t2x_firefox_next_marker(&cursor, &got));
	t2x_firefox_rows_free(&rows);
}

/* So many that they have to be in the file, and of texts as long as rows can have */
static void put_many(struct t2x_firefox_rows *rows, unsigned n)
{
	char text[4000];

	memset(text, 'x', sizeof(text));
	for (unsigned i = 0; i < n; i++)
		t2x_firefox_put_marker(rows, &(struct t2x_firefox_marker){
			.schema = T2X_FIREFOX_EVENT, .name = i + 1, .start_ns = 7 * i, .end_ns = 7 * i,
			.text = i % 100 ? NULL : text, .length = i % 100 ? 0 : sizeof(text),
		});
}

static void expect_many(const struct t2x_firefox_rows *rows, unsigned n)
{
	struct t2x_firefox_cursor cursor = t2x_firefox_first(rows);
	struct t2x_firefox_marker got;

	for (unsigned i = 0; i < n; i++) {
		assert_true(t2x_firefox_next_marker(&cursor, &got));
		assert_int_equal(got.name, i + 1);
		assert_true(got.end_ns == 7 * i);
		assert_int_equal(got.length, i % 100 ? 0 : 4000);
		assert_true(!got.length || (got.text[0] == 'x' && got.text[3999] == 'x'));
	}
	assert_false(t2x_firefox_next_marker(&cursor, &got));
}

static void test_firefox_many_rows_are_in_a_file(void **state)
{
	struct t2x_spill spill = { .held = 0 };
	struct t2x_firefox_rows tables[2] = { { .spill = &spill }, { .spill = &spill } };

	(void)state;
	put_many(&tables[0], 100000);
	put_many(&tables[1], 50000);
	assert_true(spill.end > 4 << 20);
	assert_true(spill.held < 3 * T2X_SPILL_PIECE);
	for (unsigned twice = 0; twice < 2; twice++) {
		expect_many(&tables[0], 100000);
		expect_many(&tables[1], 50000);
	}
	assert_int_equal(spill.error, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(t2x_firefox_rows_error(&tables[i]), 0);
		t2x_firefox_rows_free(&tables[i]);
	}
	t2x_spill_free(&spill);
}

/* Each has less than a piece. */
static void test_firefox_rows_of_many_tables_are_in_a_file(void **state)
{
	enum { TABLES = 2000 };
	static struct t2x_firefox_rows tables[TABLES];
	struct t2x_spill spill = { .held = 0 };

	(void)state;
	for (unsigned i = 0; i < TABLES; i++) {
		tables[i].spill = &spill;
		put_many(&tables[i], 150);
	}
	assert_true(spill.end > 0);
	assert_true(spill.held < T2X_SPILL_MEMORY + TABLES * 2 * T2X_SPILL_LEAST);
	for (unsigned i = 0; i < TABLES; i++) {
		expect_many(&tables[i], 150);
		t2x_firefox_rows_free(&tables[i]);
	}
	t2x_spill_free(&spill);
}

static void test_firefox_rows_stay_in_memory_where_there_is_no_file(void **state)
{
	struct t2x_spill spill = { .held = 0 };
	struct t2x_firefox_rows rows = { .spill = &spill };
	char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;

	(void)state;
	setenv("TMPDIR", "/dev/null", 1);
	put_many(&rows, 100000);
	before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR");
	free(before);
	assert_true(spill.is_off);
	expect_many(&rows, 100000);
	t2x_firefox_rows_free(&rows);
	t2x_spill_free(&spill);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_firefox_region_is_a_marker_and_a_sample_with_nanoseconds),
		cmocka_unit_test(test_firefox_long_sample_is_repeated_at_its_end_without_weight),
		cmocka_unit_test(test_firefox_region_without_leave_ends_where_it_ended),
		cmocka_unit_test(test_firefox_region_open_at_the_end_is_a_start),
		cmocka_unit_test(test_firefox_gap_is_a_marker_and_a_frame_and_regions_in_it_are_marked),
		cmocka_unit_test(test_firefox_numbers_are_counters_and_markers_texts_markers),
		cmocka_unit_test(test_firefox_counter_beyond_signed_numbers_is_their_largest),
		cmocka_unit_test(test_firefox_thread_that_exits_has_its_times),
		cmocka_unit_test(test_firefox_process_has_the_name_of_its_command),
		cmocka_unit_test(test_firefox_forked_process_has_the_name_of_its_parent),
		cmocka_unit_test(test_firefox_samples_of_each_profile_are_a_thread),
		cmocka_unit_test(test_firefox_profiles_of_a_thread_are_bounded),
		cmocka_unit_test(test_firefox_child_is_an_interval_that_ends_with_it),
		cmocka_unit_test(test_firefox_every_kind_is_printed),
		cmocka_unit_test(test_firefox_empty_trace_is_a_profile),
		cmocka_unit_test(test_firefox_long_text_is_cut),
		cmocka_unit_test(test_firefox_categories_beyond_255_are_other),
		cmocka_unit_test(test_firefox_rows_are_read_as_they_were_put),
		cmocka_unit_test(test_firefox_many_rows_are_in_a_file),
		cmocka_unit_test(test_firefox_rows_of_many_tables_are_in_a_file),
		cmocka_unit_test(test_firefox_rows_stay_in_memory_where_there_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

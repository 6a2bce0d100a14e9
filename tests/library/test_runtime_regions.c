/* SPDX-License-Identifier: MIT */
/* Regions that were entered before a text begins, or beyond what is repeated: the texts that users get. */
#include "t2test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace2.h"
#include "printed.h"
#include "traced.h"

enum { FLOOD = 100000, DEEP = 300 };

static char perf[160], event[160];

static int setup(void **state)
{
	traced_setup(state);
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s/event", t.dir);
	return 0;
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, traced_teardown)

/* Expand files into one in the directory.  Return  its path, valid until the next call */
static const char *expand(const char *options, const char *from)
{
	static char path[160];
	const char *out = getenv("T2_OUT");
	char command[640];

	snprintf(path, sizeof(path), "%s/expanded", t.dir);
	snprintf(command, sizeof(command), "'%s/t2expand' %s -o '%s' '%s' 2>'%s/notes'", out ? out : "build", options,
		 path, from, t.dir);
	assert_int_equal(system(command), 0);
	return path;
}

/* So many lines of the text match. */
static void assert_lines(const char *text, const char *pattern, const char *count)
{
	assert_string_equal(printed("grep -c '%s' '%s'", pattern, text), count);
}

/* The nesting of the event that has this key, in the event format. */
static const char *nesting_of(const char *key, const char *text)
{
	return printed("grep %s '%s' | grep -o '\"nesting\":[0-9]*'", key, text);
}

/* ---- a flight recorder ---------------------------------------------------------------------------- */

static void *idle(void *data)
{
	pthread_barrier_t *barrier = data;

	trace2_thread_start("idle");
	trace2_region_enter("test", "asleep", NULL);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	trace2_region_leave("test", "asleep", NULL);
	trace2_thread_exit();
	return NULL;
}

static void flood(void)
{
	for (long i = 0; i < FLOOD; i++) {
		trace2_region_enter("test", "brief", NULL);
		trace2_region_leave("test", "brief", NULL);
	}
}

static int run_flight(void *data)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "outer", NULL);
	trace2_region_enter_printf("test", "inner", NULL, "number %d", 5);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, idle, &barrier);
	pthread_barrier_wait(&barrier);
	trace2_snapshot("before");
	flood();
	trace2_snapshot("within two");
	trace2_snapshot("and again");
	trace2_region_leave("test", "inner", NULL);
	flood();
	trace2_snapshot("within one");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}

static int run_late_flight(void *data)
{
	trace2_initialize();
	trace2_region_enter("test", "outer", NULL);
	trace2_region_enter_printf("test", "inner", NULL, "number %d", 5);
	flood();
	trace2_snapshot("within two");
	trace2_snapshot(data);
	return 0;
}

static const char *const flight[] = { "TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_RING=256k", NULL };

/* Entered long before what the ring has: there with the time at which it was, in order, once. */
static void test_regions_open_at_a_snapshot_have_a_line(void **state)
{
	const char *text;

	(void)state;
	traced_run(&t, run_late_flight, "and again", flight);
	text = expand("--format=perf", t.raw);
	assert_lines(text, "region_enter.*label:outer$", "1");
	assert_lines(text, "region_enter.*[.][.]label:inner$", "1");
	assert_string_equal(printed("grep -v version '%s' | head -n 2 | grep -c region_enter.*label:[oi]", text), "2");
	assert_string_equal(printed("cut -c 1-15 '%s' | sort -c 2>&1", text), "");
	assert_string_equal(printed("grep snapshot '%s' | head -n 1 | sed 's/.*| //'", text), "....within two");
	text = expand("--format=event --nesting=0", t.raw);
	assert_string_equal(printed("grep -o '\"nesting\":.*' '%s' | head -n 1", text),
			    "\"nesting\":1,\"category\":\"test\",\"label\":\"outer\"}");
	assert_string_equal(printed("grep -o '\"nesting\":.*' '%s' | sed -n 2p", text),
			    "\"nesting\":2,\"category\":\"test\",\"label\":\"inner\"}");
	assert_lines(text, "region_enter.*\"label\":\"inner\"", "1");
}

/* Also where enters were shown, leaves lost, and threads did nothing. */
static void test_regions_of_several_snapshots_are_shown_once(void **state)
{
	const char *text;

	(void)state;
	traced_run(&t, run_flight, NULL, flight);
	text = expand("--format=perf", t.raw);
	assert_lines(text, "region_enter.*label:outer$", "1");
	assert_lines(text, "region_enter.*label:inner number 5$", "1");
	assert_lines(text, "region_enter.*label:inner$", "0");
	assert_lines(text, "region_enter.*label:asleep$", "1");
	assert_string_equal(printed("grep snapshot '%s' | tail -n 1 | sed 's/.*| //'", text), "..within one");
}

/* ---- files that are rotated ------------------------------------------------------------------------ */

static int run_rotation(void *data)
{
	trace2_initialize();
	trace2_region_enter("test", "across", NULL);
	for (int i = 0; i < (int)(long)data; i++) {
		trace2_data_intmax("test", NULL, "i", i);
		trace2_rotate();
	}
	trace2_region_leave("test", "across", NULL);
	return 0;
}

/* Together they are what one file would have been; each of them shows what was open. */
static void test_regions_across_rotated_files_are_shown_in_each_and_once_in_all(void **state)
{
	const char *text;
	char dir[160];

	(void)state;
	snprintf(dir, sizeof(dir), "%s/traces", t.dir);
	assert_string_equal(printed("mkdir '%s' && echo made", dir), "made");
	snprintf(dir, sizeof(dir), "TRACE2_RAW=%s/traces/raw.tlg", t.dir);
	traced_run(&t, run_rotation, (void *)3, (const char *const[]){ perf, event, dir, NULL });
	text = expand("--format=perf", strcpy(dir, traced_path("traces")));
	assert_string_equal(printed("cmp '%s' '%s/perf' 2>&1", text, t.dir), "");
	assert_string_equal(printed("cat '%s'", traced_path("notes")), "");
	text = expand("--format=perf --brief", traced_path("traces/raw.2.tlg"));
	assert_string_equal(printed("head -n 1 '%s' | sed 's/ | .* | / /'", text), "d0 label:across");
	assert_string_equal(printed("cat '%s'", traced_path("notes")), "");
}

/* A cycle begins with the next checkpoint. */
static void begin_cycle(void)
{
	trace2_flush();
	trace2_next_cycle();
}

/* ---- what a cycle repeats ------------------------------------------------------------------------- */

static int run_deep(void *data)
{
	(void)data;
	trace2_initialize();
	for (int i = 0; i < DEEP; i++)
		trace2_region_enter("test", "deep", NULL);
	begin_cycle();
	trace2_data_intmax("test", NULL, "within", 1);
	for (int i = 0; i < DEEP; i++)
		trace2_region_leave("test", "deep", NULL);
	trace2_data_intmax("test", NULL, "behind", 1);
	return 0;
}

/* More than a cycle repeats: who has read what was before knows them all. */
static void test_regions_deeper_than_a_cycle_repeats_are_known_from_the_start_of_the_file(void **state)
{
	const char *text;

	(void)state;
	traced_run(&t, run_deep, NULL, NULL);
	text = expand("--format=event --nesting=0", t.raw);
	assert_string_equal(nesting_of("within", text), "\"nesting\":301");
	assert_string_equal(nesting_of("behind", text), "\"nesting\":1");
	assert_lines(text, "region_", "600");
}

static int run_unbalanced(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_region_leave("test", "never entered", NULL);
	trace2_region_enter("test", "first", NULL);
	trace2_region_enter("test", "second", NULL);
	begin_cycle();
	trace2_data_intmax("test", NULL, "within", 2);
	trace2_region_leave("test", "second", NULL);
	trace2_region_leave("test", "first", NULL);
	begin_cycle();
	trace2_data_intmax("test", NULL, "without", 0);
	return 0;
}

/* Return  the path of what the file has from its nth cycle on */
static const char *cut_before_cycle(size_t n)
{
	const char *path = traced_path("tail.tlg");

	assert_int_equal(raw_write_from_cycle(&file, n, path), 0);
	return path;
}

/* A thread that has left even its outermost level: as in git, for a reader of the whole file and for one that joins. */
static void test_regions_after_leaving_the_outermost_are_correct_for_a_reader_that_joins(void **state)
{
	const char *text;

	(void)state;
	traced_run(&t, run_unbalanced, NULL, (const char *const[]){ "TRACE2_RAW_ENCODING=plain", NULL });
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.cycles, 3);
	for (unsigned cycle = 0; cycle <= 2; cycle++) {
		text = expand("--format=event --nesting=0", cycle < 2 ? cut_before_cycle(cycle + 1) : t.raw);
		assert_string_equal(nesting_of("within", text), "\"nesting\":2");
		assert_string_equal(nesting_of("without", text), "\"nesting\":0");
		assert_lines(text, "region_[el].*\"nesting\":0,.*first", "2");
	}
	text = expand("--format=event --nesting=0", cut_before_cycle(3));
	assert_string_equal(nesting_of("without", text), "\"nesting\":0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_regions_open_at_a_snapshot_have_a_line),
		TEST(test_regions_of_several_snapshots_are_shown_once),
		TEST(test_regions_across_rotated_files_are_shown_in_each_and_once_in_all),
		TEST(test_regions_deeper_than_a_cycle_repeats_are_known_from_the_start_of_the_file),
		TEST(test_regions_after_leaving_the_outermost_are_correct_for_a_reader_that_joins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

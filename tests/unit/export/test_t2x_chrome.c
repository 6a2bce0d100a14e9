/* SPDX-License-Identifier: MIT */
/* The chrome format: slices, what they say when events are missing, counters, names, arrows. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>

#include "feed.h"
#include "profile/t2x_frames.h"
#include "text/t2x_formats.h"

#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
#define NAMED(comma, pid, order, tid, name) \
	comma "{\"name\":\"process_sort_index\",\"cat\":\"__metadata\",\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":0.000,\"args\":{\"sort_index\":" order "}}\n" THREAD(pid, tid, "0", name)
#define THREAD(pid, tid, order, name) \
	",{\"name\":\"thread_sort_index\",\"cat\":\"__metadata\",\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":0.000,\"args\":{\"sort_index\":" order "}}\n" \
	",{\"name\":\"thread_name\",\"cat\":\"__metadata\",\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":0.000,\"args\":{\"name\":\"" name "\"}}\n"
#define MAIN NAMED("", "7", "1", "1", "main")
#define ELEMENT(cat, name, ph, ts) \
	",{\"name\":\"" name "\",\"cat\":\"" cat "\",\"ph\":\"" ph "\",\"pid\":7,\"tid\":1,\"ts\":11203000" ts
#define OWN(dur, args) ELEMENT("trace2.thread", "main", "X", "000.000") ",\"dur\":" dur args "}\n"
#define OPEN ",\"args\":{\"end\":\"none: it was open at the end of the trace\"}"
#define PLACE(line) "\"file\":\"m.c\",\"line\":" line "}"
#define TAIL "],\"otherData\":{\"clock\":\"microseconds\",\"zero_unix_seconds\":1795219200}}\n"

static struct t2x_scope *enter, *leave;

static void open_chrome(struct feed *f)
{
	feed_open(f, &t2x_writer_chrome, 0, 0);
	enter = feed_scope(f, TLG_STYLE_region_enter, "cat", "lab", NULL);
	leave = feed_scope(f, TLG_STYLE_region_leave, "cat", "lab", NULL);
	enter->names = leave->names = 1;
	enter->file = NULL;             /* the test of places has one */
}

static void test_chrome_region_is_a_slice_with_nanoseconds(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "cat", "a\"\xff\xe2\x82\xac", "of %d"), 20, "i", 5);
	feed_hit(&f, leave, 30, "");
	feed_hit(&f, leave, 40, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("cat", "a\\\"\\ufffd\xe2\x82\xac", "X", "020.999")
		    ",\"dur\":10.000,\"args\":{\"message\":\"of 5\"," PLACE("3") "}\n"
		    ELEMENT("cat", "lab", "X", "010.999") ",\"dur\":30.000}\n"
		    OWN("40.99904", OPEN) TAIL);
}

/* Each slice has the place of its own enter, also where several have the same names; the longest are whole. */
static void test_chrome_slices_have_the_place_of_their_enter(void **state)
{
	static char file[3000], expected[8000];
	struct t2x_scope *other;
	struct feed f;

	(void)state;
	memset(file, 'f', sizeof(file) - 1);
	open_chrome(&f);
	enter->file = "dir/\"a\".c";
	other = feed_scope(&f, TLG_STYLE_region_enter, "cat", "lab", NULL);
	other->names = 1;
	other->file = file;
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, other, 20, "");
	feed_hit(&f, leave, 30, "");
	feed_hit(&f, leave, 40, "");
	feed_hit(&f, enter, 50, "");
	snprintf(expected, sizeof(expected), HEAD MAIN
		 ELEMENT("cat", "lab", "X", "020.999") ",\"dur\":10.000,\"args\":{\"file\":\"%s\",\"line\":3}}\n"
		 ELEMENT("cat", "lab", "X", "010.999")
		 ",\"dur\":30.000,\"args\":{\"file\":\"dir/\\\"a\\\".c\",\"line\":1}}\n"
		 ELEMENT("cat", "lab", "X", "050.999") ",\"dur\":0.00004,\"args\":{"
		 "\"end\":\"none: it was open at the end of the trace\",\"file\":\"dir/\\\"a\\\".c\",\"line\":1}}\n"
		 OWN("50.99908", OPEN) TAIL, file);
	feed_expect(&f, expected);
}

/* What an instant says has a name, as in git's event format. */
static void test_chrome_arguments_have_names(void **state)
{
	static const struct { int style; const char *letters, *name, *args; } cases[] = {
		{ TLG_STYLE_cmd_name, "ss", "cmd_name", "\"hierarchy\":\"a\",\"name\":\"b\"" },
		{ TLG_STYLE_cmd_ancestry, "sss", "cmd_ancestry", "\"ancestry\":[\"a\",\"b\",\"c\"]" },
	};
	char wanted[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f;
		char *text;

		open_chrome(&f);
		feed_hit(&f, feed_scope(&f, cases[i].style, NULL, NULL, NULL), 10, cases[i].letters, "a", "b", "c");
		snprintf(wanted, sizeof(wanted), ELEMENT("trace2", "%s", "i", "010.999")
			 ",\"s\":\"t\",\"args\":{%s," PLACE("3") "}\n", cases[i].name, cases[i].args);
		text = feed_finish(&f);
		if (!strstr(text, wanted))
			print_error("no %s in:\n%s", wanted, text);
		assert_non_null(strstr(text, wanted));
		free(text);
	}
}

/* Where the names of the regions that are open take more than there is for them, the inner ones have one name. */
static void test_chrome_names_of_too_many_open_regions_are_one(void **state)
{
	enum { REGIONS = 6000, NAME = 4000 };
	char label[NAME + 1], wanted[64];
	struct t2x_scope *scope;
	unsigned exact = 0, others = 0;
	struct feed f;
	char *text;

	(void)state;
	open_chrome(&f);
	scope = feed_scope(&f, TLG_STYLE_region_enter, "cat", label, NULL);
	for (unsigned i = 0; i < REGIONS; i++) {
		feed_long_name(label, sizeof(label), i);
		scope->number = 1000 + i;
		scope->names = 1000 + i;
		feed_hit(&f, scope, 10 + i, "");
	}
	text = feed_finish(&f);
	for (const char *at = text; (at = strstr(at, ",{\"name\":\"r0")); at++)
		exact++;
	for (const char *at = text; (at = strstr(at, ",{\"name\":\"other names\",\"cat\":\"trace2\",")); at++)
		others++;
	assert_int_equal(exact + others, REGIONS);
	assert_in_range(exact, T2X_FRAMES_BYTES / (2 * NAME + 400), T2X_FRAMES_BYTES / NAME);
	/* the last of them have no text that is kept */
	snprintf(wanted, sizeof(wanted), ",{\"name\":\"r%08uxxx", exact - 1);
	assert_non_null(strstr(text, wanted));
	free(text);
}

/* Names of regions that are over are forgotten: there is room for as many as come. */
static void test_chrome_names_of_regions_that_are_over_need_no_room(void **state)
{
	enum { REGIONS = 6000, NAME = 4000 };
	char label[NAME + 1];
	struct t2x_scope *scope, *end;
	struct feed f;
	char *text;

	(void)state;
	open_chrome(&f);
	scope = feed_scope(&f, TLG_STYLE_region_enter, "cat", label, NULL);
	end = feed_scope(&f, TLG_STYLE_region_leave, "cat", label, NULL);
	for (unsigned i = 0; i < REGIONS; i++) {
		feed_long_name(label, sizeof(label), i);
		scope->number = end->number = 1000 + i;
		scope->names = end->names = 1000 + i;
		feed_hit(&f, scope, 10 + 2 * i, "");
		feed_hit(&f, end, 11 + 2 * i, "");
	}
	text = feed_finish(&f);
	assert_null(strstr(text, "other names"));
	assert_non_null(strstr(text, ",{\"name\":\"r00000000xxx"));
	assert_non_null(strstr(text, ",{\"name\":\"r00005999xxx"));
	free(text);
}

static void test_chrome_region_without_leave_ends_where_it_ended(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, enter, 10, "");
	feed(&f, atexit, 20, "i", 3);
	feed_hit(&f, enter, 30, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("cat", "lab", "X", "010.999")
		    ",\"dur\":10.000,\"args\":{\"end\":\"the thread or process ended\"}}\n"
		    ELEMENT("trace2", "atexit", "i", "020.999") ",\"s\":\"t\",\"args\":{\"code\":3," PLACE("3") "}\n"
		    ELEMENT("cat", "lab", "X", "030.999")
		    ",\"dur\":0.00004,\"args\":{\"end\":\"the thread or process ended\"}}\n"
		    OWN("30.99908", "") TAIL);
}

static void test_chrome_gap_is_a_slice_and_regions_in_it_are_marked(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, enter, 10, "");
	feed_gap(&f, 50, (struct t2x_gap){ .events = 7 });
	feed_hit(&f, leave, 60, "");
	feed_hit(&f, leave, 70, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("trace2", "events lost", "X", "010.999")
		    ",\"dur\":39.001,\"cname\":\"terrible\",\"args\":{\"count\":7}}\n"
		    ELEMENT("cat", "lab", "X", "010.999")
		    ",\"dur\":50.000,\"args\":{\"end\":\"not sure: events are missing in it\"}}\n"
		    ELEMENT("trace2", "lost-enters", "C", "070.999") ",\"args\":{\"value\":1}}\n"
		    ELEMENT("cat", "lab", "i", "070.999")
		    ",\"s\":\"t\",\"args\":{\"end\":\"left here; its start is missing\"}}\n"
		    OWN("70.999", OPEN) TAIL);
}

static void test_chrome_gap_with_known_leaves_ends_their_slices(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, enter, 20, "");
	feed_gap(&f, 50, (struct t2x_gap){ .events = 2, .left = 1, .is_known = 1 });
	feed_hit(&f, leave, 60, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("trace2", "events lost", "X", "020.999")
		    ",\"dur\":29.001,\"cname\":\"terrible\",\"args\":{\"count\":2}}\n"
		    ELEMENT("cat", "lab", "X", "020.999") ",\"dur\":29.001,\"args\":{\"end\":\"missing\"}}\n"
		    ELEMENT("trace2", "lost-leaves", "C", "050.000") ",\"args\":{\"value\":1}}\n"
		    ELEMENT("cat", "lab", "X", "010.999") ",\"dur\":50.000}\n"
		    OWN("60.99904", OPEN) TAIL);
}

/* Added up as doubles, what ends or starts in one nanosecond has to stay in its order. */
static void test_chrome_slices_that_meet_in_a_nanosecond_are_apart(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, leave, 10, "");
	feed_hit(&f, enter, 20, "");
	feed_hit(&f, leave, 30, "");
	feed_hit(&f, leave, 30, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("cat", "lab", "X", "010.99904") ",\"dur\":0.00004}\n"
		    ELEMENT("cat", "lab", "X", "020.999") ",\"dur\":10.000}\n"
		    ELEMENT("cat", "lab", "X", "010.999") ",\"dur\":20.00004}\n"
		    OWN("30.99908", OPEN) TAIL);
}

static void test_chrome_numbers_are_counters_and_texts_instants(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data_intmax, "cat", "n", NULL), 10, "i", -5);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_counter, "cat", "c", NULL), 20, "u", UINT64_MAX);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "cat", "key", NULL), 30, "s", "va\"l");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "hello %s"), 40, "s", "world");
	feed_hit(&f, NULL, 50, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("cat", "n", "C", "010.999") ",\"args\":{\"value\":-5}}\n"
		    ELEMENT("cat", "c", "C", "020.999") ",\"args\":{\"value\":18446744073709551615}}\n"
		    ELEMENT("cat", "key", "i", "030.999")
		    ",\"s\":\"t\",\"args\":{\"value\":\"va\\\"l\"," PLACE("5") "}\n"
		    ELEMENT("trace2", "printf", "i", "040.999")
		    ",\"s\":\"t\",\"args\":{\"message\":\"hello world\"," PLACE("6") "}\n"
		    ELEMENT("trace2", "unresolved", "i", "050.999") ",\"s\":\"t\",\"args\":{\"scope\":99}}\n"
		    OWN("50.999", OPEN) TAIL);
}

static void test_chrome_thread_that_exits_ends_its_slice(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	feed_hit(&f, enter, 10, "");
	feed_hit(&f, leave, 20, "");
	f.current = 1;
	feed(&f, thread_start, 1000, "");
	feed(&f, thread_exit, 1010, "");
	feed_expect(&f, HEAD MAIN
		    ELEMENT("cat", "lab", "X", "010.999") ",\"dur\":10.000}\n"
		    THREAD("7", "2", "1", "th01:worker")
		    ",{\"name\":\"th01:worker\",\"cat\":\"trace2.thread\",\"ph\":\"X\",\"pid\":7,\"tid\":2,"
		    "\"ts\":11203001000.000,\"dur\":10.999}\n"
		    OWN("20.99904", OPEN) TAIL);
}

/* From here on the checkpoints are of this process. */
static void become(struct feed *f, uint32_t pid, const char *sid, uint64_t start_us)
{
	f->process.sid = sid;
	f->process.pid = f->process.stream = pid;
	f->process.number = pid;
	f->process.start_ns = FEED_START_NS + start_us * 1000;
	f->thread[0].number = pid;
}

static void test_chrome_child_has_an_arrow_to_its_process(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	become(&f, 7, "a", 0);
	feed(&f, child_start, 100, "iisssss", 0, 0, "cls", NULL, NULL, "sort", "x");
	become(&f, 8, "a/b", 150);
	feed(&f, step, 160, "");
	become(&f, 7, "a", 0);
	feed(&f, child_exit, 300, "iiiu", 0, 8, 2, FEED_START_NS + 100 * 1000);
	feed_expect(&f, HEAD MAIN
		    ELEMENT("child", "child 0", "b", "100.999")
		    ",\"id\":1,\"args\":{\"argv\":[\"sort\",\"x\"],\"child_class\":\"cls\"," PLACE("3") "}\n"
		    NAMED(",", "8", "2", "1", "main")
		    ",{\"name\":\"step\",\"cat\":\"trace2\",\"ph\":\"i\",\"pid\":8,\"tid\":1,"
		    "\"ts\":11203000160.999,\"s\":\"t\",\"args\":{" PLACE("4") "}\n"
		    ELEMENT("child", "child 0", "e", "300.999") ",\"id\":1,\"args\":{\"pid\":8,\"code\":2}}\n"
		    ELEMENT("child", "child", "s", "100.999") ",\"id\":2}\n"
		    ",{\"name\":\"child\",\"cat\":\"child\",\"ph\":\"f\",\"pid\":8,\"tid\":1,"
		    "\"ts\":11203000150.000,\"id\":2,\"bp\":\"e\"}\n"
		    OWN("300.999", OPEN)
		    ",{\"name\":\"main\",\"cat\":\"trace2.thread\",\"ph\":\"X\",\"pid\":8,\"tid\":1,"
		    "\"ts\":11203000150.000,\"dur\":10.999" OPEN "}\n" TAIL);
}

static void test_chrome_child_that_never_ends_has_an_arrow_to_the_next_process(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	become(&f, 7, "a", 0);
	feed(&f, child_start, 100, "iisssss", 0, 0, "cls", NULL, NULL, "sort", "x");
	become(&f, 8, "a/b", 150);
	feed(&f, atexit, 160, "i", 0);
	feed_expect(&f, HEAD MAIN
		    ELEMENT("child", "child 0", "b", "100.999")
		    ",\"id\":1,\"args\":{\"argv\":[\"sort\",\"x\"],\"child_class\":\"cls\"," PLACE("3") "}\n"
		    NAMED(",", "8", "2", "1", "main")
		    ",{\"name\":\"atexit\",\"cat\":\"trace2\",\"ph\":\"i\",\"pid\":8,\"tid\":1,"
		    "\"ts\":11203000160.999,\"s\":\"t\",\"args\":{\"code\":0," PLACE("4") "}\n"
		    OWN("100.999", OPEN)
		    ",{\"name\":\"main\",\"cat\":\"trace2.thread\",\"ph\":\"X\",\"pid\":8,\"tid\":1,"
		    "\"ts\":11203000150.000,\"dur\":10.999}\n"
		    ELEMENT("child", "child", "s", "100.999") ",\"id\":2}\n"
		    ",{\"name\":\"child\",\"cat\":\"child\",\"ph\":\"f\",\"pid\":8,\"tid\":1,"
		    "\"ts\":11203000150.000,\"id\":2,\"bp\":\"e\"}\n" TAIL);
}

static void test_chrome_second_process_with_the_same_pid_gets_another(void **state)
{
	struct feed f;

	(void)state;
	open_chrome(&f);
	become(&f, 7, "a", 0);
	feed(&f, thread_start, 10, "");
	become(&f, 9, "b", 0);
	f.process.pid = 7;
	feed(&f, thread_start, 20, "");
	feed_expect(&f, HEAD MAIN NAMED(",", "4194306", "2", "1", "main")
		    OWN("10.999", OPEN)
		    ",{\"name\":\"main\",\"cat\":\"trace2.thread\",\"ph\":\"X\",\"pid\":4194306,\"tid\":1,"
		    "\"ts\":11203000000.000,\"dur\":20.999" OPEN "}\n" TAIL);
}

/* A line that gives a process its name. */
static void expect_name(const char *text, const char *pid, const char *name)
{
	char line[160];

	snprintf(line, sizeof(line), "\"process_name\",\"cat\":\"__metadata\",\"ph\":\"M\",\"pid\":%s,\"tid\":1,"
		 "\"ts\":0.000,\"args\":{\"name\":\"%s\"}}", pid, name);
	if (!strstr(text, line))
		print_error("there is no %s in:\n%s", line, text);
	assert_non_null(strstr(text, line));
}

static void test_chrome_forked_process_has_the_name_of_its_parent(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	open_chrome(&f);
	become(&f, 7, "a", 0);
	f.process.start_ticks = 700;
	feed(&f, start, 10, "s", "/bin/daemon");
	become(&f, 8, "a/b", 0);
	feed(&f, step, 20, "");
	become(&f, 9, "a/b/c", 0);
	feed(&f, cmd_name, 30, "ss", "daemon/worker", "worker");
	become(&f, 10, "a/d", 0);
	f.process.start_ticks = 701;
	feed(&f, step, 40, "");
	text = feed_finish(&f);
	expect_name(text, "7", "daemon");
	expect_name(text, "8", "daemon [fork]");
	expect_name(text, "9", "daemon [fork]");
	expect_name(text, "9", "worker [fork]");
	assert_null(strstr(strstr(text, "\"pid\":10"), "process_name"));
	free(text);
}

static void test_chrome_process_under_the_same_session_has_the_name_of_the_first(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	open_chrome(&f);
	become(&f, 7, "a", 0);
	feed(&f, start, 10, "s", "daemon");
	f.process.stream = 70;
	f.process.number = f.thread[0].number = 70;
	feed(&f, step, 20, "");
	become(&f, 8, "a", 0);
	feed(&f, step, 30, "");
	text = feed_finish(&f);
	expect_name(text, "7", "daemon");
	expect_name(text, "4194306", "daemon");
	expect_name(text, "8", "daemon [fork]");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chrome_slices_have_the_place_of_their_enter),
		cmocka_unit_test(test_chrome_arguments_have_names),
		cmocka_unit_test(test_chrome_region_is_a_slice_with_nanoseconds),
		cmocka_unit_test(test_chrome_names_of_too_many_open_regions_are_one),
		cmocka_unit_test(test_chrome_names_of_regions_that_are_over_need_no_room),
		cmocka_unit_test(test_chrome_region_without_leave_ends_where_it_ended),
		cmocka_unit_test(test_chrome_gap_is_a_slice_and_regions_in_it_are_marked),
		cmocka_unit_test(test_chrome_gap_with_known_leaves_ends_their_slices),
		cmocka_unit_test(test_chrome_slices_that_meet_in_a_nanosecond_are_apart),
		cmocka_unit_test(test_chrome_numbers_are_counters_and_texts_instants),
		cmocka_unit_test(test_chrome_thread_that_exits_ends_its_slice),
		cmocka_unit_test(test_chrome_child_has_an_arrow_to_its_process),
		cmocka_unit_test(test_chrome_child_that_never_ends_has_an_arrow_to_the_next_process),
		cmocka_unit_test(test_chrome_second_process_with_the_same_pid_gets_another),
		cmocka_unit_test(test_chrome_forked_process_has_the_name_of_its_parent),
		cmocka_unit_test(test_chrome_process_under_the_same_session_has_the_name_of_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The event format: expected lines have the form that git gave them for the same calls. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"

static const char commands[] =
	"{\"event\":\"version\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000010Z\",\"file\":\"m.c\",\"line\":1,\"evt\":\"4\""
	  ",\"exe\":\"1.2.3\"}\n"
	"{\"event\":\"too_many_files\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000020Z\",\"file\":\"m.c\",\"line\":2}\n"
	"{\"event\":\"start\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000030Z\",\"file\":\"m.c\",\"line\":3,\"t_abs\":0.000030"
	  ",\"argv\":[\"prog\",\"a b\"]}\n"
	"{\"event\":\"cmd_path\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000040Z\",\"file\":\"m.c\",\"line\":4,\"path\":\"/p q\"}\n"
	"{\"event\":\"cmd_ancestry\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000050Z\",\"file\":\"m.c\",\"line\":5,\"ancestry\":[\"sh\""
	  ",\"bash x\"]}\n"
	"{\"event\":\"cmd_name\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000060Z\",\"file\":\"m.c\",\"line\":6,\"name\":\"one\""
	  ",\"hierarchy\":\"one\"}\n"
	"{\"event\":\"cmd_mode\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000070Z\",\"file\":\"m.c\",\"line\":7,\"name\":\"mode\"}\n"
	"{\"event\":\"alias\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000080Z\",\"file\":\"m.c\",\"line\":8,\"alias\":\"al\""
	  ",\"argv\":[\"x\",\"y z\"]}\n"
	"{\"event\":\"child_start\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000090Z\",\"file\":\"m.c\",\"line\":9,\"child_id\":0"
	  ",\"child_class\":\"cls\",\"cd\":\"/some dir\",\"use_shell\":true,\"argv\":[\"git\",\"st\""
	  ",\"a'b\"]}\n"
	"{\"event\":\"child_exit\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000100Z\",\"file\":\"m.c\",\"line\":10,\"child_id\":0"
	  ",\"pid\":1234,\"code\":-1,\"t_rel\":0.000010}\n"
	"{\"event\":\"child_ready\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000110Z\",\"file\":\"m.c\",\"line\":11,\"child_id\":0"
	  ",\"pid\":1234,\"ready\":\"ready\",\"t_rel\":0.000000}\n"
	"{\"event\":\"exec\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:43.000120Z\""
	  ",\"file\":\"m.c\",\"line\":12,\"exec_id\":1,\"exe\":\"/bin/e x\",\"argv\":[\"argv0\",\"a b\""
	  ",\"\"]}\n"
	"{\"event\":\"exec_result\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000130Z\",\"file\":\"m.c\",\"line\":13,\"exec_id\":1"
	  ",\"code\":2}\n"
	"{\"event\":\"def_param\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000140Z\",\"file\":\"m.c\",\"line\":14,\"scope\":\"worktree\""
	  ",\"param\":\"k.x\",\"value\":\"v w\"}\n"
	"{\"event\":\"error\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000150Z\",\"file\":\"m.c\",\"line\":15,\"msg\":\"fmt arg\""
	  ",\"fmt\":\"fmt %s\"}\n"
	"{\"event\":\"signal\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000160Z\",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":191"
	  ",\"t_abs\":0.000160,\"signo\":13}\n";

static const char regions[] =
	"{\"event\":\"def_repo\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000200Z\",\"file\":\"m.c\",\"line\":1,\"repo\":1"
	  ",\"worktree\":\"/work tree\"}\n"
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000210Z\",\"file\":\"m.c\",\"line\":2,\"repo\":1,\"nesting\":1"
	  ",\"category\":\"category_longer\",\"label\":\"lab\",\"msg\":\"msg 5\"}\n"
	"{\"event\":\"data\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:43.000220Z\""
	  ",\"file\":\"m.c\",\"line\":3,\"t_abs\":0.000220,\"t_rel\":0.000010,\"nesting\":2"
	  ",\"category\":\"cat\",\"key\":\"key\",\"value\":\"va\\\"l\"}\n"
	"{\"event\":\"data\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:43.000230Z\""
	  ",\"file\":\"m.c\",\"line\":4,\"t_abs\":0.000230,\"t_rel\":0.000020,\"nesting\":2"
	  ",\"category\":\"cat\",\"key\":\"n\",\"value\":\"-5\"}\n"
	"{\"event\":\"data_json\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000240Z\",\"file\":\"m.c\",\"line\":5,\"t_abs\":0.000240"
	  ",\"t_rel\":0.000030,\"nesting\":2,\"category\":\"cat\",\"key\":\"j\",\"value\":{\"a\": 1"
	  ",\"b\": []}}\n"
	"{\"event\":\"printf\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000250Z\",\"file\":\"m.c\",\"line\":6,\"t_abs\":0.000250"
	  ",\"msg\":\"hello world\"}\n"
	"{\"event\":\"step\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:43.000250Z\""
	  ",\"file\":\"m.c\",\"line\":7,\"t_abs\":0.000250,\"nesting\":2,\"category\":\"cat\""
	  ",\"label\":\"st\"}\n"
	"{\"event\":\"unresolved\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000260Z\",\"t_abs\":0.000260,\"scope\":99}\n"
	"{\"event\":\"region_leave\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000270Z\",\"file\":\"m.c\",\"line\":8,\"t_rel_unknown\":true"
	  ",\"nesting\":1,\"category\":\"cat\",\"label\":\"lab\"}\n"
	"{\"event\":\"thread_start\",\"sid\":\"SID\",\"thread\":\"th01:worker\""
	  ",\"time\":\"2026-11-21T03:06:43.001000Z\",\"file\":\"m.c\",\"line\":9}\n"
	"{\"event\":\"th_timer\",\"sid\":\"SID\",\"thread\":\"th01:worker\""
	  ",\"time\":\"2026-11-21T03:06:43.001200Z\",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":657"
	  ",\"category\":\"test\",\"name\":\"t2\",\"intervals\":1,\"t_total\":0.000541,\"t_min\":0.000541"
	  ",\"t_max\":0.000542}\n"
	"{\"event\":\"th_counter\",\"sid\":\"SID\",\"thread\":\"th01:worker\""
	  ",\"time\":\"2026-11-21T03:06:43.001210Z\",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":678"
	  ",\"category\":\"test\",\"name\":\"c2\",\"count\":3}\n"
	"{\"event\":\"thread_exit\",\"sid\":\"SID\",\"thread\":\"th01:worker\""
	  ",\"time\":\"2026-11-21T03:06:43.001250Z\",\"file\":\"m.c\",\"line\":12,\"t_rel\":0.000250}\n"
	"{\"event\":\"exit\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:45.000000Z\""
	  ",\"file\":\"m.c\",\"line\":13,\"t_abs\":2.000000,\"code\":3}\n"
	"{\"event\":\"timer\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:45.000010Z\",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":657"
	  ",\"category\":\"test\",\"name\":\"t1\",\"intervals\":2,\"t_total\":3.000000,\"t_min\":1.000000"
	  ",\"t_max\":2.000000}\n"
	"{\"event\":\"counter\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:45.000020Z\",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":678"
	  ",\"category\":\"test\",\"name\":\"c1\",\"count\":-1}\n"
	"{\"event\":\"atexit\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:45.000030Z\",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":207"
	  ",\"t_abs\":2.000030,\"code\":3}\n";

static void test_event_commands_print_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_event, 0, 2);
	feed_commands(&f);
	feed_expect(&f, commands);
}

static void test_event_regions_print_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_event, 0, 2);
	feed_regions(&f);
	feed_expect(&f, regions);
}

static void test_event_brief_keeps_time_on_version_and_atexit(void **state)
{
	struct feed f;
	struct t2x_scope *s;

	(void)state;
	feed_open(&f, &t2x_writer_event, 1, 2);
	feed(&f, version, 1, "s", "1");
	feed(&f, cmd_mode, 2, "s", "m");
	s = feed_scope(&f, TLG_STYLE_region_enter, "c", "l", NULL);
	s->repo = 65534;
	feed_hit(&f, s, 3, "");
	feed(&f, atexit, 4, "i", 0);
	feed_expect(&f,
	"{\"event\":\"version\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000001Z\",\"evt\":\"4\",\"exe\":\"1\"}\n"
	"{\"event\":\"cmd_mode\",\"sid\":\"SID\",\"thread\":\"main\",\"name\":\"m\"}\n"
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"repo\":65534,\"nesting\":1"
	  ",\"category\":\"c\",\"label\":\"l\"}\n"
	"{\"event\":\"atexit\",\"sid\":\"SID\",\"thread\":\"main\""
	  ",\"time\":\"2026-11-21T03:06:43.000004Z\",\"t_abs\":0.000004,\"code\":0}\n");
}

/* Three regions and data in each; what each level keeps is told by the labels. */
static void feed_levels(struct feed *f)
{
	static const char *const names[] = { "l1", "l2", "l3" };

	for (unsigned i = 0; i < 3; i++) {
		feed_hit(f, feed_scope(f, TLG_STYLE_data, NULL, names[i], NULL), 1, "s", "v");
		feed_hit(f, feed_scope(f, TLG_STYLE_region_enter, NULL, names[i], NULL), 1, "");
	}
	feed_hit(f, feed_scope(f, TLG_STYLE_data_json, NULL, "j", NULL), 1, "s", "{}");
	feed_hit(f, feed_scope(f, TLG_STYLE_data_intmax, NULL, "i", NULL), 1, "i", 1);
	feed_hit(f, feed_scope(f, TLG_STYLE_step, NULL, "s", NULL), 1, "");
	feed(f, cmd_mode, 1, "s", "deep");
	for (unsigned i = 3; i-- > 0;)
		feed_hit(f, feed_scope(f, TLG_STYLE_region_leave, NULL, names[i], NULL), 1, "");
}

static void test_event_regions_and_data_deeper_than_nesting_are_left_out(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_event, 1, 2);
	feed_levels(&f);
	feed_expect(&f,
	"{\"event\":\"data\",\"sid\":\"SID\",\"thread\":\"main\",\"t_abs\":0.000001,\"t_rel\":0.000001"
	  ",\"nesting\":1,\"key\":\"l1\",\"value\":\"v\"}\n"
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"nesting\":1,\"label\":\"l1\"}\n"
	"{\"event\":\"data\",\"sid\":\"SID\",\"thread\":\"main\",\"t_abs\":0.000001,\"t_rel\":0.000000"
	  ",\"nesting\":2,\"key\":\"l2\",\"value\":\"v\"}\n"
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"nesting\":2,\"label\":\"l2\"}\n"
	"{\"event\":\"cmd_mode\",\"sid\":\"SID\",\"thread\":\"main\",\"name\":\"deep\"}\n"
	"{\"event\":\"region_leave\",\"sid\":\"SID\",\"thread\":\"main\",\"t_rel\":0.000000,\"nesting\":2"
	  ",\"label\":\"l2\"}\n"
	"{\"event\":\"region_leave\",\"sid\":\"SID\",\"thread\":\"main\",\"t_rel\":0.000000,\"nesting\":1"
	  ",\"label\":\"l1\"}\n");
}

static void test_event_nesting_0_leaves_nothing_out(void **state)
{
	struct feed f;
	struct t2x_scope *enter;

	(void)state;
	feed_open(&f, &t2x_writer_event, 1, 0);
	enter = feed_scope(&f, TLG_STYLE_region_enter, NULL, NULL, NULL);
	for (unsigned i = 0; i < 3; i++)
		feed_hit(&f, enter, i, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, NULL, "k", NULL), 3, "s", "v");
	feed_expect(&f,
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"nesting\":1}\n"
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"nesting\":2}\n"
	"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"nesting\":3}\n"
	"{\"event\":\"data\",\"sid\":\"SID\",\"thread\":\"main\",\"t_abs\":0.000003,\"t_rel\":0.000001"
	  ",\"nesting\":4,\"key\":\"k\",\"value\":\"v\"}\n");
}

static void test_event_texts_are_escaped_everywhere(void **state)
{
	struct feed f;
	struct t2x_scope *s;

	(void)state;
	feed_open(&f, &t2x_writer_event, 0, 2);
	f.process.sid = "a\"b";
	strcpy(f.thread[0].name, "t\\");
	s = feed_scope(&f, TLG_STYLE_region_enter, "c\n", "l\x01", "m\x1f\x7f\xff/");
	s->file = "f\t.c";
	feed_hit(&f, s, 0, "");
	feed_expect(&f,
		"{\"event\":\"region_enter\",\"sid\":\"a\\\"b\",\"thread\":\"t\\\\\","
		"\"time\":\"2026-11-21T03:06:43.000000Z\","
		"\"file\":\"f\\t.c\",\"line\":1,\"nesting\":1,\"category\":\"c\\n\",\"label\":\"l\\u0001\","
		"\"msg\":\"m\\u001f\x7f\xff/\"}\n");
}

static void test_event_names_too_long_to_cache_are_printed_every_time(void **state)
{
	static const char begin[] =
		"{\"event\":\"region_enter\",\"sid\":\"SID\",\"thread\":\"main\",\"nesting\":";
	static char label[4096], expected[2 * sizeof(label) + 256];
	struct feed f;
	struct t2x_scope *s;
	int n;

	(void)state;
	memset(label, 'x', sizeof(label) - 1);
	feed_open(&f, &t2x_writer_event, 1, 0);
	s = feed_scope(&f, TLG_STYLE_region_enter, NULL, label, NULL);
	feed_hit(&f, s, 0, "");
	feed_hit(&f, s, 0, "");
	n = snprintf(expected, sizeof(expected), "%s1,\"label\":\"%s\"}\n%s2,\"label\":\"%s\"}\n", begin, label,
		     begin, label);
	assert_true(n > 0 && (size_t)n < sizeof(expected));
	feed_expect(&f, expected);
}

static void test_event_optional_members_are_left_out(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_event, 1, 2);
	feed(&f, child_start, 1, "iisss", 5, TLG_CHILD_GIT, "cls", NULL, "");
	feed(&f, child_start, 1, "iisss", 6, TLG_CHILD_SHELL, NULL, "post", NULL);
	feed(&f, child_start, 1, "iisss", 7, 0, NULL, NULL, NULL);
	feed(&f, exec, 1, "is", 2, NULL);
	feed(&f, def_param, 1, "iss", 2, "k", NULL);
	feed(&f, error, 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, ""), 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "%s"), 1, "s", "");
	feed(&f, start, 1, "");
	feed_expect(&f,
	"{\"event\":\"child_start\",\"sid\":\"SID\",\"thread\":\"main\",\"child_id\":5"
	  ",\"child_class\":\"cls\",\"cd\":\"\",\"use_shell\":false,\"argv\":[\"git\"]}\n"
	"{\"event\":\"child_start\",\"sid\":\"SID\",\"thread\":\"main\",\"child_id\":6"
	  ",\"child_class\":\"hook\",\"hook_name\":\"post\",\"use_shell\":true,\"argv\":[]}\n"
	"{\"event\":\"child_start\",\"sid\":\"SID\",\"thread\":\"main\",\"child_id\":7"
	  ",\"child_class\":\"?\",\"use_shell\":false,\"argv\":[]}\n"
	"{\"event\":\"exec\",\"sid\":\"SID\",\"thread\":\"main\",\"exec_id\":2,\"argv\":[]}\n"
	"{\"event\":\"def_param\",\"sid\":\"SID\",\"thread\":\"main\",\"scope\":\"global\",\"param\":\"k\"}\n"
	"{\"event\":\"error\",\"sid\":\"SID\",\"thread\":\"main\"}\n"
	"{\"event\":\"printf\",\"sid\":\"SID\",\"thread\":\"main\",\"t_abs\":0.000001}\n"
	"{\"event\":\"printf\",\"sid\":\"SID\",\"thread\":\"main\",\"t_abs\":0.000001,\"msg\":\"\"}\n"
	"{\"event\":\"start\",\"sid\":\"SID\",\"thread\":\"main\",\"t_abs\":0.000001,\"argv\":[]}\n");
}

static void test_event_ns_shows_every_time_as_it_was_recorded(void **state)
{
	const struct t2x_options options = { .ns = 1 };
	struct feed f;

	(void)state;
	feed_open_with(&f, &t2x_writer_event, &options);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, NULL, "key", NULL), 5, "s", "v");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_timer, NULL, "t", NULL), 6, "uuuu", UINT64_C(2),
		 UINT64_C(1234567890), UINT64_C(1), UINT64_C(999));
	feed_expect(&f,
	"{\"event\":\"data\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:43.000005999Z\""
	  ",\"file\":\"m.c\",\"line\":1,\"t_abs\":0.000005999,\"t_rel\":0.000005999,\"nesting\":1,\"key\":\"key\""
	  ",\"value\":\"v\"}\n"
	"{\"event\":\"timer\",\"sid\":\"SID\",\"thread\":\"main\",\"time\":\"2026-11-21T03:06:43.000006999Z\""
	  ",\"file\":\"trace2/tr2_tgt_event.c\",\"line\":657,\"name\":\"t\",\"intervals\":2"
	  ",\"t_total\":1.234567890,\"t_min\":0.000000001,\"t_max\":0.000000999}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_commands_print_as_git),
		cmocka_unit_test(test_event_regions_print_as_git),
		cmocka_unit_test(test_event_brief_keeps_time_on_version_and_atexit),
		cmocka_unit_test(test_event_regions_and_data_deeper_than_nesting_are_left_out),
		cmocka_unit_test(test_event_nesting_0_leaves_nothing_out),
		cmocka_unit_test(test_event_texts_are_escaped_everywhere),
		cmocka_unit_test(test_event_names_too_long_to_cache_are_printed_every_time),
		cmocka_unit_test(test_event_optional_members_are_left_out),
		cmocka_unit_test(test_event_ns_shows_every_time_as_it_was_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

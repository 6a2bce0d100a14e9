/* SPDX-License-Identifier: MIT */
/* The formats csv and ndjson: rows that come from templates, and those that cannot, look alike. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/t2x_rows.h"
#include "feed.h"
#include "text/t2x_formats.h"

#define NAMES "time,pid,sid,tid,thread,event,category,label,depth,abs,rel,value,message,id,child_pid,count,min,max," \
	"flag,file,line,repo,period,labels,text\n"

/* Texts, and how they look. */
static char longest[1100], longest_json[1100 + 2];
static const struct {
	const char *text, *csv, *json;
} texts[] = {
	{ "plain", "plain", "\"plain\"" },
	{ "", "\"\"", "\"\"" },
	{ "\"quotes\"", "\"\"\"quotes\"\"\"", "\"\\\"quotes\\\"\"" },
	{ "long text, comma", "\"long text, comma\"", "\"long text, comma\"" },
	{ "line\nend", "\"line\nend\"", "\"line\\nend\"" },
	{ "\r", "\"'\r\"", "\"\\r\"" },
	{ "back\\slash", "back\\slash", "\"back\\\\slash\"" },
	{ "12345678\x01", "12345678\x01", "\"12345678\\u0001\"" },
	{ "caf\xc3\xa9", "caf\xc3\xa9", "\"caf\xc3\xa9\"" },
	{ "bad\xff", "bad\xef\xbf\xbd", "\"bad\\ufffd\"" },
	{ "bad\xff, \"bad\"", "\"bad\xef\xbf\xbd, \"\"bad\"\"\"", "\"bad\\ufffd, \\\"bad\\\"\"" },
	{ "1234567\xc3", "1234567\xef\xbf\xbd", "\"1234567\\ufffd\"" },
	{ "=1+1", "'=1+1", "\"=1+1\"" },
	{ "+1", "'+1", "\"+1\"" },
	{ "-1", "'-1", "\"-1\"" },
	{ "@f(\"x\")", "\"'@f(\"\"x\"\")\"", "\"@f(\\\"x\\\")\"" },
	{ "\t=1", "'\t=1", "\"\\t=1\"" },
	{ "\n=1", "\"'\n=1\"", "\"\\n=1\"" },
	{ "'=1", "''=1", "\"'=1\"" },
	{ "\xef\xbc\x9d" "1", "'\xef\xbc\x9d" "1", "\"\xef\xbc\x9d" "1\"" },
	{ "1=-1", "1=-1", "\"1=-1\"" },
	{ "12345678\x7f", "12345678\x7f", "\"12345678\x7f\"" },
	{ longest, longest, longest_json },
};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* Session ids: one that fits into a template, one that does not. */
static char long_sid[3000];
static const char *const sids[] = { "SID", long_sid };

static int set_up(void **state)
{
	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	snprintf(longest_json, sizeof(longest_json), "\"%s\"", longest);
	memset(long_sid, 's', sizeof(long_sid) - 1);
	return 0;
}

static void open_rows(struct feed *f, const struct t2x_writer *writer, const char *sid)
{
	feed_open(f, writer, 0, 0);
	f->process.sid = sid;
}

static void feed_texts(struct feed *f)
{
	struct t2x_scope *data = feed_scope(f, TLG_STYLE_data, "cat", "key", NULL);
	struct t2x_scope *print = feed_scope(f, TLG_STYLE_printf, NULL, NULL, "%s");

	for (unsigned i = 0; i < TEXTS; i++) {
		feed_hit(f, data, 10, "s", texts[i].text);
		f->flags = TLG_RENDERED;
		feed_hit(f, print, 20, "s", texts[i].text);
		f->flags = 0;
	}
}

static void test_csv_texts_are_utf8_and_no_formulas(void **state)
{
	static char expected[1 << 19];
	struct feed f;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *to = expected + sprintf(expected, NAMES);

		for (unsigned j = 0; j < TEXTS; j++)
			to += sprintf(to,
				      "1795230403000010999,7,%s,0,main,data,cat,key,1,10999,10999,,,,,,,,,m.c,1,,,,%s\n"
				      "1795230403000020999,7,%s,0,main,printf,,,1,20999,,,%s,,,,,,,m.c,2,,,,\n",
				      sids[i], texts[j].csv, sids[i], texts[j].csv);
		open_rows(&f, &t2x_writer_csv, sids[i]);
		feed_texts(&f);
		feed_expect(&f, expected);
	}
}

static void test_ndjson_texts_are_escaped_and_utf8(void **state)
{
	static char expected[1 << 19];
	struct feed f;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *to = expected;

		for (unsigned j = 0; j < TEXTS; j++)
			to += sprintf(to,
				      "{\"time\":\"1795230403000010999\",\"pid\":7,\"sid\":\"%s\",\"tid\":0,"
				      "\"thread\":\"main\",\"event\":\"data\",\"category\":\"cat\",\"label\":\"key\","
				      "\"depth\":1,\"abs\":10999,\"rel\":10999,"
				      "\"file\":\"m.c\",\"line\":1,\"text\":%s}\n"
				      "{\"time\":\"1795230403000020999\",\"pid\":7,\"sid\":\"%s\",\"tid\":0,"
				      "\"thread\":\"main\",\"event\":\"printf\",\"depth\":1,\"abs\":20999,"
				      "\"message\":%s,\"file\":\"m.c\",\"line\":2}\n",
				      sids[i], texts[j].json, sids[i], texts[j].json);
		open_rows(&f, &t2x_writer_ndjson, sids[i]);
		feed_texts(&f);
		feed_expect(&f, expected);
	}
}

/* Their leading digits are remembered. */
static void test_csv_times_of_any_length_are_whole(void **state)
{
	struct t2x_scope *step;
	struct feed f;

	(void)state;
	open_rows(&f, &t2x_writer_csv, "s");
	step = feed_scope(&f, TLG_STYLE_step, "c", "l", NULL);
	step->file = NULL;
	f.process.start_ns += 1000;
	feed_hit(&f, step, 0, "");
	feed_hit(&f, step, 1, "");
	feed_hit(&f, step, 1000, "");
	feed_hit(&f, step, 1001, "");
	feed_hit(&f, step, 1002, "");
	feed_hit(&f, step, 12345678, "");
	feed_hit(&f, step, 12345000, "");
	feed_expect(&f, NAMES
		    "1795230403000000999,7,s,0,main,step,c,l,1,-1,,,,,,,,,,,,,,,\n"
		    "1795230403000001999,7,s,0,main,step,c,l,1,999,,,,,,,,,,,,,,,\n"
		    "1795230403001000999,7,s,0,main,step,c,l,1,999999,,,,,,,,,,,,,,,\n"
		    "1795230403001001999,7,s,0,main,step,c,l,1,1000999,,,,,,,,,,,,,,,\n"
		    "1795230403001002999,7,s,0,main,step,c,l,1,1001999,,,,,,,,,,,,,,,\n"
		    "1795230415345678999,7,s,0,main,step,c,l,1,12345677999,,,,,,,,,,,,,,,\n"
		    "1795230415345000999,7,s,0,main,step,c,l,1,12344999999,,,,,,,,,,,,,,,\n");
}

static void test_csv_regions_have_their_times_and_repositories(void **state)
{
	struct t2x_scope *enter, *leave, *number;
	struct feed f;

	(void)state;
	open_rows(&f, &t2x_writer_csv, "s");
	enter = feed_scope(&f, TLG_STYLE_region_enter, "c", "a,b", "of %d");
	leave = feed_scope(&f, TLG_STYLE_region_leave, "c", NULL, NULL);
	number = feed_scope(&f, TLG_STYLE_data_intmax, "c", "n", NULL);
	enter->repo = 3;
	feed_hit(&f, enter, 0, "i", 5);
	feed_hit(&f, number, 1, "i", -7);
	feed_hit(&f, leave, 2, "");
	feed_expect(&f, NAMES
		    "1795230403000000999,7,s,0,main,region_enter,c,\"a,b\",1,999,,,of 5,,,,,,,m.c,1,3,,,\n"
		    "1795230403000001999,7,s,0,main,data,c,n,2,1999,1000,-7,,,,,,,,m.c,3,,,,\n"
		    "1795230403000002999,7,s,0,main,region_leave,c,,1,2999,2000,,,,,,,,,m.c,2,,,,\n");
}

/* Of a time that 63 bits do not hold nothing is known, nor of what is measured from it. */
static void test_rows_times_out_of_range_are_empty(void **state)
{
	enum { YEAR_2300 = 8640 };          /* 10^12 us from there */
	static const struct t2x_writer *const writers[] = { &t2x_writer_csv, &t2x_writer_ndjson };
	static const char *const expected[] = {
		NAMES
		",7,s,0,main,region_enter,c,l,1,,,,,,,,,,,m.c,1,,,,\n"
		",7,s,0,main,data,c,n,2,,,3,,,,,,,,m.c,2,,,,\n"
		",7,s,0,main,region_leave,c,l,1,,,,,,,,,,,m.c,3,,,,\n",
		"{\"pid\":7,\"sid\":\"s\",\"tid\":0,\"thread\":\"main\",\"event\":\"region_enter\",\"category\":\"c\","
		"\"label\":\"l\",\"depth\":1,\"file\":\"m.c\",\"line\":1}\n"
		"{\"pid\":7,\"sid\":\"s\",\"tid\":0,\"thread\":\"main\",\"event\":\"data\",\"category\":\"c\","
		"\"label\":\"n\",\"depth\":2,\"value\":3,\"file\":\"m.c\",\"line\":2}\n"
		"{\"pid\":7,\"sid\":\"s\",\"tid\":0,\"thread\":\"main\",\"event\":\"region_leave\",\"category\":\"c\","
		"\"label\":\"l\",\"depth\":1,\"file\":\"m.c\",\"line\":3}\n",
	};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct t2x_scope *enter, *leave, *number;
		uint64_t us = YEAR_2300 * UINT64_C(1000000000000);
		struct feed f;

		open_rows(&f, writers[i], "s");
		enter = feed_scope(&f, TLG_STYLE_region_enter, "c", "l", NULL);
		number = feed_scope(&f, TLG_STYLE_data_intmax, "c", "n", NULL);
		leave = feed_scope(&f, TLG_STYLE_region_leave, "c", "l", NULL);
		feed_hit(&f, enter, us, "");
		feed_hit(&f, number, us + 1, "i", 3);
		feed_hit(&f, leave, us + 2, "");
		feed_expect(&f, expected[i]);
	}
}

/* The clock has 0 for what was before 1970. */
static void test_rows_times_before_1970_are_empty(void **state)
{
	struct t2x_process process = { .start_ns = FEED_START_NS, .sid = "s" };
	struct t2x_thread thread = { .process = &process, .name = "main" };
	struct t2x_scope scope = { .label = "l" };
	struct t2x_event ev = { .style = TLG_STYLE_region_leave, .thread = &thread, .scope = &scope };
	struct t2x_cell cells[T2X_COLUMNS];
	struct t2x_rows rows = { .words.n = 0 };
	struct t2x_printer printer = { .own = &rows };

	(void)state;
	t2x_rows_fill(cells, &printer, &ev);
	assert_int_equal(cells[T2X_COLUMN_time].kind, T2X_CELL_EMPTY);
	assert_int_equal(cells[T2X_COLUMN_abs].kind, T2X_CELL_EMPTY);
	assert_int_equal(cells[T2X_COLUMN_rel].kind, T2X_CELL_EMPTY);
	ev.ns = ev.rel_ns = FEED_START_NS;      /* the region began in 1970 */
	t2x_rows_fill(cells, &printer, &ev);
	assert_int_equal(cells[T2X_COLUMN_time].number, FEED_START_NS);
	assert_int_equal(cells[T2X_COLUMN_rel].kind, T2X_CELL_EMPTY);
	ev.rel_ns = 5;
	process.start_ns = 0;
	t2x_rows_fill(cells, &printer, &ev);
	assert_int_equal(cells[T2X_COLUMN_abs].kind, T2X_CELL_EMPTY);
	assert_int_equal(cells[T2X_COLUMN_rel].number, 5);
}

/* A counter of 64 bits is not negative. */
static void test_csv_counters_are_unsigned(void **state)
{
	struct feed f;

	(void)state;
	open_rows(&f, &t2x_writer_csv, "s");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_counter, "c", "n", NULL), 0, "u", UINT64_MAX);
	feed_expect(&f, NAMES
		    "1795230403000000999,7,s,0,main,counter,c,n,1,999,,18446744073709551615,,,,,,,,m.c,1,,,,\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_texts_are_utf8_and_no_formulas),
		cmocka_unit_test(test_ndjson_texts_are_escaped_and_utf8),
		cmocka_unit_test(test_csv_times_of_any_length_are_whole),
		cmocka_unit_test(test_csv_regions_have_their_times_and_repositories),
		cmocka_unit_test(test_rows_times_out_of_range_are_empty),
		cmocka_unit_test(test_rows_times_before_1970_are_empty),
		cmocka_unit_test(test_csv_counters_are_unsigned),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

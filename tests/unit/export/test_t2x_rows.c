/* SPDX-License-Identifier: MIT */
/* The formats csv and ndjson: rows that come from templates, and those that cannot, look alike. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "text/t2x_formats.h"

#define NAMES "time,pid,sid,tid,thread,event,category,label,depth,abs,rel,value,message,id,child_pid,count,min,max," \
	"flag,file,line,repo,period,labels\n"

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
	{ "\r", "\"\r\"", "\"\\r\"" },
	{ "back\\slash", "back\\slash", "\"back\\\\slash\"" },
	{ "12345678\x01", "12345678\x01", "\"12345678\\u0001\"" },
	{ "caf\xc3\xa9", "caf\xc3\xa9", "\"caf\xc3\xa9\"" },
	{ "bad\xff", "bad\xff", "\"bad\\ufffd\"" },
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

static void test_csv_texts_are_quoted_only_where_need_be(void **state)
{
	static char expected[1 << 17];
	struct feed f;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *to = expected + sprintf(expected, NAMES);

		for (unsigned j = 0; j < TEXTS; j++)
			to += sprintf(to,
				      "1795230403000010999,7,%s,0,main,data,cat,key,1,10999,10999,%s,,,,,,,,m.c,1,,,\n"
				      "1795230403000020999,7,%s,0,main,printf,,,1,20999,,,%s,,,,,,,m.c,2,,,\n",
				      sids[i], texts[j].csv, sids[i], texts[j].csv);
		open_rows(&f, &t2x_writer_csv, sids[i]);
		feed_texts(&f);
		feed_expect(&f, expected);
	}
}

static void test_ndjson_texts_are_escaped_and_utf8(void **state)
{
	static char expected[1 << 18];
	struct feed f;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *to = expected;

		for (unsigned j = 0; j < TEXTS; j++)
			to += sprintf(to,
				      "{\"time\":1795230403000010999,\"pid\":7,\"sid\":\"%s\",\"tid\":0,"
				      "\"thread\":\"main\",\"event\":\"data\",\"category\":\"cat\",\"label\":\"key\","
				      "\"depth\":1,\"abs\":10999,\"rel\":10999,\"value\":%s,"
				      "\"file\":\"m.c\",\"line\":1}\n"
				      "{\"time\":1795230403000020999,\"pid\":7,\"sid\":\"%s\",\"tid\":0,"
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
		    "1795230403000000999,7,s,0,main,step,c,l,1,-1,,,,,,,,,,,,,,\n"
		    "1795230403000001999,7,s,0,main,step,c,l,1,999,,,,,,,,,,,,,,\n"
		    "1795230403001000999,7,s,0,main,step,c,l,1,999999,,,,,,,,,,,,,,\n"
		    "1795230403001001999,7,s,0,main,step,c,l,1,1000999,,,,,,,,,,,,,,\n"
		    "1795230403001002999,7,s,0,main,step,c,l,1,1001999,,,,,,,,,,,,,,\n"
		    "1795230415345678999,7,s,0,main,step,c,l,1,12345677999,,,,,,,,,,,,,,\n"
		    "1795230415345000999,7,s,0,main,step,c,l,1,12344999999,,,,,,,,,,,,,,\n");
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
		    "1795230403000000999,7,s,0,main,region_enter,c,\"a,b\",1,999,,,of 5,,,,,,,m.c,1,3,,\n"
		    "1795230403000001999,7,s,0,main,data,c,n,2,1999,1000,-7,,,,,,,,m.c,3,,,\n"
		    "1795230403000002999,7,s,0,main,region_leave,c,,1,2999,2000,,,,,,,,,m.c,2,,,\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_texts_are_quoted_only_where_need_be),
		cmocka_unit_test(test_ndjson_texts_are_escaped_and_utf8),
		cmocka_unit_test(test_csv_times_of_any_length_are_whole),
		cmocka_unit_test(test_csv_regions_have_their_times_and_repositories),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

/* SPDX-License-Identifier: MIT */
/* OpenTelemetry spans: ids from session ids, parents, gaps.  check_exports.sh compares numbers. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "text/t2x_formats.h"

#define LINE(name, pid) \
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":[" \
	"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" name "\"}}," \
	"{\"key\":\"process.pid\",\"value\":{\"intValue\":\"" pid "\"}}]}," \
	"\"scopeSpans\":[{\"scope\":{\"name\":\"libtrace2\"},\"spans\":["
/* SHA-256 of "a": bytes 0 to 15, 16 to 23; of "b" and "x": 16 to 23 */
#define A_TRACE "ca978112ca1bbdcafac231b39a23dc4d"
#define A_SPAN "a786eff8147c4e72"
#define B_SPAN "8bbd7a0088d42c4a"
#define X_SPAN "c8530fb1903cc4db"
#define SPAN(name, id, parent, start, end) \
	"{\"name\":\"" name "\",\"traceId\":\"" A_TRACE "\",\"spanId\":\"" id "\"," parent "\"kind\":1," \
	"\"startTimeUnixNano\":\"17952304030" start "\",\"endTimeUnixNano\":\"17952304030" end "\"," \
	"\"attributes\":["
#define WITHIN(id) "\"parentSpanId\":\"" id "\","
#define TEXT(key, text) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" text "\"}}"
#define OF(category, thread) TEXT("trace2.category", category) "," TEXT("thread.name", thread)
#define OPEN "," TEXT("trace2.end", "none: it was open at the end of the trace") "]}"
#define EXIT_CODE(code) ",{\"key\":\"process.exit.code\",\"value\":{\"intValue\":\"" code "\"}}"
#define END "]}]}]}\n"

static void become(struct feed *f, uint32_t pid, const char *sid)
{
	f->process.sid = sid;
	f->process.pid = f->process.stream = pid;
	f->process.number = f->thread[0].number = pid;
}

/* End the feed; this is in what was printed. */
static void expect_service(struct feed *f, const char *line)
{
	char *text = feed_finish(f);

	if (!strstr(text, line))
		print_error("there is no %s in:\n%s", line, text);
	assert_non_null(strstr(text, line));
	free(text);
}

static void test_otlp_process_is_a_span_within_that_of_its_parent(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a/x/b");
	feed(&f, start, 10, "s", "/bin/prog");
	feed_expect(&f, LINE("prog", "8")
		    SPAN("prog", B_SPAN, WITHIN(X_SPAN), "00000000", "00010999") OF("process", "main") OPEN END);
}

static void test_otlp_process_without_parent_is_a_root(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a");
	feed(&f, atexit, 10, "i", 0);
	feed_expect(&f, LINE("pid 8", "8") SPAN("pid 8", A_SPAN, "", "00000000", "00010999")
		    OF("process", "main") EXIT_CODE("0") "]}" END);
}

/* It is an error to end by a signal, or with another code than 0; the last message says why. */
static void test_otlp_process_that_fails_has_the_status_error(void **state)
{
	static char text[256 + 3], cut[256];
	static const struct { int code; const char *error, *said; } cases[] = {
		{ 3, NULL, "exit code 3" }, { -1, "bad \"x\"", "bad \\\"x\\\"" }, { 1, text, cut },
	};
	struct feed f;

	(void)state;
	memset(text, 'x', 254);
	memcpy(cut, text, 254);
	memcpy(text + 254, "\xe2\x82\xac", 4);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char expected[2048];

		feed_open(&f, &t2x_writer_otlp, 0, 0);
		become(&f, 8, "a");
		if (cases[i].error)
			feed_hit(&f, feed_scope(&f, TLG_STYLE_error, NULL, NULL, "%s"), 5, "s", cases[i].error);
		feed(&f, exit, 9, "i", cases[i].code);
		feed(&f, atexit, 10, "i", cases[i].code);
		snprintf(expected, sizeof(expected), LINE("pid 8", "8")
			 SPAN("pid 8", A_SPAN, "", "00000000", "00010999") OF("process", "main") EXIT_CODE("%d")
			 "],\"status\":{\"message\":\"%s\",\"code\":2}}" END,
			 cases[i].code, cases[i].said);
		feed_expect(&f, expected);
	}
}

static void test_otlp_process_with_a_signal_has_the_status_error(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a");
	feed(&f, signal, 10, "i", 11);
	feed_expect(&f, LINE("pid 8", "8") SPAN("pid 8", A_SPAN, "", "00000000", "00010999") OF("process", "main")
		    ",{\"key\":\"trace2.signal\",\"value\":{\"intValue\":\"11\"}}],"
		    "\"status\":{\"message\":\"signal 11\",\"code\":2}}" END);
}

/* What it reports is no error of a program that succeeds, as a warning is not. */
static void test_otlp_process_that_succeeds_has_no_status(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_error, NULL, NULL, "hm"), 5, "");
	feed(&f, atexit, 10, "i", 0);
	feed_expect(&f, LINE("pid 8", "8") SPAN("pid 8", A_SPAN, "", "00000000", "00010999")
		    OF("process", "main") EXIT_CODE("0") "]}" END);
}

/* Ids that are not derived: what is printed for the first, second, ... of this process. */
#define FIRST "5d218ceb5a413595"
#define SECOND "174d72b6d6487cab"

static void test_otlp_region_is_in_its_thread_which_is_in_its_process(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a");
	f.current = 1;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "cat", "lab", "%s"), 1010, "s", "\xff");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_leave, "cat", "lab", NULL), 1020, "");
	feed(&f, thread_exit, 1030, "");
	feed_expect(&f, LINE("pid 8", "8")
		    SPAN("lab", FIRST, WITHIN(SECOND), "01010999", "01020999")
		    OF("cat", "th01:worker") "," TEXT("trace2.message", "\\ufffd") "]},"
		    SPAN("th01:worker", SECOND, WITHIN(A_SPAN), "01000000", "01030999")
		    OF("thread", "th01:worker") "]}" END);
}

static void test_otlp_process_without_a_name_has_its_number(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a");
	feed(&f, start, 10, "s", "");
	feed(&f, cmd_name, 20, "ss", NULL, NULL);
	feed_expect(&f, LINE("pid 8", "8")
		    SPAN("pid 8", A_SPAN, "", "00000000", "00020999") OF("process", "main") OPEN END);
}

static void test_otlp_forked_process_has_the_name_of_its_parent(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	f.process.start_ticks = 700;
	become(&f, 8, "a");
	feed(&f, start, 10, "s", "/bin/prog");
	become(&f, 9, "a/b");
	feed(&f, atexit, 20, "i", 0);
	become(&f, 8, "a");
	feed(&f, cmd_name, 30, "ss", "other", "other");
	become(&f, 9, "a/b");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "cat", "lab", NULL), 40, "");
	feed(&f, thread_exit, 50, "");
	expect_service(&f, LINE("prog", "9"));
}

static void test_otlp_gap_is_a_span(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_otlp, 0, 0);
	become(&f, 8, "a");
	feed(&f, step, 10, "");
	feed_gap(&f, 20, (struct t2x_gap){ .events = 7, .is_known = 1 });
	feed_expect(&f, LINE("pid 8", "8")
		    SPAN("events lost", FIRST, WITHIN(A_SPAN), "00010999", "00020000") OF("trace2", "main")
		    ",{\"key\":\"trace2.lost\",\"value\":{\"intValue\":\"7\"}}]},"
		    SPAN("pid 8", A_SPAN, "", "00000000", "00020000") OF("process", "main") OPEN END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_otlp_process_is_a_span_within_that_of_its_parent),
		cmocka_unit_test(test_otlp_process_without_parent_is_a_root),
		cmocka_unit_test(test_otlp_process_that_fails_has_the_status_error),
		cmocka_unit_test(test_otlp_process_with_a_signal_has_the_status_error),
		cmocka_unit_test(test_otlp_process_that_succeeds_has_no_status),
		cmocka_unit_test(test_otlp_region_is_in_its_thread_which_is_in_its_process),
		cmocka_unit_test(test_otlp_process_without_a_name_has_its_number),
		cmocka_unit_test(test_otlp_forked_process_has_the_name_of_its_parent),
		cmocka_unit_test(test_otlp_gap_is_a_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

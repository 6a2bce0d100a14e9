/* SPDX-License-Identifier: MIT */
/* test_t2x_request.c - what a request to `t2 serve' asks for. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "serve/t2x_request.h"

static struct t2x_request got;

static enum t2x_page get(const char *target)
{
	t2x_request_parse(&got, "GET", target);
	return got.page;
}

static unsigned refused(const char *target)
{
	assert_int_equal(get(target), T2X_PAGE_NONE);
	assert_non_null(got.why);
	return got.status;
}

static void test_request_pages_are_found(void **state)
{
	(void)state;
	assert_int_equal(get("/"), T2X_PAGE_INDEX);
	assert_int_equal(get("/?x=y"), T2X_PAGE_INDEX);
	assert_int_equal(get("/processes.json"), T2X_PAGE_PROCESSES);
	assert_int_equal(get("/healthz"), T2X_PAGE_HEALTH);
	assert_int_equal(get("/metrics"), T2X_PAGE_METRICS);
	assert_int_equal(get("/pid/42/"), T2X_PAGE_VIEW);
	assert_int_equal(got.pid, 42);
	assert_int_equal(get("/pid/42"), T2X_PAGE_MOVED);
	assert_int_equal(get("/pid/42/debug/pprof"), T2X_PAGE_MOVED);
	assert_int_equal(get("/pid/42/debug/pprof/"), T2X_PAGE_PPROF);
	assert_int_equal(get("/file/run.tlg"), T2X_PAGE_FILE);
	assert_string_equal(got.name, "run.tlg");
	assert_int_equal(get("/file/a%20b%2Etlg"), T2X_PAGE_FILE);
	assert_string_equal(got.name, "a b.tlg");
	assert_int_equal(get("/ring/trace2-1.ring"), T2X_PAGE_RING);
}

static void test_request_profiles_have_the_names_of_go(void **state)
{
	static const char *const pairs[][2] = {
		{ "profile", "cpu" }, { "heap", "heap" }, { "allocs", "allocs" }, { "block", "block" },
		{ "mutex", "mutex" }, { "threadcreate", "threadcreate" }, { "goroutine", "threads" },
		{ "threads", "threads" }, { "wall", "wall" },
	};
	char target[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		snprintf(target, sizeof(target), "/pid/7/debug/pprof/%s", pairs[i][0]);
		assert_int_equal(get(target), T2X_PAGE_PROFILE);
		assert_string_equal(got.pprof.profile, pairs[i][1]);
		assert_true(got.is_pprof);
	}
	assert_int_equal(get("/pid/7/debug/pprof/trace"), T2X_PAGE_TRACE);
	assert_int_equal(get("/pid/7/debug/pprof/cmdline"), T2X_PAGE_CMDLINE);
	assert_int_equal(get("/pid/7/debug/pprof/symbol?0x1+0x2"), T2X_PAGE_SYMBOL);
	assert_string_equal(got.symbols, "0x1+0x2");
	assert_int_equal(refused("/pid/7/debug/pprof/nonsense"), 404);
	assert_true(got.is_pprof);
}

static void test_request_query_is_read(void **state)
{
	(void)state;
	assert_int_equal(get("/pid/7/debug/pprof/profile?seconds=5"), T2X_PAGE_PROFILE);
	assert_int_equal(got.pprof.ms, 5000);
	get("/pid/7/debug/pprof/trace?seconds=0.25&format=chrome");
	assert_int_equal(got.pprof.ms, 250);
	assert_true(got.pprof.is_chrome);
	get("/pid/7/debug/pprof/heap?gc=1&debug=1");
	assert_int_equal(got.pprof.debug, 1);
	get("/pid/7/debug/pprof/heap?debug=1&debug=2");
	assert_int_equal(got.pprof.debug, 1);
	get("/pid/7/debug/pprof/heap?%64ebug=%32&&=&x");
	assert_int_equal(got.pprof.debug, 2);
	get("/pid/7/debug/pprof/heap?seconds=300&debug=0");
	assert_int_equal(got.pprof.ms, T2X_PPROF_MAX_MS);
}

static void test_request_wrong_query_is_refused(void **state)
{
	static const char *const wrong[] = { "seconds=", "seconds=0", "seconds=-1", "seconds=x", "seconds=1x",
					     "seconds=301", "seconds=99999999999999999999", "seconds=300.001",
					     "seconds=1.2345", "seconds=0.0001", "debug=3", "debug=", "debug=11",
					     "seconds=1&debug=1", "debug=2&seconds=1", "format=xml", "debug=%zz",
					     "seconds=%00", "seconds=1e3" };
	char target[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(target, sizeof(target), "/pid/7/debug/pprof/heap?%s", wrong[i]);
		assert_int_equal(refused(target), 400);
		assert_true(got.is_pprof);
	}
}

static void test_request_path_leads_nowhere_else(void **state)
{
	static const char *const wrong[] = {
		"/file/", "/file/..", "/file/../x", "/file/%2e%2e%2fetc%2fpasswd", "/file/a%2fb", "/file/.hidden",
		"/ring//etc/passwd", "/file//etc/passwd", "/pid/", "/pid/0/", "/pid/x/", "/pid/-1/", "/pid/1x/",
		"/pid/99999999999999999999/", "/pid/2147483648/", "/pid/1/x", "/pid/1/debug/pprofx", "/metrics/", "//",
		"/pid/1/debug/pprof/../../..", "/pid/1/../2/", "/index.html",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(refused(wrong[i]), 404);
}

static void test_request_damaged_path_is_refused(void **state)
{
	static const char *const wrong[] = { "", "*", "http://x/", "/%", "/%4", "/%zz", "/a%00b", "/\x01", "/%7f",
					     "metrics" };
	char lengthy[2 * T2X_REQUEST_TARGET];

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(refused(wrong[i]), 400);
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	lengthy[0] = '/';
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_int_equal(refused(lengthy), 414);
	lengthy[T2X_REQUEST_TARGET - 1] = '\0';
	memcpy(lengthy, "/file/", 6);
	assert_int_equal(refused(lengthy), 404);
}

static void test_request_only_symbol_is_posted(void **state)
{
	(void)state;
	t2x_request_parse(&got, "POST", "/pid/7/debug/pprof/symbol");
	assert_int_equal(got.page, T2X_PAGE_SYMBOL);
	t2x_request_parse(&got, "HEAD", "/metrics");
	assert_int_equal(got.page, T2X_PAGE_METRICS);
	t2x_request_parse(&got, "POST", "/pid/7/debug/pprof/profile");
	assert_int_equal(got.page, T2X_PAGE_NONE);
	assert_int_equal(got.status, 405);
	t2x_request_parse(&got, "DELETE", "/");
	assert_int_equal(got.status, 405);
	t2x_request_parse(&got, "POST", "/nothing");
	assert_int_equal(got.status, 404);
}

static void test_request_addresses_are_read(void **state)
{
	const char *text = "0x1f+ff+0xFFFFFFFFFFFFFFFF";
	const char *wrong[] = { "", "+", "0x", "x", "12g", "11112222333344445", "0x1-0x2" };
	uint64_t address;

	(void)state;
	assert_true(t2x_pprof_address(&text, &address));
	assert_int_equal(address, 0x1f);
	assert_true(t2x_pprof_address(&text, &address));
	assert_int_equal(address, 0xff);
	assert_true(t2x_pprof_address(&text, &address));
	assert_true(address == UINT64_MAX);
	assert_false(t2x_pprof_address(&text, &address));
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(t2x_pprof_address(&wrong[i], &address));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_pages_are_found),
		cmocka_unit_test(test_request_profiles_have_the_names_of_go),
		cmocka_unit_test(test_request_query_is_read),
		cmocka_unit_test(test_request_wrong_query_is_refused),
		cmocka_unit_test(test_request_path_leads_nowhere_else),
		cmocka_unit_test(test_request_damaged_path_is_refused),
		cmocka_unit_test(test_request_only_symbol_is_posted),
		cmocka_unit_test(test_request_addresses_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_t2x_guard.c - who may ask `t2 serve', and who not. */
#include "t2test.h"

#include <string.h>

#include "serve/t2x_guard.h"

static const char token[] = "0123456789abcdefXYZ";

static void test_guard_host_of_loopback_is_right(void **state)
{
	(void)state;
	assert_true(t2x_guard_host("127.0.0.1:7070", 7070));
	assert_true(t2x_guard_host("localhost:7070", 7070));
	assert_true(t2x_guard_host("LocalHost:7070", 7070));
	assert_true(t2x_guard_host("[::1]:7070", 7070));
	assert_true(t2x_guard_host("127.0.0.1", 80));
}

static void test_guard_host_of_others_is_wrong(void **state)
{
	static const char *const hosts[] = { "", "evil.example:7070", "127.0.0.1", "127.0.0.1:7071", "127.0.0.1:70700",
					     "localhost.:7070", "localhost.evil.example:7070", "127.0.0.1:7070 ",
					     " 127.0.0.1:7070", "127.0.0.1:07070", "127.1:7070", "0.0.0.0:7070" };

	(void)state;
	assert_false(t2x_guard_host(NULL, 7070));
	for (unsigned i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_false(t2x_guard_host(hosts[i], 7070));
}

static void test_guard_bearer_with_token_may(void **state)
{
	(void)state;
	assert_true(t2x_guard_token("Bearer 0123456789abcdefXYZ", token));
	assert_true(t2x_guard_token("bearer   0123456789abcdefXYZ", token));
}

/* "t2:0123456789abcdefXYZ", ":0123456789abcdefXYZ" */
static void test_guard_basic_with_token_may(void **state)
{
	(void)state;
	assert_true(t2x_guard_token("Basic dDI6MDEyMzQ1Njc4OWFiY2RlZlhZWg==", token));
	assert_true(t2x_guard_token("basic OjAxMjM0NTY3ODlhYmNkZWZYWVo=", token));
}

static void test_guard_wrong_token_may_not(void **state)
{
	static const char *const wrong[] = {
		"", "Bearer", "Bearer ", "Bearer 0123456789abcdefXY", "Bearer 0123456789abcdefXYZ0",
		"Bearer 0123456789abcdefXYz", "Bearer 0123456789abcdefXYZ0123456789abcdefXYZ", "Basic", "Basic ",
		"Basic :", "Basic ====", "Basic MDEyMzQ1Njc4OWFiY2RlZlhZWg==", "Basic dDI6", "Basic dDI6MDEyMw==",
		"Basic dDI6MDEyMzQ1Njc4OWFiY2RlZlhZWg==x", "Digest 0123456789abcdefXYZ", "0123456789abcdefXYZ",
	};
	char lengthy[4096] = "Basic ";

	(void)state;
	assert_false(t2x_guard_token(NULL, token));
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(t2x_guard_token(wrong[i], token));
	memset(lengthy + 6, 'A', sizeof(lengthy) - 7);
	assert_false(t2x_guard_token(lengthy, token));
}

static void test_guard_empty_token_lets_nobody_in(void **state)
{
	(void)state;
	assert_false(t2x_guard_token("Bearer ", ""));
	assert_false(t2x_guard_token("Basic dDI6", ""));
}

static void test_guard_token_is_neither_short_nor_strange(void **state)
{
	char lengthy[T2X_GUARD_TOKEN_MAX + 2];

	(void)state;
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_true(t2x_guard_is_token(token));
	assert_true(t2x_guard_is_token(lengthy + 1));
	assert_false(t2x_guard_is_token(lengthy));
	assert_false(t2x_guard_is_token("0123456789abcde"));
	assert_false(t2x_guard_is_token("0123456789abcdef g"));
	assert_false(t2x_guard_is_token("0123456789abcdef:g"));
	assert_false(t2x_guard_is_token("0123456789abcdef\x80g"));
}

static void test_guard_other_site_is_foreign(void **state)
{
	(void)state;
	assert_false(t2x_guard_is_foreign(NULL));
	assert_false(t2x_guard_is_foreign("none"));
	assert_false(t2x_guard_is_foreign("same-origin"));
	assert_true(t2x_guard_is_foreign("same-site"));
	assert_true(t2x_guard_is_foreign("cross-site"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guard_host_of_loopback_is_right),
		cmocka_unit_test(test_guard_host_of_others_is_wrong),
		cmocka_unit_test(test_guard_bearer_with_token_may),
		cmocka_unit_test(test_guard_basic_with_token_may),
		cmocka_unit_test(test_guard_wrong_token_may_not),
		cmocka_unit_test(test_guard_empty_token_lets_nobody_in),
		cmocka_unit_test(test_guard_token_is_neither_short_nor_strange),
		cmocka_unit_test(test_guard_other_site_is_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

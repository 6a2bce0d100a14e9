/* SPDX-License-Identifier: MIT */
/* Arguments: which passwords are hidden, how lists and nulls are described. */
#include "t2test.h"

#include <string.h>

#include "record/tr2_emit.h"
#include "settings/tr2_env.h"

/* text as it is recorded. */
static const char *redacted(const char *text)
{
	static char to[256];
	struct tr2_args args;
	size_t n = 0;

	tr2_args_init(&args);
	tr2_g_settings.redact = 1;
	tr2_args_redacted(&args, text);
	for (const struct tr2_piece *piece = args.body.pieces; piece < args.body.pieces_end; piece++) {
		memcpy(to + n, piece->bytes, piece->count);
		n += piece->count;
	}
	to[n] = '\0';
	assert_int_equal(args.room.values[0].value, n);
	assert_int_equal(args.body.bytes, n);
	return to;
}

static void test_redaction_hides_passwords_in_http_urls(void **state)
{
	(void)state;
	assert_string_equal(redacted("https://user:pw@host/x"), "https://user:<REDACTED>@host/x");
	assert_string_equal(redacted("http://user:pw@host"), "http://user:<REDACTED>@host");
	assert_string_equal(redacted("https://u:p:q@h"), "https://u:<REDACTED>@h");
	assert_string_equal(redacted("https://:@h"), "https://:<REDACTED>@h");
}

static void test_redaction_leaves_everything_else(void **state)
{
	static const char *const untouched[] = {
		"https://u@h", "https://h/a:b@c", "HTTPS://u:p@h", "ftp://u:p@h", "xhttps://u:p@h", "https://", "u:p@h",
		"",
		"https://u:p", "https://u:p/x@y", "-https://u:p@h",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(untouched) / sizeof(untouched[0]); i++)
		assert_string_equal(redacted(untouched[i]), untouched[i]);
}

static void test_redaction_can_be_switched_off(void **state)
{
	struct tr2_args args;

	(void)state;
	tr2_args_init(&args);
	tr2_g_settings.redact = 0;
	tr2_args_redacted(&args, "https://u:p@h");
	assert_string_equal(args.room.pieces[0].bytes, "https://u:p@h");
	assert_int_equal(args.room.values[0].value, 13);
}

static void test_args_null_text_is_not_an_empty_one(void **state)
{
	struct tr2_args args;

	(void)state;
	tr2_args_init(&args);
	tr2_args_text(&args, NULL);
	tr2_args_text(&args, "");
	assert_int_equal(args.room.values[0].type, TLG_ARG_NULL);
	assert_int_equal(args.room.values[1].type, TLG_ARG_TEXT);
	assert_int_equal(args.room.values[1].value, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redaction_hides_passwords_in_http_urls),
		cmocka_unit_test(test_redaction_leaves_everything_else),
		cmocka_unit_test(test_redaction_can_be_switched_off),
		cmocka_unit_test(test_args_null_text_is_not_an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Shell quoting, JSON escapes, times of day.  What is expected is what git shows for the same words. */
#include "t2test.h"

#include <string.h>

#include "text/t2x_json.h"
#include "text/t2x_text.h"

/* Output that is never written: it is looked at in the buffer. */
static struct t2x_out out;

static int set_up(void **state)
{
	(void)state;
	return t2x_out_init(&out, -1);
}

static int tear_down(void **state)
{
	(void)state;
	t2x_out_free(&out);
	return 0;
}

static const char *take(void)
{
	t2x_out_char(&out, '\0');
	out.pos = out.buf;
	return out.buf;
}

static const char *quote(const char *text)
{
	t2x_text_quoted(&out, text, strlen(text));
	return take();
}

static const char *escape(const char *text, size_t n)
{
	t2x_json_escaped(&out, text, n);
	return take();
}

static void test_text_words_are_quoted_as_git_does(void **state)
{
	static const char *const words[][2] = {
		{ "prog", "prog" }, { "", "''" }, { "a b", "'a b'" }, { "it's", "'it'\\''s'" },
		{ "bang!", "'bang'\\!''" }, { "tab\there", "'tab\there'" }, { "nl\nx", "'nl\nx'" },
		{ "+,-./:=@_^", "+,-./:=@_^" }, { "%~#", "'%~#'" }, { "back\\slash", "'back\\slash'" },
		{ "dq\"x", "'dq\"x'" }, { "\xc3\xa9", "'\xc3\xa9'" }, { "\xff\xfe", "'\xff\xfe'" },
		{ "\x01\x1f\x7f", "'\x01\x1f\x7f'" }, { "''", "''\\'''\\'''" }, { "!!", "''\\!''\\!''" },
		{ "a'!b", "'a'\\'''\\!'b'" }, { "AZaz09", "AZaz09" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_string_equal(quote(words[i][0]), words[i][1]);
}

static void test_text_argv_is_joined_by_blanks(void **state)
{
	const struct t2x_arg argv[] = {
		{ .type = TLG_ARG_TEXT, .length = 1, .text = "abc" },
		{ .type = TLG_ARG_TEXT, .length = 0, .text = "" },
		{ .type = TLG_ARG_TEXT, .length = 3, .text = "x y" },
	};

	(void)state;
	t2x_text_argv(&out, argv, 3);
	assert_string_equal(take(), "a '' 'x y'");
	t2x_text_argv(&out, argv, 0);
	assert_string_equal(take(), "");
}

static void test_json_control_bytes_are_escaped(void **state)
{
	static const char all[] =
		"\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f"
		"\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c"
		"\\u001d\\u001e\\u001f";
	char text[31];

	(void)state;
	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] = (char)(i + 1);
	assert_string_equal(escape(text, sizeof(text)), all);
}

static void test_json_all_other_bytes_stay(void **state)
{
	char text[256];
	unsigned n = 0;

	(void)state;
	for (unsigned c = 0x20; c < 256; c++) {
		if (c != '"' && c != '\\')
			text[n++] = (char)c;
	}
	text[n] = '\0';
	assert_string_equal(escape(text, n), text);
}

/* The search runs over eight bytes at a time: an escape is found at every place of them. */
static void test_json_escape_is_found_at_every_offset(void **state)
{
	static const struct { char c; const char *escaped; } bytes[] = {
		{ '"', "\\\"" }, { '\\', "\\\\" }, { '\n', "\\n" }, { 0x1f, "\\u001f" }
	};

	(void)state;
	for (unsigned b = 0; b < sizeof(bytes) / sizeof(bytes[0]); b++) {
		for (size_t at = 0; at < 26; at++) {
			char text[] = "\x80 bcdefgh!jklmnop#rstuvwxy", expected[64];

			text[at] = bytes[b].c;
			memcpy(expected, text, at);
			strcpy(expected + at, bytes[b].escaped);
			strcat(expected, text + at + 1);
			assert_string_equal(escape(text, 26), expected);
		}
	}
}

static void test_json_members_begin_with_a_comma(void **state)
{
	const struct t2x_arg argv[] = {
		{ .type = TLG_ARG_TEXT, .length = 1, .text = "a" }, { .type = TLG_ARG_TEXT, .length = 1, .text = "\"" },
		{ .type = TLG_ARG_NULL },
	};

	(void)state;
	t2x_json_argv(&out, "v", NULL, argv, 0);
	t2x_json_argv(&out, "v", "git", argv, 0);
	t2x_json_argv(&out, "v", "git", argv, 2);
	t2x_json_int(&out, "i", INT64_MIN);
	t2x_json_arg(&out, "s", &argv[1]);
	t2x_json_arg(&out, "null", &argv[2]);
	assert_string_equal(take(), ",\"v\":[],\"v\":[\"git\"],\"v\":[\"git\",\"a\",\"\\\"\"]"
				    ",\"i\":-9223372036854775808,\"s\":\"\\\"\"");
}

static void check_times(uint64_t us, int32_t utcoff, const char *local, const char *utc)
{
	struct t2x_printer here = { .out = &out }, there = { .out = &out };
	struct t2x_process process = { .utcoff = utcoff };
	struct t2x_thread thread = { .process = &process };
	struct t2x_event ev = { .thread = &thread, .ns = us * 1000 };
	char text[64];

	/* The second time round the cached second is used. */
	for (unsigned i = 0; i < 2; i++) {
		*t2x_text_local_time(&here, text, &ev) = '\0';
		assert_string_equal(text, local);
		*t2x_text_utc(&there, text, &ev) = '\0';
		assert_string_equal(text, utc);
	}
}

static void test_text_times_of_day_know_the_zone(void **state)
{
	(void)state;
	check_times(UINT64_C(1795230403695930), 0, "03:06:43.695930", "2026-11-21T03:06:43.695930Z");
	check_times(UINT64_C(1795230403695930), 86399, "03:06:42.695930", "2026-11-21T03:06:43.695930Z");
	check_times(UINT64_C(1795230403000001), -4 * 3600, "23:06:43.000001", "2026-11-21T03:06:43.000001Z");
	check_times(UINT64_C(951782400999999), 0, "00:00:00.999999", "2000-02-29T00:00:00.999999Z");
	check_times(0, -1, "23:59:59.000000", "1970-01-01T00:00:00.000000Z");
	check_times(UINT64_MAX / 1000, 0, "23:34:33.709551", "2554-07-21T23:34:33.709551Z");
}

static void test_text_cached_second_follows_zone_and_time(void **state)
{
	struct t2x_printer printer = { .out = &out };
	struct t2x_process east = { .utcoff = 3600, .number = 1 }, west = { .utcoff = -3600, .number = 2 };
	struct t2x_thread thread = { .process = &east };
	struct t2x_event ev = { .thread = &thread, .ns = 0 };
	char text[64];

	(void)state;
	*t2x_text_local_time(&printer, text, &ev) = '\0';
	assert_string_equal(text, "01:00:00.000000");
	thread.process = &west;
	*t2x_text_local_time(&printer, text, &ev) = '\0';
	assert_string_equal(text, "23:00:00.000000");
	ev.ns = 1000001999;
	*t2x_text_local_time(&printer, text, &ev) = '\0';
	assert_string_equal(text, "23:00:01.000001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_words_are_quoted_as_git_does),
		cmocka_unit_test(test_text_argv_is_joined_by_blanks),
		cmocka_unit_test(test_json_control_bytes_are_escaped),
		cmocka_unit_test(test_json_all_other_bytes_stay),
		cmocka_unit_test(test_json_escape_is_found_at_every_offset),
		cmocka_unit_test(test_json_members_begin_with_a_comma),
		cmocka_unit_test(test_text_times_of_day_know_the_zone),
		cmocka_unit_test(test_text_cached_second_follows_zone_and_time),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

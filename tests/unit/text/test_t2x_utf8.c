/* SPDX-License-Identifier: MIT */
/* Texts of all short lengths: several bytes are looked at together, so each length and place is a case of its own. */
#include "t2test.h"

#include <string.h>

#include "text/t2x_utf8.h"

enum { LENGTHS = 28 };

struct text {
	char bytes[256];
	size_t n;
};

static int collect(void *target, const char *bytes, size_t n)
{
	struct text *text = target;

	assert_true(n < sizeof(text->bytes) - text->n);
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	return 0;
}

static struct text to_json(const char *text, size_t n)
{
	struct text json = { .n = 0 };
	struct t2x_out out;

	assert_int_equal(t2x_out_init_fn(&out, collect, &json), 0);
	t2x_utf8_json(&out, text, n);
	assert_int_equal(t2x_out_flush(&out), 0);
	t2x_out_free(&out);
	return json;
}

/* n letters, of which the one at this place is something else in the text, and in JSON. */
static void expect(size_t n, size_t at, const char *in_text, const char *in_json)
{
	char text[64], json[64];
	size_t text_bytes = n - 1 + strlen(in_text), json_bytes = n + 1 + strlen(in_json);
	struct text found;

	memset(text, 'x', sizeof(text));
	memset(json, 'x', sizeof(json));
	memcpy(text + at, in_text, strlen(in_text));
	json[0] = json[json_bytes - 1] = '"';
	memcpy(json + 1 + at, in_json, strlen(in_json));
	found = to_json(text, text_bytes);
	assert_int_equal(found.n, json_bytes);
	assert_memory_equal(found.bytes, json, json_bytes);
}

static void test_utf8_json_each_length_and_place_is_escaped(void **state)
{
	static const char *const cases[][2] = {
		{ "y", "y" }, { "\"", "\\\"" }, { "\\", "\\\\" }, { "\n", "\\n" }, { "\x01", "\\u0001" },
		{ "\x1f", "\\u001f" }, { "\x7f", "\x7f" }, { "\xff", "\\ufffd" }, { "\x80", "\\ufffd" },
		{ "\xc3\xa4", "\xc3\xa4" }, { "\xe2\x82\xac", "\xe2\x82\xac" },
	};

	(void)state;
	for (size_t n = 1; n < LENGTHS; n++)
		for (size_t at = 0; at < n; at++)
			for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
				expect(n, at, cases[i][0], cases[i][1]);
}

static void test_utf8_valid_ends_at_the_first_bad_byte(void **state)
{
	char text[LENGTHS];

	(void)state;
	assert_int_equal(t2x_utf8_valid("", 0), 0);
	for (size_t n = 1; n < LENGTHS; n++) {
		for (size_t at = 0; at < n; at++) {
			memset(text, 'x', n);
			text[at] = (char)0xc3;      /* what follows does not go on with it */
			assert_int_equal(t2x_utf8_valid(text, n), at);
		}
		memset(text, 'x', n);
		assert_int_equal(t2x_utf8_valid(text, n), n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8_json_each_length_and_place_is_escaped),
		cmocka_unit_test(test_utf8_valid_ends_at_the_first_bad_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

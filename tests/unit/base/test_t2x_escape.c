/* SPDX-License-Identifier: MIT */
/* What reaches a terminal: characters that do no harm, everything else as \xNN, however the text is cut. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "base/t2x_escape.h"
#include "cli/t2x_terminal.h"

struct sink {
	char text[1 << 16];
	size_t n;
};

static void put(void *to, const char *text, size_t n)
{
	struct sink *sink = to;

	assert_true(n < sizeof(sink->text) - sink->n);
	memcpy(sink->text + sink->n, text, n);
	sink->n += n;
	sink->text[sink->n] = '\0';
}

/* The text in pieces of so many bytes. */
static void escape(struct sink *sink, int is_json, int is_line, const char *text, size_t n, size_t piece)
{
	struct t2x_escape escape = { .put = put, .to = sink, .is_json = is_json, .is_line = is_line };

	sink->n = 0;
	sink->text[0] = '\0';
	for (size_t at = 0; at < n; at += piece)
		t2x_escape_text(&escape, text + at, n - at < piece ? n - at : piece);
	t2x_escape_end(&escape);
}

static void expect(const char *text, size_t n, const char *expected)
{
	struct sink sink;

	for (size_t piece = 1; piece <= n + 1; piece++) {
		escape(&sink, 0, 0, text, n, piece);
		assert_string_equal(sink.text, expected);
	}
}

/* A literal, which may hold NULs. */
#define expect_literal(text, expected) expect((text), sizeof(text) - 1, (expected))

static void test_escape_harmless_text_stays(void **state)
{
	(void)state;
	expect_literal("", "");
	expect_literal("plain ~ \\x1b stays\nnext\n", "plain ~ \\x1b stays\nnext\n");
	expect_literal("gr\303\274n \342\202\254 \360\237\230\200", "gr\303\274n \342\202\254 \360\237\230\200");
	/* the first characters of two, three and four bytes that are none of ours, and the last of all */
	expect_literal("\302\240\340\240\200\360\220\200\200\364\217\277\277",
		       "\302\240\340\240\200\360\220\200\200\364\217\277\277");
	expect_literal("\355\237\277\356\200\200", "\355\237\277\356\200\200");
}

static void test_escape_control_characters_are_shown(void **state)
{
	(void)state;
	expect_literal("\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m");
	expect_literal("a\tb\rc\bd\007e\0f\177g", "a\\x09b\\x0dc\\x08d\\x07e\\x00f\\x7fg");
	/* C1: U+0080, U+009B (CSI), U+009F */
	expect_literal("\302\200\302\233\302\237", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
}

static void test_escape_direction_controls_are_shown(void **state)
{
	(void)state;
	expect_literal("\330\234", "\\xd8\\x9c");
	expect_literal("\342\200\216\342\200\217", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f");
	expect_literal("\342\200\250\342\200\256", "\\xe2\\x80\\xa8\\xe2\\x80\\xae");
	expect_literal("\342\201\246\342\201\251", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
	/* their neighbours are harmless */
	expect_literal("\342\200\215\342\200\220\342\200\247\342\200\257\342\201\245\342\201\252",
		       "\342\200\215\342\200\220\342\200\247\342\200\257\342\201\245\342\201\252");
}

static void test_escape_what_is_no_utf8_is_shown(void **state)
{
	(void)state;
	expect_literal("\377\376a", "\\xff\\xfea");
	expect_literal("\200\277", "\\x80\\xbf");
	expect_literal("a\303", "a\\xc3");
	expect_literal("\303(", "\\xc3(");
	expect_literal("\342\202", "\\xe2\\x82");
	expect_literal("\342\202\342\202\254", "\\xe2\\x82\342\202\254");
	expect_literal("\360\237\230", "\\xf0\\x9f\\x98");
	expect_literal("\360\237\033", "\\xf0\\x9f\\x1b");
	/* longer than need be: /, NUL; halves of a pair; beyond U+10FFFF */
	expect_literal("\300\257\340\200\257\360\200\200\257", "\\xc0\\xaf\\xe0\\x80\\xaf\\xf0\\x80\\x80\\xaf");
	expect_literal("\355\240\200", "\\xed\\xa0\\x80");
	expect_literal("\364\220\200\200\365\200\200\200", "\\xf4\\x90\\x80\\x80\\xf5\\x80\\x80\\x80");
}

static void test_escape_json_stays_json(void **state)
{
	static const char text[] = "{\"a\":\"\177\302\233\377\"}\n";
	struct sink sink;

	(void)state;
	escape(&sink, 1, 0, text, sizeof(text) - 1, 3);
	assert_string_equal(sink.text, "{\"a\":\"\\\\x7f\\\\xc2\\\\x9b\\\\xff\"}\n");
}

static void test_escape_line_has_no_line_ends(void **state)
{
	struct sink sink;

	(void)state;
	escape(&sink, 0, 1, "a\nb\342\200\250c\205", 8, 100);
	assert_string_equal(sink.text, "a\\x0ab\\xe2\\x80\\xa8c\\x85");
}

static int is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Every three bytes: the text is escaped, and what is left of it is the same however it is cut. */
static void test_escape_any_bytes_leave_only_harmless_ones(void **state)
{
	static const unsigned char firsts[] = { 0, 'a', 0x1b, 0x7f, 0x80, 0xbf, 0xc1, 0xc2, 0xd8, 0xe0,
						0xe2, 0xed, 0xf0, 0xf4, 0xff };
	struct sink whole, cut;

	(void)state;
	for (unsigned i = 0; i < sizeof(firsts) * 65536; i += 7) {
		const char text[] = { (char)firsts[i >> 16], (char)(i >> 8), (char)i };

		escape(&whole, 0, 0, text, 3, 3);
		escape(&cut, 0, 0, text, 3, 1);
		assert_string_equal(whole.text, cut.text);
		for (size_t at = 0; at < whole.n; at++) {
			unsigned char c = (unsigned char)whole.text[at];

			assert_true(c == '\n' || (c >= 0x20 && c != 0x7f));
			if (c == 0xc2)
				assert_true((unsigned char)whole.text[at + 1] >= 0xa0);
			assert_true(c < 0x80 || is_tail(c) || is_tail((unsigned char)whole.text[at + 1]));
		}
	}
}

/* A line longer than the buffer leaves it in the middle of a character. */
static void test_terminal_long_line_is_escaped_once(void **state)
{
	enum { WORDS = 2 * T2X_OUT_BYTES / 3 };
	FILE *file = tmpfile();
	struct t2x_terminal terminal;
	struct t2x_out out;
	char word[4] = "";

	(void)state;
	assert_non_null(file);
	assert_int_equal(t2x_terminal_init(&terminal, fileno(file), 0), 0);
	assert_int_equal(t2x_out_init_fn(&out, t2x_terminal_write, &terminal), 0);
	t2x_out_literal(&out, "\033");
	for (unsigned i = 0; i < WORDS; i++)
		t2x_out_literal(&out, "\342\202\254");
	assert_int_equal(t2x_out_flush(&out), 0);
	t2x_out_free(&out);
	assert_int_equal(t2x_terminal_finish(&terminal), 0);
	rewind(file);
	assert_int_equal(fread(word, 1, 4, file), 4);
	assert_memory_equal(word, "\\x1b", 4);
	for (unsigned i = 0; i < WORDS; i++) {
		assert_int_equal(fread(word, 1, 3, file), 3);
		assert_memory_equal(word, "\342\202\254", 3);
	}
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape_harmless_text_stays),
		cmocka_unit_test(test_escape_control_characters_are_shown),
		cmocka_unit_test(test_escape_direction_controls_are_shown),
		cmocka_unit_test(test_escape_what_is_no_utf8_is_shown),
		cmocka_unit_test(test_escape_json_stays_json),
		cmocka_unit_test(test_escape_line_has_no_line_ends),
		cmocka_unit_test(test_escape_any_bytes_leave_only_harmless_ones),
		cmocka_unit_test(test_terminal_long_line_is_escaped_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

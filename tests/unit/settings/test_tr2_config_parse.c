/* SPDX-License-Identifier: MIT */
/* The syntax of git's configuration files: what counts, what is bad, that nothing upsets the parser. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gitask.h"
#include "traced.h"
#include "settings/tr2_config_parse.h"

/* ---- a text as the list of its settings --------------------------------------------------------- */

static char listed[1 << 16];
static size_t nlisted;

static void list_text(const char *text)
{
	size_t n = strlen(text) + 1;

	assert_true(nlisted + n < sizeof(listed));
	memcpy(listed + nlisted, text, n);
	nlisted += n - 1;
}

/*
 * Into listed: "key=value;" or "key;" for each setting, "!3" for bad syntax in line 3.  The text is copied to
 * memory that ends where it ends, so that a sanitizer sees a step too far.
 */
static void list(const char *text, size_t bytes)
{
	struct tr2_config_parser *parser = malloc(sizeof(*parser));
	char *copy = malloc(bytes + 1), end[16];
	int more;

	assert_true(parser && copy);
	memcpy(copy, text, bytes);
	nlisted = 0;
	list_text("");
	tr2_config_parse_begin(parser, copy, bytes);
	while ((more = tr2_config_parse_next(parser)) > 0) {
		list_text(parser->key);
		list_text(parser->value ? "=" : "");
		list_text(parser->value ? parser->value : "");
		list_text(";");
	}
	snprintf(end, sizeof(end), "!%u", parser->line);
	list_text(more < 0 ? end : "");
	free(copy);
	free(parser);
}

static void assert_list(const char *text, const char *expected)
{
	list(text, strlen(text));
	assert_string_equal(listed, expected);
}

/* ---- by hand ------------------------------------------------------------------------------------ */

static void test_parse_sections_make_keys(void **state)
{
	(void)state;
	assert_list("[a]\nb=1\nc=2\n[d]e=3", "a.b=1;a.c=2;d.e=3;");
	assert_list("[A-1]\nB-2=x", "a-1.b-2=x;");
	assert_list("[a.B]\nc=1", "a.b.c=1;");
	assert_list("[A \"B c\"]\nD=1", "a.B c.d=1;");
	assert_list("[a\t \"b\\\"c\\\\d\\e\"]\nf=1", "a.b\"c\\de.f=1;");
	assert_list("[a \"\"]b=1", "a..b=1;");
	assert_list("[a] # c\nb=1\n[a];\nb=2", "a.b=1;a.b=2;");
	assert_list("b=1", "b=1;");
	assert_list("", "");
	assert_list("\n \t\r\n# x\n; [y]\n", "");
}

static void test_parse_values_are_decoded(void **state)
{
	(void)state;
	assert_list("[a]\nb =  one two  \n", "a.b=one two;");
	assert_list("[a]\nb = one\ttwo \t three\t\n", "a.b=one\ttwo \t three;");
	assert_list("[a]\nb = \" one \" \n", "a.b= one ;");
	assert_list("[a]\nb = x\" \"y\"\"z\n", "a.b=x yz;");
	assert_list("[a]\nb = x \"\"  \n", "a.b=x ;");
	assert_list("[a]\nb = x ; y\nc = x # y\nd = \"x;#\" ;#\"\n", "a.b=x;a.c=x;a.d=x;#;");
	assert_list("[a]\nb = \\t\\n\\b\\\\\\\"\n", "a.b=\t\n\b\\\";");
	assert_list("[a]\nb = one\\\n two\\\r\nthree\n", "a.b=one twothree;");
	assert_list("[a]\nb = \"one \\\n two\" \\\n", "a.b=one  two ;");
	assert_list("[a]\nb = x ; y \\\nc = 1\n", "a.b=x;a.c=1;");
	assert_list("[a]\nb =\nc=\"\"\n", "a.b=;a.c=;");
	assert_list("[a]\nb = [c]\nd = e = f\n", "a.b=[c];a.d=e = f;");
	assert_list("[a]\nb = \xc3\xa4\xff\n", "a.b=\xc3\xa4\xff;");
}

static void test_parse_key_without_value_is_null(void **state)
{
	(void)state;
	assert_list("[a]\nb\nc \t\nd", "a.b;a.c;a.d;");
}

static void test_parse_line_ends_of_dos_and_a_byte_order_mark_do_not_matter(void **state)
{
	(void)state;
	assert_list("\xef\xbb\xbf[a]\r\nb = 1\r\nc\r\n", "a.b=1;a.c;");
	assert_list("[a]\nb = x\ry\r\n", "a.b=x\ry;");
	assert_list("[a]\nb = x\r", "a.b=x;");
}

static void test_parse_bad_syntax_ends_with_its_line(void **state)
{
	(void)state;
	assert_list("[a]\nb=1\nc=\\q\nd=2", "a.b=1;!3");
	assert_list("[a]\nb=\"x\nc=1", "!2");
	assert_list("[a]\nb=\"x", "!2");
	assert_list("[a]\nb # c\n", "!2");
	assert_list("[a]\nb c = 1\n", "!2");
	assert_list("[a]\nb\rc = 1\n", "!2");
	assert_list("[a]\n1=2", "!2");
	assert_list("[a]\n=2", "!2");
	assert_list("\n\n[", "!3");
	assert_list("[a", "!1");
	assert_list("[]", "!1");
	assert_list("[a_b]", "!1");
	assert_list("[a b]", "!1");
	assert_list("[a \"b]\n\"]", "!1");
	assert_list("[a \"b\\\n\"]", "!1");
	assert_list("[a \"b\" ]", "!1");
	assert_list("[a \"b\"", "!1");
	assert_list("[a \n\"b\"]", "!1");
	assert_list("\xef\xbb[a]\nb=1", "!1");
}

static void test_parse_nul_bytes_end_texts_but_not_the_file(void **state)
{
	static const char text[] = "[a \"b\0c\"]\nd=1\0002\n[e]\nf=3";

	(void)state;
	list(text, sizeof(text) - 1);
	assert_string_equal(listed, "a.b=1;e.f=3;");
	list("[a]\nb=1\n\0", 9);
	assert_string_equal(listed, "a.b=1;!3");
}

static void test_parse_key_too_long_is_passed_over(void **state)
{
	static char text[2 * TR2_CONFIG_KEY_BYTES];
	size_t least = TR2_CONFIG_KEY_BYTES - strlen("a..b") - 1;

	(void)state;
	for (size_t more = 0; more < 3; more++) {
		size_t n = (size_t)sprintf(text, "[a \"");
		memset(text + n, 'x', least + more);
		strcpy(text + n + least + more, "\"]\nb=1\n[c]\nd=2");
		list(text, strlen(text));
		assert_string_equal(listed + (more ? 0 : strlen("a.x.b=1;") - 1 + least), "c.d=2;");
	}
}

/* ---- anything ----------------------------------------------------------------------------------- */

static const char sample[] = "\xef\xbb\xbf# c\r\n[a]\r\nb = \"x \\\n\\\"y\" ; z\n[c \"d\\\\e\"]f\n"
			     "\tg=1 \\\\ \\\n 2\n";

static void test_parse_every_cut_and_every_changed_byte_is_survived(void **state)
{
	char text[sizeof(sample)];

	(void)state;
	for (size_t n = 0; n < sizeof(sample); n++)
		list(sample, n);
	for (size_t at = 0; at + 1 < sizeof(sample); at++) {
		for (int c = 0; c < 256; c++) {
			memcpy(text, sample, sizeof(sample));
			text[at] = (char)c;
			list(text, sizeof(text) - 1);
		}
	}
	assert_list(sample, "a.b=x \"y;c.d\\e.f;c.d\\e.g=1 \\  2;");
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Lines of the pieces that matter to the syntax, most of them behind a key. */
static size_t make_text(char *text, size_t size, uint32_t *seed)
{
	static const char *const pieces[] = {
		"[a]", "[b.C]", "[d \"E\"]", "[f \"", "\"]", "]", "[", "\n", "\n", "\r\n", "\r", " ", "\t",
		"key", "B", "c=", "d = ", "=",
		"e\n", "\"", "\\", "\\\n", "\\n", "\\\"", "#", ";", "-", "1", ".", "\v", "\xff", "xyz",
	};
	size_t n = (size_t)sprintf(text, "[s]");

	for (unsigned line = 0; line < 4; line++) {
		n += (size_t)sprintf(text + n, "%s", next_random(seed) % 8 ? "\nkey = v" : "\n");
		for (unsigned i = next_random(seed) % 4; i; i--) {
			const char *piece = pieces[next_random(seed) % (sizeof(pieces) / sizeof(pieces[0]))];
			assert_true(n + strlen(piece) + 16 < size);
			n += (size_t)sprintf(text + n, "%s", piece);
		}
	}
	return n;
}

/* git's `config --list -z` in our form.  Gits before 2.45 make a blank of each tab within a value: so do we, here. */
static void list_as_git(const char *answer, size_t bytes, char *to)
{
	for (size_t at = 0; at < bytes; at += strlen(answer + at) + 1) {
		const char *item = answer + at, *value = strchr(item, '\n');
		to += value ? sprintf(to, "%.*s=%s;", (int)(value - item), item, value + 1) : sprintf(to, "%s;", item);
	}
	*to = '\0';
}

static void make_blanks_equal(char *text)
{
	for (; *text; text++)
		if (*text == '\t' || *text == '\r')
			*text = ' ';
}

static void write_file(const char *path, const char *text, size_t bytes)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, bytes, out), bytes);
	assert_int_equal(fclose(out), 0);
}

static void test_parse_random_texts_mean_what_they_mean_to_git(void **state)
{
	static char text[1024], answer[4096], expected[4096];
	unsigned settings = 0, bad = 0;
	char path[128], arguments[256];
	uint32_t seed = 1;

	(void)state;
	if (!gitask_is_there())
		skip();
	traced_init(&t);
	snprintf(path, sizeof(path), "%s/config", t.dir);
	snprintf(arguments, sizeof(arguments), "config --file %s --list -z", path);
	for (int i = 0; i < 400; i++) {
		size_t bytes = make_text(text, sizeof(text), &seed), n;
		int status;
		write_file(path, text, bytes);
		status = gitask(t.dir, "", arguments, answer, sizeof(answer), &n);
		list(text, bytes);
		if (status) {
			assert_non_null(strchr(listed, '!'));
			bad++;
			continue;
		}
		list_as_git(answer, n, expected);
		make_blanks_equal(expected);
		make_blanks_equal(listed);
		assert_string_equal(listed, expected);
		settings += *expected != '\0';
	}
	assert_in_range(settings, 50, 400);   /* else the texts would show little */
	assert_in_range(bad, 50, 400);
	traced_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_sections_make_keys),
		cmocka_unit_test(test_parse_values_are_decoded),
		cmocka_unit_test(test_parse_key_without_value_is_null),
		cmocka_unit_test(test_parse_line_ends_of_dos_and_a_byte_order_mark_do_not_matter),
		cmocka_unit_test(test_parse_bad_syntax_ends_with_its_line),
		cmocka_unit_test(test_parse_nul_bytes_end_texts_but_not_the_file),
		cmocka_unit_test(test_parse_key_too_long_is_passed_over),
		cmocka_unit_test(test_parse_every_cut_and_every_changed_byte_is_survived),
		cmocka_unit_test(test_parse_random_texts_mean_what_they_mean_to_git),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

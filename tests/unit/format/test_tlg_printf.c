/* SPDX-License-Identifier: MIT */
/* The parts of printf conversions: flags, width, precision, length, letter. */
#include "t2test.h"

#include <string.h>

#include "tlg_printf.h"

/* Parse all of what stands behind a %. */
static struct tlg_printf parse(const char *text)
{
	struct tlg_printf parsed;

	assert_ptr_equal(tlg_printf_parse(text, &parsed), text + strlen(text));
	return parsed;
}

static void test_printf_letters_have_their_kinds(void **state)
{
	static const struct { const char *letters; enum tlg_printf_kind kind; } kinds[] = {
		{ "di", TLG_PRINTF_SIGNED }, { "ouxX", TLG_PRINTF_UNSIGNED }, { "c", TLG_PRINTF_CHAR },
		{ "s", TLG_PRINTF_STRING }, { "aAeEfFgG", TLG_PRINTF_DOUBLE }, { "p", TLG_PRINTF_POINTER },
		{ "m", TLG_PRINTF_ERRNO }, { "%", TLG_PRINTF_PERCENT }, { "nCSIyk$", TLG_PRINTF_UNKNOWN },
	};
	struct tlg_printf parsed;

	(void)state;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (const char *p = kinds[i].letters; *p; p++) {
			assert_ptr_equal(tlg_printf_parse(p, &parsed), p + 1);
			assert_int_equal(parsed.kind, kinds[i].kind);
			assert_int_equal(parsed.letter, *p);
		}
	}
}

static void test_printf_lengths_are_recognized(void **state)
{
	static const char *const texts[TLG_LENGTHS] = {
		[TLG_LENGTH_NONE] = "d", [TLG_LENGTH_CHAR] = "hhd", [TLG_LENGTH_SHORT] = "hd",
		[TLG_LENGTH_LONG] = "ld", [TLG_LENGTH_LLONG] = "lld", [TLG_LENGTH_INTMAX] = "jd",
		[TLG_LENGTH_SIZE] = "zd", [TLG_LENGTH_PTRDIFF] = "td", [TLG_LENGTH_LONG_DOUBLE] = "Ld",
	};

	(void)state;
	for (int length = 0; length < TLG_LENGTHS; length++)
		assert_int_equal(parse(texts[length]).length, length);
	assert_int_equal(parse("qu").length, TLG_LENGTH_LLONG);
}

static void test_printf_length_of_a_string_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(parse("ls").kind, TLG_PRINTF_UNKNOWN);
	assert_int_equal(parse("hs").kind, TLG_PRINTF_UNKNOWN);
	assert_int_equal(parse("lc").kind, TLG_PRINTF_UNKNOWN);
	assert_int_equal(parse("lm").kind, TLG_PRINTF_ERRNO);   /* as the GNU library has it */
	assert_int_equal(parse("lf").kind, TLG_PRINTF_DOUBLE);
}

static void test_printf_flags_add_up_in_any_order(void **state)
{
	(void)state;
	assert_int_equal(parse("d").flags, 0);
	assert_int_equal(parse("-d").flags, TLG_PRINTF_LEFT);
	assert_int_equal(parse("0+d").flags, TLG_PRINTF_ZERO | TLG_PRINTF_PLUS);
	assert_int_equal(parse(" #  #x").flags, TLG_PRINTF_BLANK | TLG_PRINTF_ALTERNATE);
	assert_int_equal(parse("'d").flags, TLG_PRINTF_GROUP);
	assert_int_equal(parse("010d").flags, TLG_PRINTF_ZERO);
	assert_int_equal(parse("010d").width.value, 10);
}

static void check_count(struct tlg_printf_count count, int kind, int32_t value)
{
	assert_int_equal((int)count.kind, kind);
	assert_int_equal(count.value, value);
}

static void test_printf_width_and_precision_are_digits_or_stars(void **state)
{
	(void)state;
	check_count(parse("d").width, TLG_COUNT_NONE, 0);
	check_count(parse("d").precision, TLG_COUNT_NONE, 0);
	check_count(parse("12.34d").width, TLG_COUNT_DIGITS, 12);
	check_count(parse("12.34d").precision, TLG_COUNT_DIGITS, 34);
	check_count(parse("*.*ld").width, TLG_COUNT_STAR, 0);
	check_count(parse("*.*ld").precision, TLG_COUNT_STAR, 0);
	check_count(parse(".s").precision, TLG_COUNT_DIGITS, 0);
}

static void test_printf_count_beyond_int_is_int_max(void **state)
{
	(void)state;
	check_count(parse("2147483646d").width, TLG_COUNT_DIGITS, INT32_MAX - 1);
	check_count(parse("2147483647d").width, TLG_COUNT_DIGITS, INT32_MAX);
	check_count(parse("2147483648d").width, TLG_COUNT_DIGITS, INT32_MAX);
	check_count(parse(".99999999999999999999d").precision, TLG_COUNT_DIGITS, INT32_MAX);
}

static void test_printf_stops_behind_the_letter(void **state)
{
	const char *text = "-8.*lu and %d";
	struct tlg_printf parsed;

	(void)state;
	assert_string_equal(tlg_printf_parse(text, &parsed), " and %d");
}

static void test_printf_cut_format_is_refused(void **state)
{
	static const char *const cut[] = { "", "-", "0", "12", "*", ".", ".*", "-5.3", "h", "hh", "l", "ll", "-5.3l" };
	struct tlg_printf parsed;

	(void)state;
	for (unsigned i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		assert_null(tlg_printf_parse(cut[i], &parsed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printf_letters_have_their_kinds),
		cmocka_unit_test(test_printf_lengths_are_recognized),
		cmocka_unit_test(test_printf_length_of_a_string_is_unknown),
		cmocka_unit_test(test_printf_flags_add_up_in_any_order),
		cmocka_unit_test(test_printf_width_and_precision_are_digits_or_stars),
		cmocka_unit_test(test_printf_count_beyond_int_is_int_max),
		cmocka_unit_test(test_printf_stops_behind_the_letter),
		cmocka_unit_test(test_printf_cut_format_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

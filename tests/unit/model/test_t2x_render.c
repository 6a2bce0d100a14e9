/* SPDX-License-Identifier: MIT */
/* Messages: the bytes are those of the C library's printf; what cannot be printed stays as it is written. */
#include "t2test.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/t2x_render.h"

/* The formats under test are made up at run time. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static struct t2x_arg arg_int(int64_t v)
{
	return (struct t2x_arg){ .type = TLG_ARG_INT, .value = v };
}

static struct t2x_arg arg_text(const char *s)
{
	if (!s)
		return (struct t2x_arg){ .type = TLG_ARG_NULL };
	return (struct t2x_arg){ .type = TLG_ARG_TEXT, .length = (uint32_t)strlen(s), .text = s };
}

static struct t2x_arg arg_double(double d)
{
	struct t2x_arg arg = { .type = TLG_ARG_DOUBLE };

	memcpy(&arg.value, &d, sizeof(d));
	return arg;
}

static const char *render(const char *format, const struct t2x_arg *args, unsigned n)
{
	static char text[4096];

	text[t2x_render(text, sizeof(text) - 1, format, args, n)] = '\0';
	return text;
}

/* All flags, widths and precisions in front of tail, in a fixed order. */
enum { FLAG_SETS = 32, WIDTHS = 4, PRECISIONS = 6, FORMATS = FLAG_SETS * WIDTHS * PRECISIONS };

static void make_format(char *to, unsigned i, const char *tail)
{
	static const char *const widths[WIDTHS] = { "", "1", "7", "30" };
	static const char *const precisions[PRECISIONS] = { "", ".", ".0", ".1", ".5", ".25" };
	static const char flags[] = "-+ #0";
	unsigned set = i % FLAG_SETS;

	*to++ = '<';
	*to++ = '%';
	for (unsigned f = 0; flags[f]; f++) {
		if (set & 1U << f)
			*to++ = flags[f];
	}
	sprintf(to, "%s%s%s>", widths[i / FLAG_SETS % WIDTHS], precisions[i / FLAG_SETS / WIDTHS], tail);
}

#define CHECK(tail, arg, value)                                                                        \
	for (unsigned i_ = 0; i_ < FORMATS; i_++) {                                                     \
		char format_[64], expected_[1024];                                                      \
		struct t2x_arg arg_ = (arg);                                                            \
		make_format(format_, i_, tail);                                                         \
		snprintf(expected_, sizeof(expected_), format_, (value));                               \
		if (strcmp(render(format_, &arg_, 1), expected_) != 0)                                  \
			fail_msg("%s: got %s, expected %s", format_, render(format_, &arg_, 1), expected_); \
	}

static const int64_t numbers[] = {
	0, 1, -1, 7, 8, 42, -300, 255, 256, 65536, INT_MAX, INT_MIN, INT64_MAX, INT64_MIN
};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static void test_render_signed_integers_print_as_printf(void **state)
{
	(void)state;
	for (unsigned n = 0; n < NUMBERS; n++) {
		int64_t v = numbers[n];

		CHECK("d", arg_int((int)v), (int)v)
		CHECK("i", arg_int((int)v), (int)v)
		CHECK("hhd", arg_int((int)v), (int)v)
		CHECK("hd", arg_int((int)v), (int)v)
		CHECK("ld", arg_int((long)v), (long)v)
		CHECK("lld", arg_int(v), (long long)v)
		CHECK("jd", arg_int(v), (intmax_t)v)
		CHECK("zd", arg_int((ssize_t)v), (ssize_t)v)
		CHECK("td", arg_int((ptrdiff_t)v), (ptrdiff_t)v)
	}
}

static void test_render_unsigned_integers_print_as_printf(void **state)
{
	(void)state;
	for (unsigned n = 0; n < NUMBERS; n++) {
		struct t2x_arg narrow = { .type = TLG_ARG_UINT, .value = (unsigned)numbers[n] };
		struct t2x_arg wide = { .type = TLG_ARG_UINT, .value = numbers[n] };
		struct t2x_arg host = { .type = TLG_ARG_UINT, .value = (int64_t)(unsigned long)numbers[n] };
		uint64_t v = (uint64_t)numbers[n];

		CHECK("u", narrow, (unsigned)v)
		CHECK("o", narrow, (unsigned)v)
		CHECK("x", narrow, (unsigned)v)
		CHECK("X", narrow, (unsigned)v)
		CHECK("hhx", narrow, (unsigned)v)
		CHECK("hu", narrow, (unsigned)v)
		CHECK("lu", host, (unsigned long)v)
		CHECK("llx", wide, (unsigned long long)v)
		CHECK("zo", host, (size_t)v)
		CHECK("jX", wide, (uintmax_t)v)
	}
}

static void test_render_texts_and_characters_print_as_printf(void **state)
{
	static const char *const texts[] = { "", "a", "seven77", "a text of some length, 8bit \xc3\xa9\xff" };

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK("s", arg_text(texts[i]), texts[i])
	CHECK("s", arg_text(NULL), (const char *)NULL)
	CHECK("c", arg_int('x'), 'x')
	CHECK("c", arg_int(0x1ff), 0x1ff)
}

static void test_render_pointers_print_as_printf(void **state)
{
	struct t2x_arg arg = { .type = TLG_ARG_POINTER, .value = 0x7ffdbee0 };
	struct t2x_arg null = { .type = TLG_ARG_POINTER };

	(void)state;
	CHECK("p", arg, (void *)(uintptr_t)0x7ffdbee0)
	CHECK("p", null, (void *)NULL)
}

static void test_render_doubles_print_as_printf(void **state)
{
	static const double values[] = { 0.0, -0.0, 1.5, -2.25, 1e300, 3.14159e-7, 123456789.125, INFINITY, -NAN };

	(void)state;
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		CHECK("f", arg_double(values[i]), values[i])
		CHECK("F", arg_double(values[i]), values[i])
		CHECK("e", arg_double(values[i]), values[i])
		CHECK("E", arg_double(values[i]), values[i])
		CHECK("g", arg_double(values[i]), values[i])
		CHECK("G", arg_double(values[i]), values[i])
		CHECK("a", arg_double(values[i]), values[i])
		CHECK("A", arg_double(values[i]), values[i])
	}
}

static void test_render_stars_take_their_arguments_in_order(void **state)
{
	struct t2x_arg args[] = { arg_int(-8), arg_int(3), arg_text("abcdef"), arg_int(6), arg_int(-1), arg_int(42),
				  arg_int(9), arg_int(2), arg_double(1.25) };
	char expected[128];

	(void)state;
	snprintf(expected, sizeof(expected), "[%*.*s][%*.*d][%*.*f]", -8, 3, "abcdef", 6, -1, 42, 9, 2, 1.25);
	assert_string_equal(render("[%*.*s][%*.*d][%*.*f]", args, 9), expected);
}

static void test_render_percent_and_errno_text_print(void **state)
{
	struct t2x_arg arg = arg_text("No such file");

	(void)state;
	assert_string_equal(render("100%% of %m%%", &arg, 1), "100% of No such file%");
	assert_string_equal(render("", NULL, 0), "");
}

static void test_render_missing_argument_leaves_the_conversion(void **state)
{
	struct t2x_arg args[] = { arg_int(1), arg_int(2) };

	(void)state;
	assert_string_equal(render("%d %5d|%-3s|%f", args, 2), "1     2|%-3s|%f");
	assert_string_equal(render("%*d", NULL, 0), "%*d");
	assert_string_equal(render("%.*f", args, 1), "%.*f");
	assert_string_equal(render("%p %c %x %m", NULL, 0), "%p %c %x %m");
}

static void test_render_wrong_argument_leaves_the_conversion(void **state)
{
	struct t2x_arg args[] = { arg_text("t"), arg_int(5), arg_double(1.0), arg_int(6) };

	(void)state;
	assert_string_equal(render("%d %s %x %d", args, 4), "%d %s %x 6");
}

static void test_render_unknown_conversion_stays_as_written(void **state)
{
	struct t2x_arg args[] = { arg_int(1), arg_int(2) };

	(void)state;
	assert_string_equal(render("%n %k %1$d %ls %lc", args, 2), "%n %k %1$d %ls %lc");
	assert_string_equal(render("end %", args, 2), "end %");
	assert_string_equal(render("end %-5.3l", args, 2), "end %-5.3l");
}

static void test_render_what_does_not_fit_is_cut(void **state)
{
	char text[16];
	struct t2x_arg wide[] = { arg_int(INT_MAX), arg_int(7) }, d[] = { arg_int(INT_MAX), arg_double(1.0) };
	struct t2x_arg s = arg_text("0123456789abcdef0123456789");

	(void)state;
	for (size_t size = 0; size <= sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(t2x_render(text, size, "%s", &s, 1), size);
		assert_memory_equal(text, "0123456789abcdef", size);
		assert_int_equal(t2x_render(text, size, "%*d", wide, 2), size);
		assert_int_equal(t2x_render(text, size, "%99999999999999999999d", wide + 1, 1), size);
		assert_in_range(t2x_render(text, size, "%.*f", d, 2), size ? size - 1 : 0, size);
		assert_in_range(t2x_render(text, size, "%*f", d, 2), size ? size - 1 : 0, size);
		for (size_t i = size; i < sizeof(text); i++)
			assert_int_equal(text[i], '#');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_render_signed_integers_print_as_printf),
		cmocka_unit_test(test_render_unsigned_integers_print_as_printf),
		cmocka_unit_test(test_render_texts_and_characters_print_as_printf),
		cmocka_unit_test(test_render_pointers_print_as_printf),
		cmocka_unit_test(test_render_doubles_print_as_printf),
		cmocka_unit_test(test_render_stars_take_their_arguments_in_order),
		cmocka_unit_test(test_render_percent_and_errno_text_print),
		cmocka_unit_test(test_render_missing_argument_leaves_the_conversion),
		cmocka_unit_test(test_render_wrong_argument_leaves_the_conversion),
		cmocka_unit_test(test_render_unknown_conversion_stays_as_written),
		cmocka_unit_test(test_render_what_does_not_fit_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Messages that are deferred: what tr2_capture() takes and t2x_render() makes of it must be, byte for byte, what
 * snprintf() prints.  Random formats and arguments; T2_SEED repeats a run, T2_ROUNDS makes it longer.
 */
#include "t2test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/t2x_render.h"
#include "record/tr2_capture.h"

enum { SIZE = 4096 };

static char expected[SIZE], shown[SIZE];
static int expected_length, captured;
static size_t shown_length;

/* What the file would carry, for the renderer. */
static unsigned convert(const struct tr2_body *body, struct t2x_arg *to)
{
	const struct tr2_piece *piece = body->pieces;
	unsigned n = 0;

	for (const struct tr2_value *from = body->values; from < body->values_end; from++, n++) {
		to[n] = (struct t2x_arg){ .type = from->type, .value = from->value, .text = "" };
		if (from->type == TLG_ARG_TEXT) {
			to[n].text = piece->bytes;
			to[n].length = (uint32_t)piece++->count;
		}
	}
	return n;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Print both ways. */
static void print(const char *format, ...)
{
	struct t2x_arg args[TR2_ARGS_VALUES];
	struct tr2_format parsed = tr2_format_parse(format);
	struct tr2_room room;
	struct tr2_body recorded = tr2_body_in(&room);
	struct tr2_va va;
	va_list ap;

	va_start(va.ap, format);
	captured = tr2_capture(&recorded, parsed.take, &va, &room);
	va_end(va.ap);
	shown_length = captured ? t2x_render(shown, SIZE, format, args, convert(&recorded, args)) : 0;
	va_start(ap, format);
	expected_length = vsnprintf(expected, SIZE, format, ap);
	va_end(ap);
}

static void assert_same(const char *format)
{
	if (captured && (size_t)expected_length == shown_length && !memcmp(expected, shown, shown_length))
		return;
	print_error("format '%s': expected '%s', shown '%.*s', captured %d\n", format, expected,
		    (int)shown_length, shown, captured);
	fail();
}

#define CHECK(...) check_first(__VA_ARGS__)
#define check_first(format, ...) do { print(format, __VA_ARGS__); assert_same(format); } while (0)

static void test_capture_several_arguments_in_order(void **state)
{
	(void)state;
	CHECK("%s %d%% %c|%-8s|%5.2f %p %lu", "text", -7, 'x', "left", 3.14159, (void *)&shown, 99UL);
	CHECK("%*d|%-*s|%.*s|%*.*f", 6, 42, 10, "pad", 3, "cut short", 12, 3, 2.5);
	CHECK("%hhd %hd %ld %lld %jd %zd %td", 300, 70000, -1L, -2LL, (intmax_t)-3, (size_t)4, (ptrdiff_t)-5);
	CHECK("no arguments at all%s", "");
	CHECK("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	CHECK("%.2s|%.300s|%.0s|%.s|%d", "abc", "def", "ghi", "jkl", 5);
}

static void test_capture_null_and_unterminated_strings(void **state)
{
	const char raw[4] = { 'r', 'a', 'w', '!' };

	(void)state;
	CHECK("[%s]", (char *)NULL);
	CHECK("[%.3s]", (char *)NULL);
	CHECK("[%10s]", (char *)NULL);
	CHECK("[%.4s]", raw);
	CHECK("[%.*s]", 2, raw);
	CHECK("[%.*s]", -1, "whole");
}

static void test_capture_errno_text(void **state)
{
	(void)state;
	for (int error = 0; error < 140; error++) {
		errno = error;
		CHECK("%m and %d", error);
	}
}

static void test_capture_errno_text_with_a_length_keeps_the_arguments_in_step(void **state)
{
	(void)state;
	errno = ENOENT;
	CHECK("%lm %d %s", 1, "two");
}

static void test_capture_refuses_what_cannot_be_put_off(void **state)
{
	int n = 0;

	(void)state;
	print("%ls", L"wide");
	assert_false(captured);
	print("%Lf", 1.0L);
	assert_false(captured);
	print("%2$d %1$d", 1, 2);
	assert_false(captured);
	print("%'d", 1000);
	assert_false(captured);
	print("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	assert_false(captured);
	print("%.65536s", "longer than anybody's text");
	assert_false(captured);
	print("%d%n", 1, &n);
	assert_false(captured);
}

/* ---- random ------------------------------------------------------------------------------------- */

static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static unsigned pick(unsigned n)
{
	return (unsigned)(next_random() >> 33) % n;
}

/* "%" flags width precision length conversion; says how many stars there are. */
static int make_format(char *to, const char *lengths, const char *conversions)
{
	static const char flags[] = "-+ #0";
	int stars = 0;

	*to++ = '<';
	*to++ = '%';
	for (int i = 0; i < 5; i++)
		if (!pick(4))
			*to++ = flags[i];
	if (!pick(3))
		to += sprintf(to, "%u", 1 + pick(40));
	else if (!pick(6) && ++stars)
		*to++ = '*';
	if (!pick(3)) {
		*to++ = '.';
		if (pick(3))
			to += sprintf(to, "%u", pick(30));
		else if (pick(2) && ++stars)
			*to++ = '*';
	}
	for (const char *length = lengths; *length;)
		*to++ = *length++;
	*to++ = conversions[pick((unsigned)strlen(conversions))];
	strcpy(to, ">");
	return stars;
}

#define PRINT_STARRED(format, stars, value) \
	do { \
		int a_ = (int)pick(60) - 30, b_ = (int)pick(40) - 10; \
		if ((stars) == 0) \
			print(format, value); \
		else if ((stars) == 1) \
			print(format, a_, value); \
		else \
			print(format, a_, b_, value); \
	} while (0)

static double random_double(void)
{
	uint64_t bits = next_random();
	double value;

	if (pick(2))
		return (double)(int64_t)bits / (double)(1 + pick(1000000));
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Small, large, and the edges. */
static uint64_t random_integer(void)
{
	static const uint64_t edges[] = { 0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 255, 65535, UINT32_MAX };

	return pick(4) ? next_random() >> pick(64) : edges[pick(8)];
}

static void test_capture_random_formats_print_as_snprintf(void **state)
{
	static const char *const texts[] = { "", "a", "hello world", "\xc3\xa9\xff", "a long text, 100% of it" };
	const char *rounds = getenv("T2_ROUNDS"), *given = getenv("T2_SEED");
	char format[64];

	(void)state;
	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
	print_message("T2_SEED=%llu\n", (unsigned long long)seed);
	for (long i = rounds ? atol(rounds) : 200000; i > 0; i--) {
		static const char *const lengths[] = { "", "hh", "h", "l", "ll", "j", "z", "t" };
		unsigned kind = pick(5);
		if (kind == 0) {
			int stars = make_format(format, "", "s");
			PRINT_STARRED(format, stars, texts[pick(5)]);
		} else if (kind == 1) {
			int stars = make_format(format, "", "eEfFgGaA");
			PRINT_STARRED(format, stars, random_double());
		} else if (kind == 2) {
			int stars = make_format(format, "", "p");
			PRINT_STARRED(format, stars, (void *)(uintptr_t)random_integer());
		} else if (kind == 3) {
			int stars = make_format(format, lengths[pick(3)], "dioxXuc");
			if (strchr(format, 'c') && strchr(format, 'h'))
				continue;
			PRINT_STARRED(format, stars, (int)random_integer());
		} else {
			int stars = make_format(format, lengths[3 + pick(5)], "dioxXu");
			PRINT_STARRED(format, stars, (long)random_integer());
		}
		assert_same(format);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture_several_arguments_in_order),
		cmocka_unit_test(test_capture_null_and_unterminated_strings),
		cmocka_unit_test(test_capture_errno_text),
		cmocka_unit_test(test_capture_errno_text_with_a_length_keeps_the_arguments_in_step),
		cmocka_unit_test(test_capture_refuses_what_cannot_be_put_off),
		cmocka_unit_test(test_capture_random_formats_print_as_snprintf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Addresses of the kernel are found wherever a sample has them, and nothing else is taken for one. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "cli/t2x_excerpt.h"
#include "tlg.h"

enum { EVENTS = 64 };

static struct tlg_event g_events[EVENTS];
static unsigned g_n;

static void add_event(unsigned flags)
{
	g_events[g_n] = (struct tlg_event){ .flags = (uint16_t)flags };
	g_n++;
}

/* An event with its text, n bytes, in as many INFO events as that takes. */
static void add_text(unsigned type, const char *text, size_t n)
{
	add_event(type | TLG_HAS_INFO);
	add_event(TLG_VALUE);
	for (size_t at = 0; at < n; at += TLG_TEXT_SIZE) {
		size_t some = n - at < TLG_TEXT_SIZE ? n - at : TLG_TEXT_SIZE;
		memcpy(g_events[g_n].u.info.text.c, text + at, some);
		memset(g_events[g_n].u.info.text.c + some, 0, TLG_TEXT_SIZE - some);
		g_events[g_n].flags = (uint16_t)(TLG_INFO | (at + some == n ? TLG_INFO_END : 0));
		g_n++;
	}
}

static void look(struct t2x_excerpt *excerpt)
{
	t2x_excerpt_look(excerpt, &(struct t2x_block){ .events = g_events, .count = g_n });
	g_n = 0;
}

static void test_excerpt_has_the_addresses_of_scopes_and_of_checkpoints(void **state)
{
	static const char scope[] = "cpu\0ffffffff81001234 ffffffffc0000001 7f0012345678 401000";
	static const char checkpoint[] = "cpu\0[kernel.kallsyms]\0ffffffff82000000";
	struct t2x_excerpt excerpt = { .n = 0 };

	(void)state;
	add_text(TLG_SLOC, scope, sizeof(scope));
	add_event(TLG_HIT);
	add_text(TLG_HIT, checkpoint, sizeof(checkpoint) - 1);   /* its last INFO may be full */
	look(&excerpt);
	assert_int_equal(excerpt.n, 3);
	assert_int_equal(excerpt.addresses[0], 0xffffffff81001234);
	assert_int_equal(excerpt.addresses[1], 0xffffffffc0000001);
	assert_int_equal(excerpt.addresses[2], 0xffffffff82000000);
	t2x_excerpt_free(&excerpt);
}

static void test_excerpt_leaves_out_what_is_no_address_of_the_kernel(void **state)
{
	static const char text[] = "8000000000000000 7fffffffffffffff fffffffff81001234 ffffffff8100123 "
				   "ffffffff8100123g FFFFFFFF81001234 ffffffff81001234-ffffffff81001235 ";
	struct t2x_excerpt excerpt = { .n = 0 };

	(void)state;
	add_text(TLG_HIT, text, sizeof(text));
	add_text(TLG_HIT, "ffffffff", 8);      /* two events, not one number */
	add_text(TLG_HIT, "81001234", 8);
	look(&excerpt);
	assert_int_equal(excerpt.n, 0);
	t2x_excerpt_free(&excerpt);
}

static void test_excerpt_of_many_samples_has_each_address_once(void **state)
{
	enum { SAMPLES = 100000, ADDRESSES = 1000 };
	struct t2x_excerpt excerpt = { .n = 0 };
	char text[32];

	(void)state;
	for (unsigned i = 0; i < SAMPLES; i++) {
		int n = snprintf(text, sizeof(text), "%llx", 0xffffffff81000000ull + i % ADDRESSES);
		add_text(TLG_SLOC, text, (size_t)n);
		look(&excerpt);
	}
	assert_true(excerpt.max < 8 * ADDRESSES);
	t2x_excerpt_free(&excerpt);
}

/* The running kernel may show no addresses: then there is no part at all. */
static void test_excerpt_without_a_known_function_puts_nothing(void **state)
{
	struct t2x_excerpt excerpt = { .n = 0 };
	struct t2x_bytes to = { .n = 0 };

	(void)state;
	t2x_excerpt_put(&excerpt, &to);
	assert_int_equal(to.n, 0);
	add_text(TLG_SLOC, "8000000000000001", 16);
	look(&excerpt);
	t2x_excerpt_put(&excerpt, &to);
	assert_int_equal(to.n, 0);
	t2x_bytes_free(&to);
	t2x_excerpt_free(&excerpt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_excerpt_has_the_addresses_of_scopes_and_of_checkpoints),
		cmocka_unit_test(test_excerpt_leaves_out_what_is_no_address_of_the_kernel),
		cmocka_unit_test(test_excerpt_of_many_samples_has_each_address_once),
		cmocka_unit_test(test_excerpt_without_a_known_function_puts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

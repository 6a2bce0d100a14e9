/* SPDX-License-Identifier: MIT */
/* Profiles of regions: what folded counts for each stack; the messages that pprof is made of. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "profile/t2x_protobuf.h"
#include "feed.h"
#include "text/t2x_formats.h"

static void region(struct feed *f, int style, const char *label, uint64_t us)
{
	struct t2x_scope *scope = feed_scope(f, style, "cat", label, NULL);

	scope->names = (unsigned char)label[0];
	feed_hit(f, scope, us, "");
}
#define enter(f, label, us) region(f, TLG_STYLE_region_enter, label, us)
#define leave(f, label, us) region(f, TLG_STYLE_region_leave, label, us)

static void test_folded_stack_has_the_time_that_is_not_in_another(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	enter(&f, "a", 10);
	enter(&f, "b", 11);
	leave(&f, "b", 14);
	enter(&f, "b", 20);
	enter(&f, "a", 21);
	leave(&f, "a", 22);
	leave(&f, "b", 25);
	leave(&f, "a", 30);
	feed_expect(&f, "a 12000\na;b 7000\na;b;a 1000\n");
}

static void test_folded_threads_are_added_up(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	enter(&f, "a", 1010);
	f.current = 1;
	enter(&f, "a", 1011);
	leave(&f, "a", 1014);
	feed(&f, thread_exit, 1020, "");
	f.current = 0;
	leave(&f, "a", 1030);
	feed_expect(&f, "a 23000\n");
}

/* As of two copies of a trace: what one says of the thread's end must not leave the other with memory that is gone. */
static void test_folded_thread_that_comes_from_two_inputs_may_end_in_one(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	f.thread[1].tid = f.thread[0].tid;
	f.thread[0].number = 1;
	f.thread[1].number = 2;
	feed(&f, step, 1010, "");
	f.current = 1;
	feed(&f, step, 1020, "");
	f.current = 0;
	feed(&f, thread_exit, 1030, "");
	enter(&f, "b", 1040);
	leave(&f, "b", 1045);
	feed_expect(&f, "b 5000\n");
}

static void test_folded_time_that_is_not_known_is_left_out(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	enter(&f, "open", 10);
	enter(&f, "unsure", 20);
	feed_gap(&f, 50, (struct t2x_gap){ .events = 7 });
	enter(&f, "sure", 60);
	leave(&f, "sure", 65);
	leave(&f, "unsure", 70);
	feed_expect(&f, "open;unsure;sure 5000\n");
}

static void test_folded_region_entered_unseen_is_no_part_of_stacks(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	enter(&f, "outer", 10);
	feed_gap(&f, 50, (struct t2x_gap){ .events = 7, .entered = 2, .is_known = 1 });
	enter(&f, "in", 60);
	leave(&f, "in", 65);
	leave(&f, "unseen", 70);
	leave(&f, "unseen", 75);
	leave(&f, "outer", 80);
	feed_expect(&f, "outer 65000\nouter;in 5000\n");
}

static void test_folded_label_stays_within_its_place(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	enter(&f, "a b;c\n\xff\xe2\x82\xac", 10);
	leave(&f, "a b;c\n\xff\xe2\x82\xac", 11);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "cat", NULL, NULL), 20, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_leave, "cat", NULL, NULL), 22, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, NULL, NULL, NULL), 30, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_leave, NULL, NULL, NULL), 33, "");
	feed_expect(&f, "? 3000\na b:c?\xef\xbf\xbd\xe2\x82\xac 1000\ncat 2000\n");
}

/* The table of stacks grows, and finds what it has. */
static void test_folded_many_stacks_are_told_apart(void **state)
{
	static char expected[64 * 1000];
	struct feed f;
	size_t n = 0;

	(void)state;
	feed_open(&f, &t2x_writer_folded, 0, 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 1000; i++) {
			char label[16];
			struct t2x_scope begin = { .style = TLG_STYLE_region_enter, .label = label };
			struct t2x_scope end = { .style = TLG_STYLE_region_leave, .label = label };

			snprintf(label, sizeof(label), "n%03u", i);
			feed_hit(&f, &begin, 10 * i, "");
			feed_hit(&f, &end, 10 * i + 1 + i % 7, "");
			if (round)
				n += (size_t)snprintf(expected + n, sizeof(expected) - n, "n%03u %u000\n", i,
						      2 * (1 + i % 7));
		}
	}
	feed_expect(&f, expected);
}

static void expect_bytes(const struct t2x_bytes *message, const char *bytes, size_t n)
{
	assert_int_equal(message->error, 0);
	assert_int_equal(message->n, n);
	assert_memory_equal(message->bytes, bytes, n);
}

static void test_protobuf_fields_are_as_the_encoding_has_them(void **state)
{
	struct t2x_bytes message = { .n = 0 }, inner = { .n = 0 };

	(void)state;
	t2x_protobuf_uint(&message, 1, 150);
	t2x_protobuf_uint(&message, 2, 0);
	t2x_protobuf_each(&message, 2, 0);
	t2x_protobuf_fixed(&message, 3, 0x0102);
	t2x_protobuf_bytes(&inner, 16, "x", 1);
	t2x_protobuf_message(&message, 4, &inner);
	assert_int_equal(inner.n, 0);
	t2x_protobuf_packed(&message, UINT64_MAX);
#define PLAIN "\x08\x96\x01" "\x10\x00" "\x19\x02\x01\0\0\0\0\0\0" "\x22\x04\x82\x01\x01x" \
	      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	expect_bytes(&message, PLAIN, sizeof(PLAIN) - 1);
	t2x_bytes_free(&message);
	t2x_bytes_free(&inner);
}

static void test_protobuf_text_is_utf8(void **state)
{
	static const char want[] = "\x0a\x0e" "a\xef\xbf\xbd" "b\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4" "c";
	struct t2x_bytes message = { .n = 0 };

	(void)state;
	t2x_protobuf_text(&message, 1, "a\xff" "b\xed\xa0\xc3\xa4" "c", 8);
	expect_bytes(&message, want, sizeof(want) - 1);
	t2x_bytes_free(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded_stack_has_the_time_that_is_not_in_another),
		cmocka_unit_test(test_folded_threads_are_added_up),
		cmocka_unit_test(test_folded_thread_that_comes_from_two_inputs_may_end_in_one),
		cmocka_unit_test(test_folded_time_that_is_not_known_is_left_out),
		cmocka_unit_test(test_folded_region_entered_unseen_is_no_part_of_stacks),
		cmocka_unit_test(test_folded_label_stays_within_its_place),
		cmocka_unit_test(test_folded_many_stacks_are_told_apart),
		cmocka_unit_test(test_protobuf_fields_are_as_the_encoding_has_them),
		cmocka_unit_test(test_protobuf_text_is_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_t2x_queue.c - arguments of all shapes: t2x_chain, t2x_arguments and t2x_queue, by way of whole streams. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "record.h"
#include "tlgmake.h"

/* Begin a stream whose main thread has scopes, one for each style. */
static void begin(struct tlgmake *make)
{
	tlgmake_init(make, 77, 1234);
	tlgmake_cycle(make);
	tlgmake_begin(make, 0);
	tlgmake_thread(make, "main", 1);
	for (unsigned style = 1; style < TLG_STYLE_COUNT; style++)
		tlgmake_scope(make, style, style, 0, "x");
}

/* End the stream; its checkpoints must read so. */
static void expect(struct tlgmake *make, const char *text)
{
	struct record record = { .text = NULL };

	tlgmake_seal(make);
	tlgmake_end(make);
	record_bytes(&record, make->bytes, make->n);
	assert_string_equal(record.text + strlen("open main\n"), text);
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	tlgmake_free(make);
}

static void test_queue_texts_are_split_by_their_lengths(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_child_start, "iisssss", INT64_C(1), INT64_C(3), "a class",
			 NULL, "", "a long word, longer than an event", "x");
	expect(&make,
	       "hit main 10 x 1 3 \"a class\" null \"\" \"a long word, longer than an event\" \"x\"\n");
}

static void test_queue_last_text_has_no_padding(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_data, "S", "17 letters, so 2.");
	tlgmake_hit_with(&make, 20, TLG_STYLE_data, "S", "");
	tlgmake_hit_with(&make, 30, TLG_STYLE_exec_result, "iiS", INT64_C(1), INT64_C(-2), "No such file");
	expect(&make,
	       "hit main 10 x \"17 letters, so 2.\"\nhit main 20 x\nhit main 30 x 1 -2 \"No such file\"\n");
}

static void test_queue_empty_last_text_is_there_behind_values(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_exec_result, "iiS", INT64_C(1), INT64_C(0), "");
	expect(&make, "hit main 10 x 1 0 \"\"\n");
}

static void test_queue_message_arguments_have_no_last_text_unless_rendered(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_printf, "is", INT64_C(4), "four");
	tlgmake_hit_with(&make, 20, TLG_STYLE_printf, "S", "ready made");
	make.block[make.count - 1].flags |= TLG_RENDERED;
	expect(&make, "hit main 10 x 4 \"four\"\nhit main 20 x \"ready made\"\n");
}

static void test_queue_ticks_become_nanoseconds(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_child_exit, "iiit", INT64_C(1), INT64_C(2), INT64_C(3),
			 UINT64_C(7));
	tlgmake_hit_with(&make, 20, TLG_STYLE_child_exit, "iiit", INT64_C(1), INT64_C(2), INT64_C(3),
			 UINT64_C(0));
	expect(&make, "hit main 10 x 1 2 3 1700000000000000007u\nhit main 20 x 1 2 3 0u\n");
}

/* FORMAT.md section 8: a label says whose it is, and is no label then; one that says nonsense stays. */
static void test_queue_sample_of_another_thread_is_given_to_that(void **state)
{
	const int64_t one = 1;
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_sample, "iiissss", one, one, one, "@thread", "7 th07:worker", "a", "b");
	tlgmake_hit_with(&make, 20, TLG_STYLE_sample, "iiiss", one, one, one, "@thread", "0 main");
	tlgmake_hit_with(&make, 30, TLG_STYLE_sample, "iiiss", one, one, one, "@thread", "7 another name");
	tlgmake_hit_with(&make, 40, TLG_STYLE_sample, "iiiss", one, one, one, "@thread", "8");
	tlgmake_hit_with(&make, 50, TLG_STYLE_sample, "iiiss", one, one, one, "@thread", "4294967295 x");
	tlgmake_hit_with(&make, 60, TLG_STYLE_sample, "iiiss", one, one, one, "@thread", "7x");
	tlgmake_hit_with(&make, 70, TLG_STYLE_sample, "iii", one, one, one);
	tlgmake_hit_with(&make, 80, TLG_STYLE_sample, "iiissss", one, one, one, "a", "b", "@thread", "7 x");
	expect(&make, "hit th07:worker 10 x 1 1 1 \"a\" \"b\"\nhit main 20 x 1 1 1\nhit another name 30 x 1 1 1\n"
		      "hit ? 40 x 1 1 1\nhit main 50 x 1 1 1 \"@thread\" \"4294967295 x\"\n"
		      "hit main 60 x 1 1 1 \"@thread\" \"7x\"\nhit main 70 x 1 1 1\n"
		      "hit main 80 x 1 1 1 \"a\" \"b\" \"@thread\" \"7 x\"\n");
}

static void test_queue_lengths_beyond_the_text_are_cut(void **state)
{
	struct tlgmake make;
	struct tlg_event *value;

	(void)state;
	begin(&make);
	tlgmake_hit_with(&make, 10, TLG_STYLE_start, "ss", "word", "next");
	value = &make.block[make.count - 1];
	value[-1].u.value.value = INT64_MAX;
	tlgmake_hit_with(&make, 20, TLG_STYLE_start, "s", "word");
	make.block[make.count - 1].u.value.value = -1;
	expect(&make, "hit main 10 x \"wordnext\" \"\"\nhit main 20 x \"\"\n");
}

/* Text in pieces of 16 bytes: a HIT and so many MORE. */
static void add_pieces(struct tlgmake *make, uint64_t at_ns, uint32_t scope, unsigned pieces)
{
	uint32_t sequence = ++make->next[0];

	for (unsigned i = 0; i < pieces; i++, sequence = ++make->next[0]) {
		unsigned flags =
			(i ? TLG_MORE : TLG_HIT) | TLG_HAS_INFO | (i + 1 < pieces ? TLG_HAS_MORE : 0);
		tlgmake_add(make, flags, sequence)->u.hit = (struct tlg_hit){ TLGMAKE_RAW + at_ns, scope, 0 };
		tlgmake_text(make, sequence, "abcdefghijklmnop", 16);
		make->next[0]++;
	}
	make->next[0]--;
}

static void test_queue_more_goes_on_with_the_arguments(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	add_pieces(&make, 10, TLG_STYLE_data, 3);
	tlgmake_hit(&make, 20, TLG_STYLE_thread_start);
	expect(&make, "hit main 10 x \"abcdefghijklmnopabcdefghijklmnopabcdefghijklmnop\"\nhit main 20 x\n");
}

static void test_queue_signal_handler_between_pieces_is_tolerated(void **state)
{
	struct tlgmake make;
	struct tlg_hit hit = { TLGMAKE_RAW + 10, TLG_STYLE_data, 0 };

	(void)state;
	begin(&make);
	tlgmake_add(&make, TLG_HIT | TLG_HAS_INFO | TLG_HAS_MORE, 1)->u.hit = hit;
	tlgmake_text(&make, 1, "0123456789abcdef", 16);
	make.next[0] = 2;
	tlgmake_hit_with(&make, 15, TLG_STYLE_data, "S", "handler");
	tlgmake_add(&make, TLG_MORE | TLG_HAS_INFO, 5)->u.hit = hit;
	tlgmake_text(&make, 5, "the end", 7);
	expect(&make, "hit main 15 x \"handler\"\nhit main 10 x \"0123456789abcdefthe end\"\n");
}

static void test_queue_more_that_never_comes_shows_what_is_there(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	add_pieces(&make, 10, TLG_STYLE_data, 2);
	make.count -= 2;          /* the MORE and its text */
	make.next[0] -= 2;
	expect(&make, "hit main 10 x \"abcdefghijklmnop\"\n");
}

/* A region_enter with a long message, say: it must not come behind what is inside. */
static void test_queue_more_that_is_lost_keeps_the_order(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	add_pieces(&make, 10, TLG_STYLE_data, 2);
	make.count -= 2;
	tlgmake_hit(&make, 20, TLG_STYLE_thread_start);
	expect(&make, "hit main 10 x \"abcdefghijklmnop\"\ngap main 2\nhit main 20 x\n");
}

static void test_queue_more_without_its_hit_is_left_out(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_add(&make, TLG_MORE | TLG_HAS_INFO, 1)->u.more =
		(struct tlg_more){ TLGMAKE_RAW + 10, TLG_STYLE_data, 0 };
	tlgmake_text(&make, 1, "rest", 4);
	make.next[0] = 2;
	tlgmake_hit(&make, 20, TLG_STYLE_thread_start);
	expect(&make, "hit main 20 x\n");
}

static void test_queue_events_of_other_chains_between_are_tolerated(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };
	struct tlg_hit hit = { TLGMAKE_RAW + 10, TLG_STYLE_data, 0 };

	(void)state;
	begin(&make);
	tlgmake_add(&make, TLG_HIT | TLG_HAS_INFO, 1)->u.hit = hit;
	hit.when += 10;
	tlgmake_add(&make, TLG_HIT | TLG_HAS_INFO, 3)->u.hit = hit;
	tlgmake_text(&make, 3, "second", 6);
	tlgmake_text(&make, 1, "first", 5);
	tlgmake_seal(&make);
	tlgmake_begin(&make, 0);
	make.next[0] = 4;
	tlgmake_hit(&make, 30, TLG_STYLE_thread_start);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	assert_non_null(strstr(record.text, "hit main 10 x \"first\"\n"));
	assert_non_null(strstr(record.text, "hit main 20 x \"second\"\n"));
	record_free(&record);
	tlgmake_free(&make);
}

static void test_queue_scope_that_comes_along_is_used(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	for (unsigned i = 0; i < 2; i++)
		tlgmake_hit_with(&make, 10 + i, 0, "iiissssS", (int64_t)TLG_STYLE_data, INT64_C(12),
				 INT64_C(0), "f.c", "cat", "own label", NULL, "value");
	tlgmake_hit_with(&make, 20, 0, "ii", INT64_C(1), INT64_C(2));
	expect(&make,
	       "hit main 10 own label \"value\"\nhit main 11 own label \"value\"\nhit main 20 ?0 1 2\n");
}

/* More scopes than are kept: those beyond are made for their checkpoint alone. */
static void test_queue_scopes_without_number_are_bounded(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };
	char label[32];

	(void)state;
	begin(&make);
	for (unsigned i = 0; i < T2X_MAX_INLINE_SCOPES + 500; i++) {
		if (i % 50 == 0) {
			tlgmake_seal(&make);
			tlgmake_begin(&make, 0);
		}
		snprintf(label, sizeof(label), "label %u", i);
		tlgmake_hit_with(&make, 10 + i, 0, "iiissssS", (int64_t)TLG_STYLE_data, INT64_C(12),
				 INT64_C(0), NULL, NULL, label, NULL, "value");
	}
	tlgmake_seal(&make);
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	for (unsigned i = 0; i < T2X_MAX_INLINE_SCOPES + 500; i++) {
		snprintf(label, sizeof(label), " label %u \"value\"\n", i);
		assert_non_null(strstr(record.text, label));
	}
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	tlgmake_free(&make);
}

/* 3 MiB of text for one checkpoint: cut off at the limit. */
static void test_queue_endless_text_is_cut(void **state)
{
	enum { BLOCK_TEXTS = 4000, BLOCKS = 50 };
	struct tlgmake make;
	struct record record = { .text = NULL };

	(void)state;
	begin(&make);
	tlgmake_add(&make, TLG_HIT | TLG_HAS_INFO, 1)->u.hit =
		(struct tlg_hit){ TLGMAKE_RAW + 10, TLG_STYLE_data, 0 };
	tlgmake_seal(&make);
	for (unsigned i = 0; i < BLOCKS; i++) {
		tlgmake_begin(&make, 0);
		for (unsigned k = 0; k < BLOCK_TEXTS; k++)
			memset(tlgmake_add(&make, TLG_INFO, 1)->u.info.text.c, 'a', TLG_TEXT_SIZE);
		tlgmake_seal(&make);
	}
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	assert_non_null(strstr(record.text, "hit main 10 x \"aaaaaaaa"));
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	tlgmake_free(&make);
}

/* A command line of a file name for each of so many files. */
static void test_queue_many_arguments_are_all_there(void **state)
{
	enum { BLOCK_WORDS = 4000, BLOCKS = 50 };
	struct tlgmake make;
	struct record record = { .text = NULL };
	size_t words = 0;

	(void)state;
	begin(&make);
	tlgmake_add(&make, TLG_HIT | TLG_HAS_INFO, 1)->u.hit =
		(struct tlg_hit){ TLGMAKE_RAW + 10, TLG_STYLE_start, 0 };
	tlgmake_seal(&make);
	for (unsigned i = 0; i < BLOCKS; i++) {
		tlgmake_begin(&make, 0);
		for (unsigned k = 0; k < BLOCK_WORDS; k++)
			tlgmake_add(&make, TLG_VALUE, 1)->u.value = (struct tlg_value){ 0, TLG_ARG_TEXT, 0 };
		tlgmake_seal(&make);
	}
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	for (const char *p = record.text; (p = strstr(p, " \"\"")); p += 3)
		words++;
	assert_int_equal(words, BLOCK_WORDS * BLOCKS);
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	tlgmake_free(&make);
}

static void test_queue_unknown_types_are_skipped_and_counted(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };

	(void)state;
	begin(&make);
	tlgmake_add(&make, 0x55, 1);
	tlgmake_hit(&make, 10, TLG_STYLE_thread_start);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	assert_string_equal(record.text, "open main\nhit main 10 x\n");
	assert_int_equal(record.context.unknown, 1);
	record_free(&record);
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_texts_are_split_by_their_lengths),
		cmocka_unit_test(test_queue_last_text_has_no_padding),
		cmocka_unit_test(test_queue_empty_last_text_is_there_behind_values),
		cmocka_unit_test(test_queue_message_arguments_have_no_last_text_unless_rendered),
		cmocka_unit_test(test_queue_ticks_become_nanoseconds),
		cmocka_unit_test(test_queue_sample_of_another_thread_is_given_to_that),
		cmocka_unit_test(test_queue_lengths_beyond_the_text_are_cut),
		cmocka_unit_test(test_queue_more_goes_on_with_the_arguments),
		cmocka_unit_test(test_queue_signal_handler_between_pieces_is_tolerated),
		cmocka_unit_test(test_queue_more_that_never_comes_shows_what_is_there),
		cmocka_unit_test(test_queue_more_that_is_lost_keeps_the_order),
		cmocka_unit_test(test_queue_more_without_its_hit_is_left_out),
		cmocka_unit_test(test_queue_events_of_other_chains_between_are_tolerated),
		cmocka_unit_test(test_queue_scope_that_comes_along_is_used),
		cmocka_unit_test(test_queue_scopes_without_number_are_bounded),
		cmocka_unit_test(test_queue_endless_text_is_cut),
		cmocka_unit_test(test_queue_many_arguments_are_all_there),
		cmocka_unit_test(test_queue_unknown_types_are_skipped_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

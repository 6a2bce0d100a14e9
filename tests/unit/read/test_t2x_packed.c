/* SPDX-License-Identifier: MIT */
/* test_t2x_packed.c - a file of packed blocks is read as the plain one it stands for, in either byte order. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "record.h"
#include "tlg_block.h"
#include "tlgmake.h"

enum { BLOCKS = 6, HITS = 40, ANY_TYPE = 200 };

/*
 * Two threads' blocks.  The first event of each says nothing to a reader of either order but its head: what is packed
 * behind it are numbers.
 */
static void make_stream(struct tlgmake *make, int is_packed)
{
	tlgmake_init(make, 77, 1234);
	make->is_packed = is_packed;
	tlgmake_cycle(make);
	for (unsigned i = 0; i < BLOCKS; i++) {
		tlgmake_begin(make, i % 2);
		tlgmake_add(make, ANY_TYPE, make->next[i % 2] + 1);
		for (unsigned k = 0; k < HITS; k++) {
			uint64_t ns = 1000 * i + k;
			if (k % 4)
				tlgmake_hit(make, k % 5 ? ns : 0, 1 + k);
			else
				tlgmake_hit_with(make, ns, 1, "iutS", (int64_t)-5, UINT64_C(70000), ns, "some text");
		}
		tlgmake_seal(make);
	}
	tlgmake_end(make);
}

static void make_both(struct tlgmake *plain, struct tlgmake *packed)
{
	make_stream(plain, 0);
	make_stream(packed, 1);
	assert_true(packed->n < plain->n / 2);
}

static void free_both(struct tlgmake *plain, struct tlgmake *packed)
{
	tlgmake_free(plain);
	tlgmake_free(packed);
}

/* The packed file as --format=raw is the plain one. */
static void check_raw(const struct tlgmake *plain, const struct tlgmake *packed)
{
	unsigned char *raw;
	size_t n;

	raw = listing_raw(packed->bytes, packed->n, NULL, &n);
	assert_int_equal(n, plain->n);
	assert_memory_equal(raw, plain->bytes, n);
	free(raw);
}

static void test_packed_raw_is_the_plain_file(void **state)
{
	struct tlgmake plain, packed;

	(void)state;
	make_both(&plain, &packed);
	check_raw(&plain, &packed);
	free_both(&plain, &packed);
}

static void test_packed_raw_of_the_other_order_is_its_plain_file(void **state)
{
	struct tlgmake plain, packed;

	(void)state;
	make_both(&plain, &packed);
	tlgmake_swap(&plain);
	tlgmake_swap(&packed);
	check_raw(&plain, &packed);
	free_both(&plain, &packed);
}

static void test_packed_model_sees_no_difference(void **state)
{
	struct record from_plain = { .text = NULL }, from_packed = { .text = NULL }, from_swapped = { .text = NULL };
	struct tlgmake plain, packed;

	(void)state;
	make_both(&plain, &packed);
	record_bytes(&from_plain, plain.bytes, plain.n);
	record_bytes(&from_packed, packed.bytes, packed.n);
	tlgmake_swap(&packed);
	record_bytes(&from_swapped, packed.bytes, packed.n);
	assert_non_null(strstr(from_plain.text, "some text"));
	assert_string_equal(from_packed.text, from_plain.text);
	assert_string_equal(from_swapped.text, from_plain.text);
	record_free(&from_plain);
	record_free(&from_packed);
	record_free(&from_swapped);
	free_both(&plain, &packed);
}

/* Offset of the first packed block, and its BLOCK event. */
static size_t find_packed(const struct tlgmake *make, struct tlg_event *head)
{
	for (size_t at = 0;; at += (head->u.block.size + 1u) * sizeof(*head)) {
		assert_true(at < make->n);
		memcpy(head, make->bytes + at, sizeof(*head));
		if (head->u.block.encoding == TLG_PACKED)
			return at;
	}
}

static unsigned count_blocks(const unsigned char *bytes, size_t n)
{
	struct tlg_event head;
	unsigned blocks = 0;

	for (size_t at = 0; at < n; at += (head.u.block.size + 1u) * sizeof(head), blocks++)
		memcpy(&head, bytes + at, sizeof(head));
	return blocks;
}

/* Blocks that can be read from the file. */
static unsigned readable(const struct tlgmake *make)
{
	unsigned char *raw;
	unsigned blocks;
	size_t n;

	raw = listing_raw(make->bytes, make->n, NULL, &n);
	blocks = count_blocks(raw, n);
	free(raw);
	return blocks;
}

static void test_packed_flipped_bit_anywhere_costs_its_block_only(void **state)
{
	struct tlgmake make;
	struct tlg_event head;
	unsigned all;
	size_t at;

	(void)state;
	make_stream(&make, 1);
	all = readable(&make);
	at = find_packed(&make, &head);
	for (size_t i = 0; i < (head.u.block.size + 1u) * sizeof(head); i++) {
		make.bytes[at + i] ^= 0x20;
		assert_int_equal(readable(&make), all - 1);
		make.bytes[at + i] ^= 0x20;
	}
	tlgmake_free(&make);
}

static void test_packed_forged_content_costs_its_block_only(void **state)
{
	struct tlgmake make;
	struct tlg_event *block, head;
	unsigned all;
	size_t at;

	(void)state;
	make_stream(&make, 1);
	all = readable(&make);
	at = find_packed(&make, &head);
	block = (struct tlg_event *)(void *)(make.bytes + at);
	memset(block + 1, 0xff, head.u.block.size * sizeof(head));
	tlg_block_sign(block, make.stream);
	assert_int_equal(readable(&make), all - 1);
	block->u.block.count = TLG_BLOCK_LIMIT;
	memset(block + 1, 0, head.u.block.size * sizeof(head));
	tlg_block_sign(block, make.stream);
	assert_int_equal(readable(&make), all - 1);
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed_raw_is_the_plain_file),
		cmocka_unit_test(test_packed_raw_of_the_other_order_is_its_plain_file),
		cmocka_unit_test(test_packed_model_sees_no_difference),
		cmocka_unit_test(test_packed_flipped_bit_anywhere_costs_its_block_only),
		cmocka_unit_test(test_packed_forged_content_costs_its_block_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

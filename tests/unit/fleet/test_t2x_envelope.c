/* SPDX-License-Identifier: MIT */
/* Envelopes, receipts and parcels: what is made is read back, and nothing else is accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tlgmake.h"
#include "tlg_crc.h"
#include "fleet/t2x_parcel.h"

static unsigned char message[T2X_ENVELOPE_MESSAGE], plain[TLG_FRAME_BYTES], packed_plain[TLG_FRAME_BYTES];

static const struct t2x_envelope usual = { .host = "web-1", .stream = 0x1234567, .pid = 77, .previous = 0,
					   .start_ns = 1700000000000000000 };

/* Gather the blocks of a stream of so many threads into a parcel.  Return  bytes of the message */
static size_t make_message(unsigned threads)
{
	struct t2x_parcel parcel = { .plain = packed_plain };
	struct t2x_parcel_block block;
	struct tlgmake make;
	size_t n;

	tlgmake_init(&make, usual.stream, usual.pid);
	tlgmake_cycle(&make);
	for (unsigned i = 0; i < threads; i++) {
		tlgmake_begin(&make, i);
		tlgmake_scope(&make, i + 1, 0, 0, "label");
		tlgmake_hit(&make, 10 + i, i + 1);
		tlgmake_seal(&make);
	}
	tlgmake_end(&make);
	for (size_t at = 0; at < make.n; at += block.bytes) {
		assert_true(t2x_parcel_block(&block, usual.stream, make.bytes + at, make.n - at));
		assert_true(t2x_parcel_add(&parcel, &usual, &block, make.bytes + at));
	}
	assert_int_equal(parcel.head.last, make.number);
	n = t2x_parcel_seal(&parcel, message);
	assert_true(n > T2X_ENVELOPE_BYTES);
	assert_int_equal(parcel.head.stream, 0);
	tlgmake_free(&make);
	return n;
}

/* Correct the envelope's checksum, as somebody who is hostile would. */
static void reseal(unsigned char *bytes)
{
	uint32_t crc = tlg_crc32c(0, bytes, T2X_ENVELOPE_BYTES - 4);

	for (int i = 0; i < 4; i++, crc >>= 8)
		bytes[T2X_ENVELOPE_BYTES - 4 + i] = (unsigned char)crc;
}

static void test_envelope_written_is_read(void **state)
{
	struct t2x_envelope gap = usual, head;

	(void)state;
	gap.previous = 3;
	gap.first = 5;
	gap.last = 9;
	gap.blocks = 4;
	gap.events = UINT64_C(0x123456789ab);
	gap.reason = T2X_GAP_QUOTA;
	t2x_envelope_write(&gap, message);
	assert_null(t2x_envelope_read(&head, message, T2X_ENVELOPE_BYTES));
	assert_string_equal(head.host, gap.host);
	assert_int_equal(head.stream, gap.stream);
	assert_int_equal(head.pid, gap.pid);
	assert_int_equal(head.previous, gap.previous);
	assert_int_equal(head.first, gap.first);
	assert_int_equal(head.last, gap.last);
	assert_int_equal(head.blocks, gap.blocks);
	assert_int_equal(head.events, gap.events);
	assert_int_equal(head.start_ns, gap.start_ns);
	assert_int_equal(head.reason, T2X_GAP_QUOTA);
	assert_string_equal(t2x_gap_reason_name(head.reason), "quota");
}

/* Each of these is refused, also with a right checksum. */
static void test_envelope_that_contradicts_itself_is_refused(void **state)
{
	static const struct t2x_envelope good = { .host = "a", .stream = 1, .previous = 1, .first = 2, .last = 4,
						  .blocks = 3, .reason = T2X_GAP_QUOTA };
	struct t2x_envelope bad[9], head;

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		bad[i] = good;
	bad[0].stream = 0;
	bad[1].first = 0;
	bad[2].last = 1;
	bad[3].previous = 2;
	bad[4].blocks = 4;
	bad[5].blocks = 0;
	bad[6].ring = 1;
	bad[7].reason = T2X_GAP_REASONS;
	bad[8].plain_bytes = 24;
	t2x_envelope_write(&good, message);
	assert_null(t2x_envelope_read(&head, message, T2X_ENVELOPE_BYTES));
	for (unsigned i = 0; i < 9; i++) {
		t2x_envelope_write(&bad[i], message);
		assert_non_null(t2x_envelope_read(&head, message, T2X_ENVELOPE_BYTES));
	}
	t2x_envelope_write(&good, message);
	for (size_t n = 0; n < T2X_ENVELOPE_BYTES; n++)
		assert_non_null(t2x_envelope_read(&head, message, n));
	assert_non_null(t2x_envelope_read(&head, message, T2X_ENVELOPE_BYTES + 1));
}

static void test_envelope_host_that_is_a_path_or_subject_is_refused(void **state)
{
	static const char *const names[] = { "", "..", "a/b", "a.b", "*", ">", "a b", "a\n", "\xc3\xa4" };
	struct t2x_envelope head = { .stream = 1, .first = 1, .last = 1, .blocks = 1, .reason = T2X_GAP_QUOTA };
	char made[T2X_ENVELOPE_HOST], lengthy[100];

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(head.host, sizeof(head.host), "%s", names[i]);
		t2x_envelope_write(&head, message);
		assert_non_null(t2x_envelope_read(&head, message, T2X_ENVELOPE_BYTES));
		assert_false(t2x_envelope_is_host(names[i]));
		t2x_envelope_set_host(made, names[i]);
		assert_true(t2x_envelope_is_host(made));
	}
	memset(lengthy, 'x', sizeof(lengthy));
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_false(t2x_envelope_is_host(lengthy));
	t2x_envelope_set_host(made, lengthy);
	assert_int_equal(strlen(made), T2X_ENVELOPE_HOST - 1);
	/* a name that has no end */
	memset(message + 64, 'x', T2X_ENVELOPE_HOST);
	reseal(message);
	assert_non_null(t2x_envelope_read(&head, message, T2X_ENVELOPE_BYTES));
}

static void test_receipt_written_is_read_and_any_other_refused(void **state)
{
	const struct t2x_receipt receipt = { .stream = 7, .ring = 0, .pid = 5, .until = 99, .is_missing = 1 };
	unsigned char bytes[T2X_RECEIPT_BYTES];
	struct t2x_receipt got;

	(void)state;
	t2x_receipt_write(&receipt, bytes);
	assert_true(t2x_receipt_read(&got, bytes, sizeof(bytes)));
	assert_int_equal(got.stream, 7);
	assert_int_equal(got.until, 99);
	assert_true(got.is_missing);
	assert_false(t2x_receipt_read(&got, bytes, sizeof(bytes) - 1));
	for (unsigned bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
		assert_false(t2x_receipt_read(&got, bytes, sizeof(bytes)));
		bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
}

static void test_parcel_sealed_is_opened_byte_for_byte(void **state)
{
	size_t n = make_message(4);
	struct t2x_envelope head;

	(void)state;
	assert_null(t2x_parcel_open(&head, message, n, plain));
	assert_int_equal(head.first, 1);
	assert_int_equal(head.last, 6);
	assert_int_equal(head.blocks, 6);
	assert_memory_equal(plain, packed_plain, head.plain_bytes);
}

/* A parcel ends where no further block fits, and a message of it is within its limit. */
static void test_parcel_full_takes_no_block(void **state)
{
	static unsigned char noise[(TLG_BLOCK_LIMIT + 1) * TLG_EVENT_SIZE];
	struct t2x_parcel parcel = { .plain = packed_plain };
	struct t2x_parcel_block block = { 1, TLG_BLOCK_LIMIT, sizeof(noise) };
	struct t2x_envelope other = usual;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (unsigned char)rand();
	assert_true(t2x_parcel_add(&parcel, &usual, &block, noise));
	block.number++;
	assert_false(t2x_parcel_add(&parcel, &usual, &block, noise));
	block.bytes = TLG_FRAME_BYTES - sizeof(noise);
	assert_true(t2x_parcel_add(&parcel, &usual, &block, noise));
	block.bytes = 0;
	other.stream++;
	assert_false(t2x_parcel_add(&parcel, &other, &block, noise));
	assert_in_range(t2x_parcel_seal(&parcel, message), TLG_FRAME_BYTES, T2X_ENVELOPE_MESSAGE);
}

static void test_parcel_with_any_bit_flipped_is_refused(void **state)
{
	size_t n = make_message(1);
	struct t2x_envelope head;

	(void)state;
	for (size_t bit = 0; bit < 8 * n; bit++) {
		message[bit / 8] ^= (unsigned char)(1U << bit % 8);
		assert_non_null(t2x_parcel_open(&head, message, n, plain));
		message[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	assert_null(t2x_parcel_open(&head, message, n, plain));
}

/* Somebody who knows all checksums still cannot send blocks of another stream, or other numbers than he says. */
static void test_parcel_with_other_blocks_than_it_says_is_refused(void **state)
{
	size_t n = make_message(2);
	struct t2x_envelope good, bad[6], head;

	(void)state;
	assert_null(t2x_parcel_open(&good, message, n, plain));
	for (unsigned i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].stream++;
	bad[1].last++;
	bad[2].first++;
	bad[3].blocks--;
	bad[4].events++;
	bad[5].plain_bytes -= TLG_EVENT_SIZE;
	for (unsigned i = 0; i < 6; i++) {
		t2x_envelope_write(&bad[i], message);
		assert_non_null(t2x_parcel_open(&head, message, n, plain));
	}
}

static void test_parcel_of_the_other_byte_order_is_opened(void **state)
{
	struct t2x_parcel parcel = { .plain = packed_plain };
	struct t2x_parcel_block block;
	struct t2x_envelope head;
	struct tlgmake make;

	(void)state;
	tlgmake_init(&make, usual.stream, usual.pid);
	tlgmake_cycle(&make);
	tlgmake_mark(&make, 5);
	tlgmake_swap(&make);
	for (size_t at = 0; at < make.n; at += block.bytes) {
		assert_true(t2x_parcel_block(&block, usual.stream, make.bytes + at, make.n - at));
		assert_true(t2x_parcel_add(&parcel, &usual, &block, make.bytes + at));
	}
	assert_null(t2x_parcel_open(&head, message, t2x_parcel_seal(&parcel, message), plain));
	assert_int_equal(head.last, 2);
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_envelope_written_is_read),
		cmocka_unit_test(test_envelope_that_contradicts_itself_is_refused),
		cmocka_unit_test(test_envelope_host_that_is_a_path_or_subject_is_refused),
		cmocka_unit_test(test_receipt_written_is_read_and_any_other_refused),
		cmocka_unit_test(test_parcel_sealed_is_opened_byte_for_byte),
		cmocka_unit_test(test_parcel_full_takes_no_block),
		cmocka_unit_test(test_parcel_with_any_bit_flipped_is_refused),
		cmocka_unit_test(test_parcel_with_other_blocks_than_it_says_is_refused),
		cmocka_unit_test(test_parcel_of_the_other_byte_order_is_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

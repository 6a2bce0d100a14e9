/* SPDX-License-Identifier: MIT */
/* The outbox: nothing leaves it without a receipt, and everything else is sent again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/t2x_outbox.h"

static struct t2x_outbox outbox;

static int set_up(void **state)
{
	(void)state;
	outbox = (struct t2x_outbox){ .first = NULL };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	t2x_outbox_free(&outbox);
	assert_null(outbox.first);
	assert_int_equal(outbox.bytes, 0);
	assert_int_equal(outbox.count, 0);
	return 0;
}

static void add(uint32_t stream, uint32_t pid, uint32_t first, uint32_t last)
{
	const struct t2x_envelope head = { .stream = stream, .pid = pid, .previous = first - 1, .first = first,
					   .last = last };

	assert_int_equal(t2x_outbox_add(&outbox, &head, "message", 7), 0);
}

static int receive(uint32_t stream, uint32_t pid, uint32_t until, int is_missing, uint64_t now_ms)
{
	const struct t2x_receipt receipt = { .stream = stream, .pid = pid, .until = until, .is_missing = is_missing };

	return t2x_outbox_receipt(&outbox, &receipt, now_ms);
}

/* Send all that is due.  Return  how many */
static unsigned send_all(uint64_t now_ms)
{
	struct t2x_outgoing *message;
	unsigned n = 0;

	while ((message = t2x_outbox_due(&outbox, now_ms))) {
		t2x_outbox_sent(&outbox, message, now_ms);
		n++;
	}
	return n;
}

static void test_outbox_message_without_receipt_is_sent_again_later_each_time(void **state)
{
	uint64_t now = 1000;

	(void)state;
	add(1, 5, 1, 3);
	assert_int_equal(send_all(now), 1);
	for (uint64_t wait = T2X_OUTBOX_FIRST_MS; wait < T2X_OUTBOX_MAX_MS; wait *= 2) {
		assert_int_equal(send_all(now + wait - 1), 0);
		assert_int_equal(send_all(now += wait), 1);
	}
	for (int i = 0; i < 5; i++) {
		assert_int_equal(send_all(now + T2X_OUTBOX_MAX_MS - 1), 0);
		assert_int_equal(send_all(now += T2X_OUTBOX_MAX_MS), 1);
	}
	assert_int_equal(outbox.count, 1);
	assert_int_equal(outbox.sent, 1);
}

static void test_outbox_receipt_covers_what_is_in_front_of_it(void **state)
{
	(void)state;
	add(1, 5, 1, 3);
	add(1, 5, 4, 6);
	add(1, 5, 7, 9);
	assert_int_equal(receive(1, 5, 6, 0, 0), 0);
	assert_int_equal(outbox.count, 1);
	assert_int_equal(outbox.receipted, 2);
	assert_int_equal(outbox.first->head.first, 7);
	/* half of a message is not all of it; an old receipt changes nothing */
	assert_int_equal(receive(1, 5, 8, 0, 0), 0);
	assert_int_equal(receive(1, 5, 3, 0, 0), 0);
	assert_int_equal(outbox.count, 1);
	add(1, 5, 10, 10);
	assert_int_equal(receive(1, 5, 10, 0, 0), 0);
	assert_int_equal(outbox.count, 0);
}

static void test_outbox_receipt_of_another_process_covers_nothing(void **state)
{
	(void)state;
	add(1, 5, 1, 3);
	add(1, 6, 1, 3);
	add(2, 5, 1, 3);
	assert_int_equal(receive(1, 5, 3, 0, 0), 0);
	assert_int_equal(outbox.count, 2);
	assert_int_equal(outbox.first->head.pid, 6);
	t2x_outbox_drop(&outbox, 2, 5);
	assert_int_equal(outbox.count, 1);
	assert_int_equal(outbox.first->head.pid, 6);
}

static void test_outbox_missing_blocks_are_due_soon(void **state)
{
	(void)state;
	add(1, 5, 1, 3);
	add(1, 5, 4, 6);
	add(2, 5, 1, 3);
	assert_int_equal(send_all(1000), 3);
	/* the first one was lost: it is here still */
	assert_int_equal(receive(1, 5, 0, 1, 1010), 0);
	assert_int_equal(send_all(1010), 0);
	assert_int_equal(send_all(1010 + T2X_OUTBOX_FIRST_MS / 2), 2);
}

static void test_outbox_blocks_lost_behind_their_receipt_have_to_be_made_again(void **state)
{
	(void)state;
	add(1, 5, 1, 3);
	add(1, 5, 4, 6);
	assert_int_equal(receive(1, 5, 3, 0, 0), 0);
	assert_int_equal(receive(1, 5, 3, 1, 0), 0);
	assert_int_equal(receive(1, 5, 2, 1, 0), 1);
	/* a stream of which nothing waits is not asked for */
	assert_int_equal(receive(3, 5, 0, 1, 0), 0);
}

static void test_outbox_is_full_until_receipts_come(void **state)
{
	const struct t2x_envelope head = { .stream = 1, .pid = 5, .first = 1, .last = 1 };
	static char bytes[T2X_ENVELOPE_MESSAGE];

	(void)state;
	for (size_t n = 0; n < T2X_OUTBOX_BYTES; n += sizeof(bytes)) {
		assert_false(t2x_outbox_is_full(&outbox));
		assert_int_equal(t2x_outbox_add(&outbox, &head, bytes, sizeof(bytes)), 0);
	}
	assert_true(t2x_outbox_is_full(&outbox));
	assert_int_equal(receive(1, 5, 1, 0, 0), 0);
	assert_false(t2x_outbox_is_full(&outbox));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_outbox_message_without_receipt_is_sent_again_later_each_time,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_outbox_receipt_covers_what_is_in_front_of_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_outbox_receipt_of_another_process_covers_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_outbox_missing_blocks_are_due_soon, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_outbox_blocks_lost_behind_their_receipt_have_to_be_made_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_outbox_is_full_until_receipts_come, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

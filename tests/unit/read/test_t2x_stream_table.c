/* SPDX-License-Identifier: MIT */
/* Streams that were met: the latest are known, the oldest forgotten, processes find their latest. */
#include "t2test.h"

#include "read/t2x_stream_table.h"

enum { MANY = 100000, KEPT = 32768 };

static void test_met_streams_and_their_processes_are_found(void **state)
{
	struct t2x_mets mets = { .oldest = NULL };

	(void)state;
	assert_null(t2x_met_get(&mets, 1));
	assert_null(t2x_met_latest(&mets, 7));
	t2x_met_remember(&mets, 1, 7);
	t2x_met_remember(&mets, 2, 7);
	assert_int_equal(t2x_met_latest(&mets, 7)->id, 2);
	t2x_met_remember(&mets, 1, 7);
	assert_int_equal(t2x_met_latest(&mets, 7)->id, 1);
	assert_int_equal(t2x_met_get(&mets, 2)->id, 2);
	/* a block that says it is of another process does not take the stream along */
	t2x_met_remember(&mets, 2, 8);
	assert_null(t2x_met_latest(&mets, 8));
	t2x_met_free(&mets);
}

/* As many processes as write into one file; their ids come around. */
static void test_met_of_many_streams_the_latest_are_known(void **state)
{
	struct t2x_mets mets = { .oldest = NULL };

	(void)state;
	for (uint32_t i = 1; i <= MANY; i++) {
		t2x_met_remember(&mets, i * 2654435761U, (uint16_t)i);
		assert_int_equal(t2x_met_latest(&mets, (uint16_t)i)->id, i * 2654435761U);
		assert_true(mets.by_id.count <= KEPT && mets.by_pid.count <= KEPT);
	}
	for (uint32_t i = 1; i <= MANY; i++)
		assert_int_equal(t2x_met_get(&mets, i * 2654435761U) != NULL, i > MANY - KEPT);
	for (uint32_t i = 0; i < 65536; i++) {
		const struct t2x_met *met = t2x_met_latest(&mets, (uint16_t)i);
		assert_true(!met || t2x_met_get(&mets, met->id) == met);
	}
	t2x_met_free(&mets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_met_streams_and_their_processes_are_found),
		cmocka_unit_test(test_met_of_many_streams_the_latest_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

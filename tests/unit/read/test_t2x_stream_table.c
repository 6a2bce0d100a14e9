/* SPDX-License-Identifier: MIT */
/* Known streams: the latest are kept, the oldest dropped, processes find their latest. */
#include "t2test.h"

#include "read/t2x_stream_table.h"

enum { MANY = 100000, KEPT = 32768 };

static void test_stream_table_finds_streams_and_the_latest_of_a_process(void **state)
{
	struct t2x_stream_table table = { .oldest = NULL };

	(void)state;
	assert_null(t2x_stream_table_get(&table, 1));
	assert_null(t2x_stream_table_latest(&table, 7));
	t2x_stream_table_add(&table, 1, 7);
	t2x_stream_table_add(&table, 2, 7);
	assert_int_equal(t2x_stream_table_latest(&table, 7)->id, 2);
	t2x_stream_table_add(&table, 1, 7);
	assert_int_equal(t2x_stream_table_latest(&table, 7)->id, 1);
	assert_int_equal(t2x_stream_table_get(&table, 2)->id, 2);
	/* a block that says it is of another process does not take the stream along */
	t2x_stream_table_add(&table, 2, 8);
	assert_null(t2x_stream_table_latest(&table, 8));
	t2x_stream_table_free(&table);
}

/* As many processes as write into one file; their ids come around. */
static void test_stream_table_of_many_streams_keeps_the_latest(void **state)
{
	struct t2x_stream_table table = { .oldest = NULL };

	(void)state;
	for (uint32_t i = 1; i <= MANY; i++) {
		t2x_stream_table_add(&table, i * 2654435761U, (uint16_t)i);
		assert_int_equal(t2x_stream_table_latest(&table, (uint16_t)i)->id, i * 2654435761U);
		assert_true(table.by_id.count <= KEPT && table.by_pid.count <= KEPT);
	}
	for (uint32_t i = 1; i <= MANY; i++)
		assert_int_equal(t2x_stream_table_get(&table, i * 2654435761U) != NULL, i > MANY - KEPT);
	for (uint32_t i = 0; i < 65536; i++) {
		const struct t2x_known_stream *stream = t2x_stream_table_latest(&table, (uint16_t)i);
		assert_true(!stream || t2x_stream_table_get(&table, stream->id) == stream);
	}
	t2x_stream_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_table_finds_streams_and_the_latest_of_a_process),
		cmocka_unit_test(test_stream_table_of_many_streams_keeps_the_latest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Chains in a chunk: which are committed; THREAD, as it is written there and read. */
#include "t2test.h"

#include <string.h>

#include "tlg_chain.h"

enum { NUMBER = 7, AT = 3, LIMIT = 16 };

static struct tlg_chunk chunk;

static int setup(void **state)
{
	(void)state;
	memset(&chunk, 0, sizeof(chunk));
	chunk.number = NUMBER;
	return 0;
}

static void commit(uint32_t i, unsigned flags)
{
	chunk.events[i].flags = (uint16_t)flags;
	chunk.events[i].sequence = NUMBER;
}

/* A HIT with an integer and a text. */
static void commit_chain(uint32_t i)
{
	commit(i, TLG_HIT | TLG_HAS_INFO);
	commit(i + 1, TLG_VALUE);
	commit(i + 2, TLG_INFO | TLG_INFO_END);
}

static void test_chain_committed_has_its_length(void **state)
{
	(void)state;
	commit_chain(AT);
	commit(AT + 3, TLG_HIT);
	assert_int_equal(tlg_chunk_chain(&chunk, AT, LIMIT), 3);
	assert_int_equal(tlg_chunk_chain(&chunk, AT + 3, LIMIT), 1);
}

static void test_chain_with_an_uncommitted_event_is_none(void **state)
{
	(void)state;
	for (uint32_t i = AT; i < AT + 3; i++) {
		commit_chain(AT);
		chunk.events[i].sequence = NUMBER - 1;
		assert_int_equal(tlg_chunk_chain(&chunk, AT, LIMIT), 0);
	}
}

static void test_chain_beyond_the_limit_is_none(void **state)
{
	(void)state;
	commit_chain(LIMIT - 2);
	assert_int_equal(tlg_chunk_chain(&chunk, LIMIT - 2, LIMIT), 0);
}

static void test_chain_does_not_begin_with_an_argument(void **state)
{
	(void)state;
	commit_chain(AT);
	assert_int_equal(tlg_chunk_chain(&chunk, AT + 1, LIMIT), 0);
	assert_int_equal(tlg_chunk_chain(&chunk, AT + 2, LIMIT), 0);
}

static void test_find_passes_what_is_not_committed(void **state)
{
	(void)state;
	assert_int_equal(tlg_chunk_find(&chunk, AT, LIMIT), LIMIT);
	commit(AT, TLG_VALUE);
	commit_chain(AT + 2);
	assert_int_equal(tlg_chunk_find(&chunk, AT, LIMIT), AT + 2);
	assert_int_equal(tlg_chunk_find(&chunk, AT + 2, LIMIT), AT + 2);
}

/* Announce it in the chunk, as the library does.  Return  events */
static unsigned announce(const struct tlg_announce *announce, const uint64_t *enters)
{
	unsigned n = tlg_announce_events(announce);

	for (unsigned i = n; i--;)
		commit(AT + i, tlg_announce_fill(announce, enters, i, &chunk.events[AT + i]));
	return n;
}

static void assert_same(const struct tlg_announce *a, const struct tlg_announce *b)
{
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->ostid, b->ostid);
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->lost_events, b->lost_events);
	assert_int_equal(a->nopen, b->nopen);
	assert_string_equal(a->name, b->name);
}

static void test_announce_of_any_name_and_regions_reads_as_written(void **state)
{
	static const char *const names[] = { "m", "th01:15_bytes__", "th01:16_bytes__!", "th01:17_bytes___!",
					     "th01:as_long_as_names_may_be_th" };
	static const uint64_t enters[] = { 11, 0, UINT64_MAX };
	struct tlg_announce read;

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned open = 0; open <= 3; open++) {
			struct tlg_announce written = { 1, 2, UINT64_C(1) << 40, 5, open, "" };
			strcpy(written.name, names[i]);
			unsigned n = announce(&written, enters);
			assert_int_equal(tlg_chunk_chain(&chunk, AT, LIMIT), n);
			tlg_announce_read(&read, &chunk.events[AT], n);
			assert_same(&read, &written);
			for (unsigned j = 0; j < open; j++)
				assert_int_equal(tlg_announce_enter(&chunk.events[AT], j), enters[j]);
		}
}

/* A corrupted process may leave any of them. */
static void test_announce_cut_short_is_empty_behind_that(void **state)
{
	const struct tlg_announce written = { 1, 2, 3, 5, 1, "th01:a_name_of_two_events" };
	const uint64_t enters[] = { 6 };
	struct tlg_announce read;

	(void)state;
	announce(&written, enters);
	tlg_announce_read(&read, &chunk.events[AT], 1);
	assert_same(&read, &(struct tlg_announce){ 1, 2, 3, 0, 0, "" });
	tlg_announce_read(&read, &chunk.events[AT], 3);
	assert_same(&read, &(struct tlg_announce){ 1, 2, 3, 5, 0, "" });
	tlg_announce_read(&read, &chunk.events[AT], 5);
	assert_same(&read, &(struct tlg_announce){ 1, 2, 3, 5, 1, "th01:a_name_of_t" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_chain_committed_has_its_length, setup),
		cmocka_unit_test_setup(test_chain_with_an_uncommitted_event_is_none, setup),
		cmocka_unit_test_setup(test_chain_beyond_the_limit_is_none, setup),
		cmocka_unit_test_setup(test_chain_does_not_begin_with_an_argument, setup),
		cmocka_unit_test_setup(test_find_passes_what_is_not_committed, setup),
		cmocka_unit_test_setup(test_announce_of_any_name_and_regions_reads_as_written, setup),
		cmocka_unit_test_setup(test_announce_cut_short_is_empty_behind_that, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

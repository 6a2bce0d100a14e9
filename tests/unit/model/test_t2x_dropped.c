/* SPDX-License-Identifier: MIT */
/* Dropped events: totals that are stated again and again add up once; what the model makes of them. */
#include "t2test.h"

#include "feed.h"
#include "model/t2x_dropped.h"

enum { BUDGET = 1 << 20 };

static void test_dropped_repeated_totals_add_only_what_is_new(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = BUDGET;

	(void)state;
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 10), 10);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 10), 0);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 12), 2);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 2, 12), 12);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, UINT32_MAX, 1, 3), 3);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 5), 0);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 13), 1);
	assert_int_equal(t2x_dropped_total(dropped, 1), 13 + 3);
	assert_int_equal(t2x_dropped_total(dropped, 2), 12);
	assert_int_equal(t2x_dropped_total(dropped, 3), 0);
	assert_int_equal(t2x_dropped_total(NULL, 1), 0);
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_dropped_of_many_threads_are_kept_apart(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = BUDGET;

	(void)state;
	for (uint32_t tid = 0; tid < T2X_DROPPED_MAX; tid++)
		assert_int_equal(t2x_dropped_update(&dropped, &budget, tid, 1, tid + 1), tid + 1);
	for (uint32_t tid = 0; tid < T2X_DROPPED_MAX; tid++)
		assert_int_equal(t2x_dropped_update(&dropped, &budget, tid, 1, tid + 3), 2);
	assert_int_equal(t2x_dropped_total(dropped, 1), T2X_DROPPED_MAX / 2 * (T2X_DROPPED_MAX - UINT64_C(1) + 6));
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_dropped_beyond_the_table_count_as_nothing(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = BUDGET;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 0; tid < 4 * T2X_DROPPED_MAX; tid++)
		sum += t2x_dropped_update(&dropped, &budget, tid, 1, 1);
	assert_int_equal(sum, T2X_DROPPED_MAX);
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_dropped_beyond_the_budget_count_as_nothing(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = 4000;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 0; tid < 1000; tid++)
		sum += t2x_dropped_update(&dropped, &budget, tid, 1, 1);
	assert_in_range(sum, 16, 125);
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, 4000);
}

static void miss(struct feed *f, unsigned thread, uint32_t events)
{
	const struct t2x_update update = {
		.kind = T2X_GAP, .thread = &f->thread[thread], .ns = FEED_START_NS, .gap = { .events = events },
	};

	t2x_model_update(f->model, &update);
}

static void drop(struct feed *f, uint32_t tid, unsigned reason, uint64_t total)
{
	const struct t2x_update update = {
		.kind = T2X_DROP, .process = &f->process, .drop = { .tid = tid, .reason = reason, .total = total },
	};

	t2x_model_update(f->model, &update);
}

static void end(struct feed *f)
{
	const struct t2x_update update = {
		.kind = T2X_END_PROCESS, .process = &f->process, .ns = FEED_START_NS,
	};

	t2x_model_update(f->model, &update);
}

static void test_dropped_events_and_gaps_are_in_the_summary(void **state)
{
	const struct t2x_summary *summary;
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	summary = t2x_model_summary(f.model);
	miss(&f, 0, 5);
	miss(&f, 1, 7);
	miss(&f, 1, 0);
	drop(&f, 0, TLG_LOSS_FULL, 10);
	drop(&f, 1, TLG_LOSS_FULL, 1);
	drop(&f, 0, TLG_LOSS_FULL, 15);
	drop(&f, 0, TLG_LOSS_CUT, 2);
	drop(&f, 0, 0, 100);
	drop(&f, 0, TLG_LOSS_REASONS, 100);
	assert_int_equal(summary->gaps, 2);
	assert_int_equal(summary->gap_events, 12);
	assert_int_equal(summary->dropped[TLG_LOSS_FULL], 16);
	assert_int_equal(summary->dropped[TLG_LOSS_CUT], 2);
	feed(&f, region_enter, 1, "");
	assert_int_equal(summary->checkpoints, 1);
	assert_int_equal(summary->unresolved, 0);
	feed_expect(&f, "");
}

static void test_dropped_events_are_counters_at_the_end_of_the_process(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	end(&f);
	drop(&f, 0, TLG_LOSS_FULL, 10);
	drop(&f, 1, TLG_LOSS_FULL, 1);
	drop(&f, TLG_NO_THREAD, TLG_LOSS_NORING, 3);
	end(&f);
	feed_expect(&f, "counter trace2/lost-ring-full value:11\ncounter trace2/lost-no-ring value:3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped_repeated_totals_add_only_what_is_new),
		cmocka_unit_test(test_dropped_of_many_threads_are_kept_apart),
		cmocka_unit_test(test_dropped_beyond_the_table_count_as_nothing),
		cmocka_unit_test(test_dropped_beyond_the_budget_count_as_nothing),
		cmocka_unit_test(test_dropped_events_and_gaps_are_in_the_summary),
		cmocka_unit_test(test_dropped_events_are_counters_at_the_end_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

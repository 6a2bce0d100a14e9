/* SPDX-License-Identifier: MIT */
/* Totals of dropped events: a thread has its own, and nothing is counted twice or not at all. */
#include "t2test.h"

#include <pthread.h>

#include "ring/tr2_losses.h"
#include "ringfile.h"

static int create(void **state)
{
	if (ringfile_create(state))
		return -1;
	tr2_losses_reset();
	return 0;
}

static uint64_t sum(void)
{
	struct tlg_loss loss;
	uint64_t sum = 0;

	for (unsigned i = 0; i < tr2_losses_bound(); i++)
		if (tr2_losses_get(i, &loss))
			sum += loss.count;
	return sum;
}

static uint64_t total_of(uint32_t tid, unsigned reason)
{
	struct tlg_loss loss;

	for (unsigned i = 0; i < tr2_losses_bound(); i++)
		if (tr2_losses_get(i, &loss) && loss.tid == tid && loss.reason == reason)
			return loss.count;
	return 0;
}

static void test_losses_are_totals_by_thread_and_reason(void **state)
{
	(void)state;
	assert_false(tr2_losses_changed());
	tr2_losses_add(1, TLG_LOSS_FULL, 0);
	assert_false(tr2_losses_changed());
	tr2_losses_add(1, TLG_LOSS_FULL, 2);
	tr2_losses_add(1, TLG_LOSS_WRITE, 3);
	tr2_losses_add(2, TLG_LOSS_FULL, 5);
	tr2_losses_add(1, TLG_LOSS_FULL, 4);
	assert_true(tr2_losses_changed());
	tr2_losses_note(TLG_LOSS_NORING);
	tr2_losses_begin(tr2_losses_bound());
	assert_false(tr2_losses_changed());
	assert_int_equal(total_of(1, TLG_LOSS_FULL), 6);
	assert_int_equal(tr2_losses_of(1, TLG_LOSS_FULL), 6);
	assert_int_equal(total_of(1, TLG_LOSS_WRITE), 3);
	assert_int_equal(total_of(2, TLG_LOSS_FULL), 5);
	assert_int_equal(total_of(2, TLG_LOSS_WRITE), 0);
	assert_int_equal(tr2_losses_of(2, TLG_LOSS_WRITE), 0);
	assert_int_equal(total_of(TLG_NO_THREAD, TLG_LOSS_NORING), 1);
	assert_int_equal(total_of(TLG_NO_THREAD, TLG_LOSS_FULL), 0);
}

static void test_losses_that_came_after_the_bound_are_a_new_change(void **state)
{
	unsigned bound;

	(void)state;
	tr2_losses_add(1, TLG_LOSS_FULL, 1);
	bound = tr2_losses_bound();
	tr2_losses_add(2, TLG_LOSS_FULL, 1);
	tr2_losses_begin(bound);
	assert_true(tr2_losses_changed());
}

static void test_losses_of_too_many_threads_go_to_the_process(void **state)
{
	(void)state;
	for (uint32_t tid = 0; tid < 3 * TLG_MAX_LOSSES; tid++)
		tr2_losses_add(tid, TLG_LOSS_FULL, 1);
	assert_int_equal(tr2_losses_bound(), TLG_MAX_LOSSES);
	assert_int_equal(total_of(TLG_NO_THREAD, TLG_LOSS_FULL), 2 * TLG_MAX_LOSSES + TLG_LOSS_REASONS);
	assert_int_equal(sum(), 3 * TLG_MAX_LOSSES);
}

enum { THREADS = 4, TIDS = 250, TIMES = 3, ROUNDS = 20 };

static void *add_all(void *first)
{
	for (uint32_t i = 0; i < TIMES * TIDS; i++)
		tr2_losses_add((uint32_t)(uintptr_t)first + i % TIDS, TLG_LOSS_FULL, 1);
	return NULL;
}

static void add_from_all_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_all, (void *)(i * TIDS)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t tid = 0; tid < THREADS * TIDS; tid++)
		assert_int_equal(tr2_losses_of(tid, TLG_LOSS_FULL), TIMES);
	assert_int_equal(sum(), THREADS * TIDS * TIMES);
}

/* Each searches among totals that the others are just adding: ThreadSanitizer judges that, and needs some rounds. */
static void test_losses_threads_that_add_at_once_lose_no_count(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		if (round)
			assert_int_equal(ringfile_remove(state) || create(state), 0);
		add_from_all_threads();
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_losses_##name, create, ringfile_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(are_totals_by_thread_and_reason),
		TEST(that_came_after_the_bound_are_a_new_change),
		TEST(of_too_many_threads_go_to_the_process),
		TEST(threads_that_add_at_once_lose_no_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

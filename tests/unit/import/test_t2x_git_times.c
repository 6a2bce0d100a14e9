/* SPDX-License-Identifier: MIT */
/* When a thread's events were: in their order, at each t_abs, t_rel behind each enter, else near the estimates. */
#include "t2test.h"

#include <stdlib.h>

#include "import/t2x_git_times.h"

enum { FREE = T2X_GIT_NO_ENTER, MOST = 2000 };
#define ANY T2X_GIT_UNKNOWN_US

static struct t2x_git_moment moment(int64_t known, int64_t estimate, int32_t enter, int64_t rel)
{
	return (struct t2x_git_moment){ .known_us = known, .estimate_us = estimate, .enter = enter, .rel_us = rel };
}

static void test_times_without_bounds_are_the_estimates(void **state)
{
	struct t2x_git_moment m[] = { moment(ANY, 10, FREE, 0), moment(ANY, 15, FREE, 0), moment(ANY, 40, FREE, 0) };

	(void)state;
	t2x_git_times_find(m, 3, 0);
	assert_int_equal(m[0].us, 10);
	assert_int_equal(m[1].us, 15);
	assert_int_equal(m[2].us, 40);
}

static void test_times_between_known_ones_stay_between(void **state)
{
	struct t2x_git_moment m[] = { moment(100, 105, FREE, 0), moment(ANY, 90, FREE, 0), moment(ANY, 300, FREE, 0),
				      moment(200, 212, FREE, 0) };

	(void)state;
	t2x_git_times_find(m, 4, 0);
	assert_int_equal(m[1].us, 100);
	assert_int_equal(m[2].us, 200);
}

static void test_times_of_a_region_are_its_length_apart(void **state)
{
	/* enter, known data, leave: the leave's estimate is too late for the event behind it */
	struct t2x_git_moment m[] = { moment(ANY, 50, FREE, 0), moment(60, 66, FREE, 0), moment(ANY, 99, 0, 30),
				      moment(82, 90, FREE, 0) };

	(void)state;
	t2x_git_times_find(m, 4, 0);
	assert_int_equal(m[2].us - m[0].us, 30);
	assert_in_range(m[2].us, 60, 82);
}

static void test_times_never_are_before_the_earliest(void **state)
{
	struct t2x_git_moment m[] = { moment(ANY, 5, FREE, 0), moment(ANY, 5, 0, 7) };

	(void)state;
	t2x_git_times_find(m, 2, 1000);
	assert_int_equal(m[0].us, 1000);
	assert_int_equal(m[1].us, 1007);
}

/* A thread that never was: lines that contradict each other give some times, and end. */
static void test_times_that_contradict_each_other_are_found_all_the_same(void **state)
{
	struct t2x_git_moment m[] = { moment(100, 0, FREE, 0), moment(50, 0, 0, 7), moment(ANY, 0, 1, INT64_MAX),
				      moment(ANY, 0, 2, INT64_MIN + 1) };

	(void)state;
	t2x_git_times_find(m, 4, INT64_MIN);
	assert_int_equal(m[0].us, 100);
	assert_int_equal(m[1].us, 50);
}

/* Real times, of which most are hidden: all that was printed comes back. */
static void test_times_of_random_threads_agree_with_each_line(void **state)
{
	static struct t2x_git_moment m[MOST];
	int32_t open[32];
	uint64_t seed = 20261123;
	int64_t now = 1000000;

	(void)state;
	for (int round = 0; round < 200; round++) {
		unsigned depth = 0, n = 1 + (unsigned)(seed >> 40) % MOST;
		int64_t real[MOST];
		for (unsigned i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			now += (int64_t)(seed >> 60);
			real[i] = now;
			m[i] = moment(ANY, now + (int64_t)(seed >> 55 & 31), FREE, 0);
			if (seed >> 33 & 1 && depth < 32) {
				open[depth++] = (int32_t)i;
			} else if (seed >> 34 & 1 && depth) {
				m[i].enter = open[--depth];
				m[i].rel_us = now - real[m[i].enter];
			} else if (seed >> 35 & 1) {
				m[i].known_us = now;
			}
		}
		t2x_git_times_find(m, n, 0);
		for (unsigned i = 0; i < n; i++) {
			assert_true(!i || m[i].us >= m[i - 1].us);
			assert_true(m[i].known_us == ANY || m[i].us == m[i].known_us);
			assert_true(m[i].enter == FREE || m[i].us - m[m[i].enter].us == m[i].rel_us);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_without_bounds_are_the_estimates),
		cmocka_unit_test(test_times_between_known_ones_stay_between),
		cmocka_unit_test(test_times_of_a_region_are_its_length_apart),
		cmocka_unit_test(test_times_never_are_before_the_earliest),
		cmocka_unit_test(test_times_that_contradict_each_other_are_found_all_the_same),
		cmocka_unit_test(test_times_of_random_threads_agree_with_each_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

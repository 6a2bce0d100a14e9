/* SPDX-License-Identifier: MIT */
/*
 * A thread that was there before the profiler, and that nothing orders behind its start: it is sampled all the same.
 * ThreadSanitizer judges what it finds then.
 */
#include "t2test.h"

#include <pthread.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_live.h"

enum { HZ = 500, TRIES = 60000 };

static const struct trace2_labels *labels;
static int is_started, is_over;

static void *live_before(void *data)
{
	const struct tr2p_live live = { .size = 17 };
	struct tr2p_live taken;

	trace2_prof_set_labels(labels);
	while (!tr2_load_rlx(&is_started))
		usleep(1000);
	if (!tr2p_live_put(data, &live) || !tr2p_live_take(data, &taken) || taken.size != 17)
		return NULL;
	while (!tr2_load_rlx(&is_over))
		usleep(1000);
	return data;
}

static int is_sampled(void)
{
	for (const struct tr2p_bucket *bucket = tr2p_bucket_first(TR2P_WALL); bucket; bucket = bucket->next)
		if (bucket->labels == labels)
			return 1;
	return 0;
}

static void test_thread_that_was_there_before_the_profiler_is_sampled(void **state)
{
	static const char *const pairs[] = { "thread", "before", NULL };
	pthread_t thread;
	void *found;

	(void)state;
	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &labels), 0);
	assert_int_equal(pthread_create(&thread, NULL, live_before, &is_over), 0);
	assert_int_equal(tr2p_live_init(), 0);
	assert_int_equal(trace2_prof_start_wall(HZ), 0);
	tr2_store_rlx(&is_started, 1);
	for (int i = 0; i < TRIES && !is_sampled(); i++)
		usleep(1000);
	trace2_prof_stop_wall();
	tr2_store_rlx(&is_over, 1);
	pthread_join(thread, &found);
	assert_ptr_equal(found, &is_over);
	assert_true(is_sampled());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_that_was_there_before_the_profiler_is_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

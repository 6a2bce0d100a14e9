/* SPDX-License-Identifier: MIT */
/* What the wall clock counts for a thread, at times that the test says: each period once, whatever the thread does. */
#include "t2test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "prof/tr2p_bucket.h"
#include "prof/tr2p_init.h"
#include "prof/tr2p_profile.h"
#include "prof/tr2p_sample.h"
#include "prof/tr2p_seen.h"
#include "prof/tr2p_wall.h"

enum { MS = 1000000, PERIOD = 10 * MS };
static const uint64_t start = UINT64_C(1000000) * MS;

static sem_t ready, over;
static pid_t sleeper;

static void *sleep_until_over(void *data)
{
	sleeper = (pid_t)syscall(SYS_gettid);
	sem_post(&ready);
	while (sem_wait(&over))
		continue;
	return data;
}

static int64_t total(void)
{
	int64_t value = 0;

	for (struct tr2p_bucket *bucket = tr2p_bucket_first(TR2P_WALL); bucket; bucket = bucket->next)
		value += tr2p_bucket_totals(bucket).value;
	return value;
}

static int64_t total_of(const struct tr2p_bucket *bucket)
{
	return tr2p_bucket_totals((struct tr2p_bucket *)(uintptr_t)bucket).value;
}

/* Return  how many have run since; the first one is in look */
static unsigned collect(uint64_t at_ns, struct tr2p_look *look, unsigned *whose)
{
	unsigned next = 0, alive = 0, n;

	memset(look, 0, sizeof(*look));
	n = tr2p_seen_collect(&next, at_ns, look, whose, 1, &alive);
	assert_int_equal(alive, 1);
	return n;
}

static struct tr2p_bucket *some_stack(void)
{
	const struct tr2p_stack stack = { .n = 1, .at = { (uintptr_t)some_stack } };

	return tr2p_sample_bucket(TR2P_WALL, &stack, NULL);
}

/* A thread that has been preempted on its way to sleep will use CPU time yet. */
static int is_asleep(void)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)sleeper);
	file = fopen(path, "r");
	assert_non_null(file);
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(file);
	return state == 'S';
}

/* The CPU time of a thread that has just begun to sleep may grow by what it took to do so. */
static void *add_sleeper(struct tr2p_look *look, unsigned *whose)
{
	void *cookie;
	uint64_t before, now;

	assert_true(tr2p_look_cpu(sleeper, &now));
	do {
		before = now;
		usleep(1000);
		assert_true(tr2p_look_cpu(sleeper, &now));
	} while (now != before || !is_asleep());
	cookie = tr2p_seen_add(sleeper, start);
	assert_non_null(cookie);
	assert_int_equal(collect(start + PERIOD, look, whose), 1);
	return cookie;
}

static void test_seen_that_stays_blocked_counts_each_period_without_another_look(void **state)
{
	struct tr2p_look look;
	unsigned whose;
	void *cookie = add_sleeper(&look, &whose);
	const int64_t before = total();

	(void)state;
	look.state = TR2P_LOOK_BLOCKED;
	look.bucket = some_stack();
	tr2p_seen_take(whose, &look);
	for (int i = 2; i <= 9; i++)
		assert_int_equal(collect(start + (uint64_t)i * PERIOD, &look, &whose), 0);
	assert_int_equal(total() - before, 0);
	assert_int_equal(collect(start + 10 * PERIOD, &look, &whose), 0);
	assert_int_equal(total() - before, 10 * PERIOD);      /* 100 ms are a sample */
	assert_int_equal(collect(start + 25 * PERIOD, &look, &whose), 0);       /* a late look stands for all */
	assert_int_equal(collect(start + 26 * PERIOD, &look, &whose), 0);
	assert_int_equal(total() - before, 25 * PERIOD);
	tr2p_wall_remove(cookie);
	assert_int_equal(total() - before, 26 * PERIOD);
	assert_int_equal(total_of(some_stack()), 26 * PERIOD);
}

static void test_seen_that_is_not_known_is_looked_at_again(void **state)
{
	struct tr2p_look look;
	unsigned whose;
	void *cookie = add_sleeper(&look, &whose);
	const int64_t before = total();

	(void)state;
	look.state = TR2P_LOOK_UNKNOWN;
	tr2p_seen_take(whose, &look);
	assert_int_equal(collect(start + 2 * PERIOD, &look, &whose), 1);
	look.state = TR2P_LOOK_UNKNOWN;
	tr2p_seen_take(whose, &look);
	tr2p_wall_remove(cookie);
	assert_int_equal(total() - before, 2 * PERIOD);
}

static void test_seen_that_goes_between_look_and_count_is_counted(void **state)
{
	struct tr2p_look look;
	unsigned whose;
	void *cookie = add_sleeper(&look, &whose);
	const int64_t before = total();

	(void)state;
	tr2p_wall_remove(cookie);
	assert_int_equal(total() - before, PERIOD);
	look.state = TR2P_LOOK_BLOCKED;
	look.bucket = some_stack();
	tr2p_seen_take(whose, &look);
	assert_int_equal(total() - before, PERIOD);
}

/* It takes the sample itself, once; no other thread can. */
static void test_seen_that_runs_claims_what_is_due(void **state)
{
	void *cookie = tr2p_seen_add((pid_t)syscall(SYS_gettid), start), *others;
	const int64_t before = total();
	struct tr2p_look look;
	unsigned whose;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(collect(start + (uint64_t)i * PERIOD, &look, &whose), 1);
		look.state = TR2P_LOOK_RUNS;
		tr2p_seen_take(whose, &look);
	}
	others = tr2p_seen_add(sleeper, start);
	assert_int_equal(tr2p_seen_claim(others, 1), 0);
	assert_int_equal(tr2p_seen_claim(&look, 1), -1);
	assert_int_equal(tr2p_seen_claim(cookie, 1), 3 * PERIOD);
	assert_int_equal(tr2p_seen_claim(cookie, 1), 0);
	tr2p_wall_remove(others);
	tr2p_wall_remove(cookie);
	assert_int_equal(total() - before, 0);
}

static void test_seen_that_runs_and_has_no_ticks_is_told_as_such(void **state)
{
	void *cookie = tr2p_seen_add((pid_t)syscall(SYS_gettid), start);
	const int64_t before = total();
	struct tr2p_look look;
	unsigned whose;

	(void)state;
	assert_int_equal(collect(start + PERIOD, &look, &whose), 1);
	look.state = TR2P_LOOK_RUNS;
	tr2p_seen_take(whose, &look);
	assert_int_equal(total() - before, 0);
	assert_int_equal(collect(start + 2 * PERIOD, &look, &whose), 1);
	look.state = TR2P_LOOK_RUNS;
	look.cpu_ns += 250 * MS;
	tr2p_seen_take(whose, &look);
	assert_int_equal(total() - before, 2 * PERIOD);
	tr2p_wall_remove(cookie);
	assert_int_equal(tr2p_seen_claim(cookie, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen_that_stays_blocked_counts_each_period_without_another_look),
		cmocka_unit_test(test_seen_that_is_not_known_is_looked_at_again),
		cmocka_unit_test(test_seen_that_goes_between_look_and_count_is_counted),
		cmocka_unit_test(test_seen_that_runs_claims_what_is_due),
		cmocka_unit_test(test_seen_that_runs_and_has_no_ticks_is_told_as_such),
	};
	pthread_t thread;
	int failed;

	if (tr2p_init())
		return 1;
	tr2p_wall_end_thread();       /* that all that is seen is what a test adds */
	sem_init(&ready, 0, 0);
	sem_init(&over, 0, 0);
	tr2p_seen_set_period(PERIOD);
	pthread_create(&thread, NULL, sleep_until_over, NULL);
	while (sem_wait(&ready))
		continue;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	sem_post(&over);
	pthread_join(thread, NULL);
	return failed;
}

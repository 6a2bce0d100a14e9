/* SPDX-License-Identifier: MIT */
/* The library's thread while nothing is recorded, and what is recorded just then. */
#include "t2test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

enum { THREADS = 4, VALUES = 2500 };

static void sleep_us(long us)
{
	const struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
}

/* How often the library's thread has gone to sleep so far, and whether it sleeps; -1: there is none */
static long count_sleeps(char *state)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	long sleeps = -1;

	while (tasks && (task = readdir(tasks))) {
		char path[300], line[100], name[32] = "";
		FILE *status;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		status = fopen(path, "r");
		while (status && fgets(line, sizeof(line), status)) {
			sscanf(line, "Name: %31s", name);
			if (!strcmp(name, "trace2-drain"))
				(void)(sscanf(line, "State: %c", state) +
				       sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps));
		}
		if (status)
			fclose(status);
	}
	if (tasks)
		closedir(tasks);
	return sleeps;
}

/*
 * Wait until the thread has not woken for 600 ms: its longest sleep is 256, and a virtual machine may end it 100 late.
 * Return  how often it has slept; -1: not within a minute
 */
static long await_rest(void)
{
	char state = '?';

	for (int i = 0; i < 100; i++) {
		long before = count_sleeps(&state);
		sleep_us(600000);
		if (before >= 0 && before == count_sleeps(&state) && state == 'S')
			return before;
	}
	return -1;
}

/* Return  1 as soon as the file is larger; 0: not within a minute */
static int grows(const char *path, off_t before)
{
	struct stat st;

	for (int i = 0; i < 6000; i++) {
		if (!stat(path, &st) && st.st_size > before)
			return 1;
		sleep_us(10000);
	}
	return 0;
}

static int run_with_pauses(void *data)
{
	struct stat st = { 0 };

	trace2_initialize();
	trace2_region_enter("test", "region", NULL);
	if (await_rest() < 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		if (stat(data, &st))
			return 2;
		trace2_region_enter("test", "inner", NULL);
		trace2_region_leave("test", "inner", NULL);
		if (!grows(data, st.st_size) || await_rest() < 0)
			return 3;
	}
	return 0;
}

static void test_idle_drain_sleeps_until_something_is_recorded(void **state)
{
	(void)state;
	traced_run(&t, run_with_pauses, t.raw, (const char *const[]){ "TRACE2_RAW_THREAD=init", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.gaps + file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "inner"), 2);
}

static void *record_now_and_then(void *data)
{
	unsigned seed = (unsigned)(long)data, from = seed * VALUES;

	for (unsigned i = 0; i < VALUES; i++) {
		if (i % 3 == 0)
			sleep_us(rand_r(&seed) % 400);
		trace2_data_intmax("test", NULL, "value", from + i);
	}
	return NULL;
}

static int run_now_and_then(void *data)
{
	pthread_t threads[THREADS];

	(void)data;
	trace2_initialize();
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, record_now_and_then, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Positions are put away all the time, while threads record. */
static void test_idle_drain_loses_no_event_of_threads_that_record(void **state)
{
	(void)state;
	traced_run(&t, run_now_and_then, NULL, (const char *const[]){ "TRACE2_RAW_FLUSH=1", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.gaps + file.lost + file.bad_blocks, 0);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "value", THREADS * VALUES), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_idle_drain_sleeps_until_something_is_recorded),
		TRACED_TEST(test_idle_drain_loses_no_event_of_threads_that_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

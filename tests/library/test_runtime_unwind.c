/* SPDX-License-Identifier: MIT */
/* Regions that a longjmp() goes past: trace2_region_depth(), trace2_region_unwind(). */
#include "t2test.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace2.h"
#include "printed.h"
#include "traced.h"

enum { ROUNDS = 5000, DEEP = 7, THREADS = 3 };

static char perf[160];

static int setup(void **state)
{
	traced_setup(state);
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	return 0;
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, traced_teardown)

/* What a command prints, in which $dir is the test's directory. */
static const char *say(const char *command)
{
	return printed("dir='%s'; %s", t.dir, command);
}

static __attribute__((noinline)) void go_down(jmp_buf *buffer, int n)
{
	trace2_region_enter("jump", "deep", NULL);
	if (!n)
		longjmp(*buffer, 1);
	if (n > 0)
		go_down(buffer, n - 1);
	trace2_region_leave("jump", "deep", NULL);
}

static __attribute__((noinline)) void jump_once(int i)
{
	uint64_t depth = trace2_region_depth();
	jmp_buf buffer;

	if (!setjmp(buffer))
		go_down(&buffer, DEEP - 1);
	trace2_region_unwind(depth);
	trace2_data_intmax("jump", NULL, "round", i);
}

static void *jump(void *data)
{
	if (data)
		trace2_thread_start("jumps");
	trace2_region_enter("jump", "outer", NULL);
	for (int i = 0; i < ROUNDS; i++)
		jump_once(i);
	trace2_region_leave("jump", "outer", NULL);
	if (data)
		trace2_thread_exit();
	return NULL;
}

static int run_jumps(void *data)
{
	pthread_t threads[THREADS];

	(void)data;
	trace2_initialize();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, jump, threads))
			return 1;
	jump(NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Each enter has its leave, none is open, and what comes behind is one region deep. */
static void test_unwind_longjmp_leaves_what_it_went_past(void **state)
{
	const char *const settings[] = { perf, "TRACE2_RAW_POLICY=block", "TRACE2_RAW_CYCLE=64k", NULL };

	(void)state;
	traced_run(&t, run_jumps, NULL, settings);
	assert_string_equal(say("grep -c 'region_enter .*label:deep' $dir/perf"), "140000");
	assert_string_equal(say("grep -c 'region_leave .*label:deep' $dir/perf"), "140000");
	assert_string_equal(say("grep 'round:' $dir/perf | grep -vc '| \\.\\.round:'"), "0");
	assert_string_equal(say("$expand $dir/raw.tlg | sort >$dir/x; sort $dir/perf | cmp - $dir/x && echo same"),
			    "same");
	assert_string_equal(say("$expand --summary=csv $dir/raw.tlg | grep '^region.*deep' | cut -d, -f6"), "140000");
}

static int run_and_rotate(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_region_enter("jump", "outer", NULL);
	jump_once(1);
	trace2_rotate();
	trace2_data_intmax("jump", NULL, "rotated", 2);
	jump_once(3);
	return 0;
}

/* What a cycle repeats is what is open behind the unwinding. */
static void test_unwind_is_known_to_the_next_cycle(void **state)
{
	const char *const settings[] = { "TRACE2_RAW_POLICY=block", NULL };

	(void)state;
	traced_run(&t, run_and_rotate, NULL, settings);
	assert_string_equal(say("$expand --format=csv $dir/raw.1.tlg | grep -c region_enter,jump,deep"), "7");
	assert_string_equal(say("$expand --format=csv $dir/raw.1.tlg | grep -c region_leave,jump,deep"), "7");
	assert_string_equal(say("$expand --format=csv $dir/raw.1.tlg | grep rotated | cut -d, -f9"), "2");
}

/* While tracing is off a mark is 0, which costs nothing and harms nobody who switches it on later. */
static void test_unwind_without_tracing_does_nothing(void **state)
{
	(void)state;
	assert_int_equal(trace2_region_depth(), 0);
	trace2_region_unwind(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unwind_longjmp_leaves_what_it_went_past),
		TEST(test_unwind_is_known_to_the_next_cycle),
		cmocka_unit_test(test_unwind_without_tracing_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

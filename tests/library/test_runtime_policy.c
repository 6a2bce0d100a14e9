/* SPDX-License-Identifier: MIT */
/* What becomes of a checkpoint whose thread's ring is full, and that each loss is counted as what it is. */
#include "t2test.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flood.h"
#include "rawread.h"
#include "stuck.h"
#include "trace2.h"
#include "traced.h"

static void read_back(void)
{
	assert_int_equal(t.status, 0);
	assert_string_equal(t.said, "");
	assert_int_equal(stuck_await(), 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits, file.end_stored);
}

/* ---- a drain that is stuck ----------------------------------------------------------------------- */

enum { FLOOD = 100000, SOME = 1500 };   /* some: a third chunk, so that the drain's thread is there */

static int run_stuck(void *data)
{
	(void)data;
	stuck_begin();
	trace2_initialize();
	flood(0, FLOOD);
	stuck_release();
	return 0;
}

/* ---- discard ------------------------------------------------------------------------------------ */

static void test_policy_discard_drops_the_newest_and_counts_them(void **state)
{
	(void)state;
	traced_run(&t, run_stuck, NULL, (const char *const[]){ "TRACE2_RAW=9", "TRACE2_RAW_RING=64k", NULL });
	read_back();
	assert_int_equal(raw_stored(&file, 0) + raw_lost(&file, 0, TLG_LOSS_FULL), FLOOD + 2);
	assert_int_equal(file.lost, raw_lost(&file, 0, TLG_LOSS_FULL));
	assert_true(file.lost > FLOOD / 2);
	assert_int_equal(file.gaps, 2 * file.lost);
}

static int run_long_text(void *data)
{
	size_t n = (size_t)data;
	char *text = malloc(n + 1);

	memset(text, 'x', n);
	text[n] = '\0';
	stuck_begin();
	trace2_initialize();
	trace2_data_string("test", NULL, "long", text);
	stuck_release();
	free(text);
	return 0;
}

/* The first of its chains is in the ring, others are not: the checkpoint is there, and its text is cut. */
static void test_policy_discard_of_continued_text_is_no_lost_checkpoint(void **state)
{
	(void)state;
	traced_run(&t, run_long_text, (void *)500000,
		   (const char *const[]){ "TRACE2_RAW=9", "TRACE2_RAW_RING=128k", NULL });
	read_back();
	assert_int_equal(file.hits, 3);
	assert_int_equal(file.lost, 1);
	assert_int_equal(raw_lost(&file, 0, TLG_LOSS_CUT), 1);
}

/* ---- block -------------------------------------------------------------------------------------- */

#define BLOCK "TRACE2_RAW_POLICY=block", "TRACE2_RAW_RING=64k"

static void test_policy_block_loses_nothing_while_the_drain_runs(void **state)
{
	(void)state;
	traced_run(&t, flood_program, (void *)(long)FLOOD,
		   (const char *const[]){ BLOCK, "TRACE2_RAW_WAIT=60000", NULL });
	read_back();
	assert_int_equal(file.hits, 2 * (FLOOD + 2) + 2);
	assert_int_equal(file.lost, 0);
	assert_int_equal(file.gaps, 0);
}

static void test_policy_block_drops_after_the_timeout_and_says_why(void **state)
{
	(void)state;
	traced_run(&t, run_stuck, NULL, (const char *const[]){ "TRACE2_RAW=9", BLOCK, "TRACE2_RAW_WAIT=20", NULL });
	read_back();
	assert_int_equal(raw_stored(&file, 0) + raw_lost(&file, 0, TLG_LOSS_WAIT), FLOOD + 2);
	assert_int_equal(file.lost, raw_lost(&file, 0, TLG_LOSS_WAIT));
	assert_true(file.lost > FLOOD / 2);
	assert_int_equal(file.gaps, 2 * file.lost);
}

static void flood_in_handler(int signo)
{
	(void)signo;
	flood(0, FLOOD);
}

static int run_stuck_handler(void *data)
{
	struct sigaction action = { .sa_handler = flood_in_handler };

	(void)data;
	stuck_begin();
	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	flood(0, SOME);
	raise(SIGUSR1);
	stuck_release();
	return 0;
}

/* If it waited, the drops would have the other reason.  What comes behind the handler does, until there is room. */
static void test_policy_block_never_waits_in_a_handler(void **state)
{
	(void)state;
	traced_run(&t, run_stuck_handler, NULL,
		   (const char *const[]){ "TRACE2_RAW=9", "TRACE2_RAW_POLICY=block", "TRACE2_RAW_RING=256k",
					    "TRACE2_RAW_WAIT=60000", NULL });
	read_back();
	assert_int_equal(raw_stored(&file, 0) + raw_lost(&file, 0, TLG_LOSS_FULL), SOME + FLOOD + 2);
	assert_true(file.lost > FLOOD / 2);
}

static void *record_masked(void *data)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	return flood_thread(data);
}

static int run_masked_worker(void *data)
{
	struct sigaction action = { .sa_handler = flood_in_handler };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	pthread_create(&thread, NULL, record_masked, data);
	pthread_join(thread, NULL);
	return 0;
}

/* A worker that leaves signals to other threads looks like a handler, but has said that it starts as a thread. */
static void test_policy_block_waits_in_a_thread_that_blocks_signals(void **state)
{
	(void)state;
	traced_run(&t, run_masked_worker, (void *)(long)FLOOD,
		   (const char *const[]){ BLOCK, "TRACE2_RAW_WAIT=60000", NULL });
	read_back();
	assert_int_equal(file.hits, FLOOD + 2 + 2);
	assert_int_equal(file.lost, 0);
}

static int run_child(void *data)
{
	int status;
	pid_t pid;

	trace2_initialize();
	flood(0, 10 * 2728);   /* the drain's thread runs */
	trace2_flush();
	pid = fork();
	if (!pid) {
		flood(0, (long)data);
		exit(0);
	}
	_exit(waitpid(pid, &status, 0) != pid || status);   /* nothing of this stream comes behind the child's */
}

static void test_policy_block_in_a_forked_child_drains_by_itself(void **state)
{
	(void)state;
	if (getenv("T2_EMULATED"))
		skip();   /* qemu-user itself does not survive the fork of a process with threads */
	traced_run(&t, run_child, (void *)(long)FLOOD, (const char *const[]){ BLOCK, "TRACE2_RAW_WAIT=60000", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.streams, 2);
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, NULL), FLOOD + 10 * 2728);
}

/* ---- a call that meets itself --------------------------------------------------------------------- */

static __thread int is_flooding;
static int floods;                /* how many writes are still to be traced */

ssize_t __wrap_tr2_sys_write(int fd, const void *bytes, size_t n);
ssize_t __real_tr2_sys_write(int fd, const void *bytes, size_t n);

/* Whatever the library calls, a program may stand in front of it and record there: here, of a write. */
ssize_t __wrap_tr2_sys_write(int fd, const void *bytes, size_t n)
{
	if (__atomic_load_n(&floods, __ATOMIC_RELAXED) > 0 && !is_flooding) {
		__atomic_fetch_sub(&floods, 1, __ATOMIC_RELAXED);
		is_flooding = 1;
		flood(0, FLOOD);
		for (int i = 0; i < FLOOD; i++)
			trace2_step("policy", "inline");
		is_flooding = 0;
	}
	return __real_tr2_sys_write(fd, bytes, n);
}

static int run_traced_write(void *data)
{
	trace2_initialize();
	floods = 1;
	return flood_program(data);
}

static void test_policy_block_in_the_library_itself_neither_waits_nor_records(void **state)
{
	(void)state;
	traced_run(&t, run_traced_write, (void *)(long)FLOOD,
		   (const char *const[]){ BLOCK, "TRACE2_RAW_WAIT=60000", NULL });
	read_back();
	assert_int_equal(file.hits, 2 * FLOOD + 2 * 2 + 2);
	assert_int_equal(file.lost, 0);
}

/* More calls than a chunk has room for, in the thread whose own call they meet. */
static void test_policy_of_threads_that_write_themselves_counts_all_but_what_meets_itself(void **state)
{
	(void)state;
	traced_run(&t, run_traced_write, (void *)(long)FLOOD, (const char *const[]){
		"TRACE2_RAW_THREAD=off", "TRACE2_RAW_RING=128k", "TRACE2_RAW_MEMORY=256k", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits + file.lost, 2 * FLOOD + 2 * 2 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STUCK_TEST(test_policy_discard_drops_the_newest_and_counts_them),
		STUCK_TEST(test_policy_discard_of_continued_text_is_no_lost_checkpoint),
		STUCK_TEST(test_policy_block_loses_nothing_while_the_drain_runs),
		STUCK_TEST(test_policy_block_drops_after_the_timeout_and_says_why),
		STUCK_TEST(test_policy_block_never_waits_in_a_handler),
		STUCK_TEST(test_policy_block_waits_in_a_thread_that_blocks_signals),
		STUCK_TEST(test_policy_block_in_a_forked_child_drains_by_itself),
		STUCK_TEST(test_policy_block_in_the_library_itself_neither_waits_nor_records),
		STUCK_TEST(test_policy_of_threads_that_write_themselves_counts_all_but_what_meets_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* A signal from outside asks all threads where they are, unless the program wants it. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_remote.h"
#include "prof/tr2p_thread.h"

enum { THREADS = 3, FUNCTION_BYTES = 1024, TRIES = 60000 };

static void test_signals_that_may_ask_have_names_and_numbers(void **state)
{
	static const char *const wrong[] = {
		"", "SIG", "KILL", "9", "SEGV", "PROF", "TERM", "INT", "CHLD", "PIPE", "32", "33", "USR", "usr2",
		"USR22", "RTMIN+", "RTMIN-1", "RTMAX+1", "RTMIN+1x", "RTMIN+99", "RTMAX-99",
		"RTMIN+99999999999999999999", "65", "-10", "10x", "99999999999999999999"
	};
	char number[16];

	(void)state;
	assert_int_equal(tr2p_remote_parse("USR1"), SIGUSR1);
	assert_int_equal(tr2p_remote_parse("SIGUSR2"), SIGUSR2);
	assert_int_equal(tr2p_remote_parse("QUIT"), SIGQUIT);
	assert_int_equal(tr2p_remote_parse("RTMIN"), SIGRTMIN);
	assert_int_equal(tr2p_remote_parse("RTMIN+2"), SIGRTMIN + 2);
	assert_int_equal(tr2p_remote_parse("SIGRTMAX-1"), SIGRTMAX - 1);
	snprintf(number, sizeof(number), "%d", SIGUSR1);
	assert_int_equal(tr2p_remote_parse(number), SIGUSR1);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(tr2p_remote_parse(wrong[i]), 0);
}

static void ignore(int signal)
{
	(void)signal;
}

static void test_signal_that_is_taken_is_refused(void **state)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN }, now;

	(void)state;
	signal(SIGUSR1, ignore);
	errno = 77;
	assert_int_equal(tr2p_remote_start(SIGUSR1), EBUSY);
	assert_int_equal(errno, 77);
	assert_int_equal(sigaction(SIGUSR1, &ignored, &now), 0);
	assert_true(now.sa_handler == ignore);
	assert_int_equal(tr2p_remote_start(SIGUSR1), EBUSY);
	sigaction(SIGUSR1, &standard, NULL);
}

static int is_over;
static unsigned ready;

static __attribute__((noinline, aligned(FUNCTION_BYTES))) void pause_here(void)
{
	while (!tr2_load_rlx(&is_over))
		usleep(1000);
}

static void *wait_here(void *data)
{
	tr2_add_rlx(&ready, 1);
	pause_here();
	return data;
}

static void *block_all(void *data)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return wait_here(data);
}

/* Threads have been seen in this function, so often; whatever they are counted as. */
static unsigned seen(void (*function)(void), int64_t *total)
{
	unsigned n = 0;

	*total = 0;
	for (struct tr2p_bucket *bucket = tr2p_bucket_first(TR2P_THREADS); bucket; bucket = bucket->next) {
		*total += tr2p_bucket_totals(bucket).count;
		for (unsigned i = 0; i < bucket->n; i++)
			if (bucket->at[i] - (uintptr_t)function < FUNCTION_BYTES) {
				n++;
				break;
			}
	}
	return n;
}

static void test_question_from_outside_is_answered_by_all_threads(void **state)
{
	pthread_t threads[THREADS];
	int64_t total;

	(void)state;
	assert_int_equal(tr2p_remote_start(SIGUSR2), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, i ? wait_here : block_all, NULL), 0);
	while (tr2_load_rlx(&ready) < THREADS)
		usleep(1000);
	errno = 77;
	raise(SIGUSR2);
	assert_int_equal(errno, 77);
	for (unsigned tries = 0; !seen(pause_here, &total); tries++) {
		assert_true(tries < TRIES);
		usleep(1000);
		kill(getpid(), SIGUSR2);
	}
	assert_int_equal(total, 0);
	tr2_store_rlx(&is_over, 1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static struct sigaction before;
static unsigned called;

static void call_old(int signal, siginfo_t *info, void *context)
{
	called++;
	before.sa_sigaction(signal, info, context);
}

static void test_signal_that_the_program_takes_later_asks_no_more(void **state)
{
	struct sigaction theirs = { .sa_sigaction = call_old, .sa_flags = SA_SIGINFO };
	size_t stacks;

	(void)state;
	assert_int_equal(tr2p_remote_start(SIGUSR1), 0);
	tr2p_enter();   /* what it could find out by a system call only */
	assert_int_equal(sigaction(SIGUSR1, NULL, &before), 0);
	tr2p_leave();
	assert_true(tr2p_remote_is_ours(&before));
	assert_int_equal(sigaction(SIGUSR1, &theirs, NULL), 0);
	stacks = tr2p_bucket_count(TR2P_THREADS);
	raise(SIGUSR1);
	assert_int_equal(called, 1);
	assert_int_equal(tr2p_bucket_count(TR2P_THREADS), stacks);
}

#ifndef TR2_IS_SANITIZED   /* we do not stand in front of anything */
static int is_standard(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

/* CPython's signal.signal() fails where a handler that it was told is set again, and is none of its own. */
static void test_program_is_told_that_a_signal_that_asks_has_its_default(void **state)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL }, now;

	(void)state;
	sigaction(SIGUSR1, &standard, NULL);
	assert_int_equal(tr2p_remote_start(SIGUSR1), 0);
	assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
	assert_true(is_standard(&now));
	assert_int_equal(sigaction(SIGUSR1, &ignored, &now), 0);
	assert_true(is_standard(&now));
	assert_int_equal(sigaction(SIGUSR1, &standard, &now), 0);
	assert_true(now.sa_handler == SIG_IGN);
	assert_int_equal(tr2p_remote_start(SIGUSR1), 0);
	assert_true(signal(SIGUSR1, ignore) == SIG_DFL);
	assert_true(signal(SIGUSR1, SIG_DFL) == ignore);
	assert_int_equal(signal(SIGKILL, ignore) == SIG_ERR ? errno : 0, EINVAL);
}
#endif

static void test_question_to_a_forked_child_is_its_own(void **state)
{
	pid_t child;
	int status;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		size_t stacks = tr2p_bucket_count(TR2P_THREADS);
		raise(SIGUSR2);
		_exit(tr2p_bucket_count(TR2P_THREADS) != stacks + 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#ifndef TR2_IS_SANITIZED   /* nothing of theirs is for two processes in one memory */
static int ask_in_vfork(void *data)
{
	raise(SIGUSR2);
	return data != NULL;
}

static void test_question_to_the_child_of_a_vfork_is_none(void **state)
{
	static char stack[256 << 10] __attribute__((aligned(16)));
	size_t stacks = tr2p_bucket_count(TR2P_THREADS);
	int status = -1;
	pid_t child = clone(ask_in_vfork, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	(void)state;
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(tr2p_bucket_count(TR2P_THREADS), stacks);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals_that_may_ask_have_names_and_numbers),
		cmocka_unit_test(test_signal_that_is_taken_is_refused),
		cmocka_unit_test(test_question_from_outside_is_answered_by_all_threads),
		cmocka_unit_test(test_signal_that_the_program_takes_later_asks_no_more),
		cmocka_unit_test(test_question_to_a_forked_child_is_its_own),
#ifndef TR2_IS_SANITIZED
		cmocka_unit_test(test_program_is_told_that_a_signal_that_asks_has_its_default),
		cmocka_unit_test(test_question_to_the_child_of_a_vfork_is_none),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The profiler's locks: what is kept off while a thread has one, and that no child of a fork finds one locked. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_mutex.h"
#include "prof/tr2p_signal.h"
#include "prof/tr2p_thread.h"
#include "base/tr2_atomic.h"

static struct tr2p_mutex g_mutex = TR2P_MUTEX_INIT;
static volatile sig_atomic_t handled;
static int stop;

static void note(int signo)
{
	handled = signo;
}

static void on(int signo, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	assert_int_equal(sigaction(signo, &action, NULL), 0);
}

static void test_mutex_while_locked_keeps_handlers_off(void **state)
{
	(void)state;
	on(SIGUSR1, note);
	handled = 0;
	tr2p_mutex_lock(&g_mutex);
	raise(SIGUSR1);
	assert_int_equal(handled, 0);
	assert_true(tr2p_is_inside());
	tr2p_mutex_unlock(&g_mutex);
	assert_int_equal(handled, SIGUSR1);
	assert_false(tr2p_is_inside());
}

static void note_ours(int signo, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	handled = signo;
}

static int raise_while_locked(int signo)
{
	int was_handled;

	handled = 0;
	tr2p_mutex_lock(&g_mutex);
	raise(signo);
	was_handled = handled;
	tr2p_mutex_unlock(&g_mutex);
	return was_handled;
}

static void test_mutex_of_threads_lets_their_signal_in(void **state)
{
	(void)state;
	assert_int_equal(tr2p_signal_install(SIGRTMIN, note_ours), 0);
	tr2p_mutex_let_in(SIGRTMIN);
	assert_int_equal(raise_while_locked(SIGRTMIN), SIGRTMIN);
}

#ifndef TR2_IS_SANITIZED   /* there nobody is told of the program's handler */
/* It may fork, and wait for the lock. */
static void test_mutex_of_threads_keeps_their_signal_off_once_it_is_the_program_s(void **state)
{
	(void)state;
	on(SIGRTMIN, note);
	assert_int_equal(raise_while_locked(SIGRTMIN), 0);
	assert_int_equal(handled, SIGRTMIN);
}
#endif

static void *be_cancelled(void *data)
{
	tr2p_mutex_lock(&g_mutex);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	tr2p_mutex_unlock(&g_mutex);
	*(int *)data = 1;
	pthread_testcancel();
	return NULL;
}

static void test_mutex_while_locked_is_not_left_by_cancellation(void **state)
{
	pthread_t thread;
	void *result;
	int was_unlocked = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, be_cancelled, &was_unlocked), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(was_unlocked, 1);
}

/* ---- forks ----------------------------------------------------------------------------------------- */

static void *start_and_stop(void *data)
{
	while (!tr2_load_rlx(&stop)) { /* relaxed: a flag by itself */
		trace2_prof_start_cpu(1);
		trace2_prof_stop_cpu();
	}
	return data;
}

/* The exit status of a child that starts and stops once. */
static int fork_one(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		alarm(300);
		trace2_prof_stop_cpu();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_fork_while_a_clock_is_started_leaves_the_child_its_lock(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, start_and_stop, NULL), 0);
	for (int i = 0; i < 30; i++)
		assert_int_equal(fork_one(), 0);
	tr2_store_rlx(&stop, 1); /* relaxed: a flag by itself */
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static int forks;

static void fork_in_handler(int signo)
{
	pid_t child = fork();
	int status;

	(void)signo;
	if (!child)
		_exit(0);
	forks += waitpid(child, &status, 0) == child && !status;
}

/* A handler that runs while the profile is locked would wait for itself. */
static void test_fork_in_a_handler_while_values_are_added_returns(void **state)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct trace2_profile *profile;
	timer_t timer;
	int values[50], rounds = 0;

	(void)state;
	on(SIGUSR2, fork_in_handler);
	assert_int_equal(trace2_prof_new("forks", &profile), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	for (; forks < 50; rounds++) {
		struct itimerspec once = { { 0, 0 }, { 0, 1 + rounds % 50 * 500 } };

		assert_int_equal(timer_settime(timer, 0, &once, NULL), 0);
		for (int i = 0; i < 50; i++)
			trace2_prof_add(profile, &values[i], 0);
		for (int i = 0; i < 50; i++)
			trace2_prof_remove(profile, &values[i]);
	}
	timer_delete(timer);
}

/* ---- cancellation ---------------------------------------------------------------------------------- */

static void *write_cancelled(void *data)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	pthread_cancel(pthread_self());
	*(int *)data = trace2_prof_write_to(trace2_prof_lookup("threads"), fd, 2);
	close(fd);   /* where it is cancelled */
	return NULL;
}

static void test_write_to_is_no_cancellation_point(void **state)
{
	pthread_t thread;
	void *result;
	int error = -1;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_cancelled, &error), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(error, 0);
	assert_int_equal(fork_one(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_while_locked_keeps_handlers_off),
		cmocka_unit_test(test_mutex_of_threads_lets_their_signal_in),
#ifndef TR2_IS_SANITIZED
		cmocka_unit_test(test_mutex_of_threads_keeps_their_signal_off_once_it_is_the_program_s),
#endif
		cmocka_unit_test(test_mutex_while_locked_is_not_left_by_cancellation),
		cmocka_unit_test(test_fork_while_a_clock_is_started_leaves_the_child_its_lock),
		cmocka_unit_test(test_fork_in_a_handler_while_values_are_added_returns),
		cmocka_unit_test(test_write_to_is_no_cancellation_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

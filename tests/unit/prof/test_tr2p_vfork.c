/* SPDX-License-Identifier: MIT */
/*
 * The child of vfork() has the memory of its parent, but signals of its own: what it sets holds there, also for what it
 * executes, and changes nothing for the parent.
 */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand in front of these functions themselves */
}
#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_ask.h"

enum { STACK = 256 << 10, CHANGES = 3000, STORM_THREADS = 2 };

static volatile sig_atomic_t g_handled, g_childs;

static void parents(int signo)
{
	g_handled = signo;
}

static void childs(int signo)
{
	(void)signo;
	g_childs = getpid();
}

static struct sigaction of(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	return action;
}

/* As vfork(), but on another stack.  Return  the child's status */
static int in_child(int run(void *), void *data)
{
	char *stack = malloc(STACK);
	int status = -1;
	pid_t child = clone(run, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, data);

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	free(stack);
	return status;
}

static void assert_parent_has(int signo, void (*handler)(int))
{
	struct sigaction now;

	assert_int_equal(sigaction(signo, NULL, &now), 0);
	assert_true(now.sa_handler == handler);
	g_handled = 0;
	raise(signo);
	assert_int_equal(g_handled, signo);
}

static void begin(int signo, int flags)
{
	const struct sigaction action = of(parents, flags);

	assert_int_equal(sigaction(signo, &action, NULL), 0);
}

/* ---- what the child sets --------------------------------------------------------------------------- */

static int handle_in_child(void *data)
{
	const struct sigaction mine = of(childs, 0);
	struct sigaction old, now;
	int signo = *(int *)data;

	if (sigaction(signo, &mine, &old) || old.sa_handler != parents)
		return 1;
	if (sigaction(signo, NULL, &now) || now.sa_handler != childs)
		return 2;
	raise(signo);
	if (g_childs != getpid())
		return 3;
	return signal(signo, SIG_DFL) != childs;
}

static int g_signals[2];   /* SIGPROF, and the one that asks */

static void test_vfork_child_that_handles_a_signal_does_so_alone(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin(g_signals[i], SA_RESTART);
		assert_int_equal(in_child(handle_in_child, &g_signals[i]), 0);
		assert_parent_has(g_signals[i], parents);
	}
}

static int ignore_and_execute(void *data)
{
	static char text[64];
	int signo = *(int *)data;
	char *const argv[] = { "sh", "-c", text, NULL };

	snprintf(text, sizeof(text), "kill -%d $$; exit 7", signo);
	signal(signo, SIG_IGN);
	execv("/bin/sh", argv);
	return 1;
}

static int reset_and_execute(void *data)
{
	static char text[64];
	int signo = *(int *)data;
	char *const argv[] = { "sh", "-c", text, NULL };

	snprintf(text, sizeof(text), "kill -%d $$; exit 7", signo);
	signal(signo, SIG_DFL);
	execv("/bin/sh", argv);
	return 1;
}

/* sh ends by the signal unless it came to it ignored. */
static void test_vfork_child_that_ignores_a_signal_passes_that_on(void **state)
{
	int status;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin(g_signals[i], SA_RESTART);
		status = in_child(ignore_and_execute, &g_signals[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
		status = in_child(reset_and_execute, &g_signals[i]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == g_signals[i]);
		assert_parent_has(g_signals[i], parents);
	}
}

/* ---- what comes to the child ----------------------------------------------------------------------- */

static int get_one(void *data)
{
	raise(*(int *)data);
	return 0;
}

static void test_vfork_child_that_gets_a_signal_uses_up_nothing_of_the_parent_s(void **state)
{
	const struct sigaction standard = of(SIG_DFL, 0);
	struct sigaction now;
	int status;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin(g_signals[i], (int)SA_RESETHAND);
		assert_int_equal(in_child(get_one, &g_signals[i]), 0);
		assert_parent_has(g_signals[i], parents);
		assert_int_equal(sigaction(g_signals[i], NULL, &now), 0);
		assert_true(now.sa_handler == SIG_DFL);
		assert_int_equal(sigaction(g_signals[i], &standard, NULL), 0);
		status = in_child(get_one, &g_signals[i]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == g_signals[i]);
		begin(g_signals[i], 0);
		assert_parent_has(g_signals[i], parents);
	}
}

/* ---- fork ------------------------------------------------------------------------------------------ */

static void (*volatile g_at_fork)(int);

static void handle_at_fork(void)
{
	if (g_at_fork)
		signal(SIGPROF, g_at_fork);
}

/* Handlers of fork() that the program has registered first run before ours. */
static void test_fork_child_changes_its_own_from_the_first_moment(void **state)
{
	pid_t child;
	int status;

	(void)state;
	signal(SIGPROF, SIG_DFL);
	assert_int_equal(trace2_prof_start_wall(1000), 0);
	begin(SIGPROF, SA_RESTART);
	g_at_fork = childs;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		g_childs = 0;
		usleep(50000);   /* ticks of the child's clock are no signals of the program's */
		if (g_childs)
			_exit(1);
		raise(SIGPROF);
		_exit(g_childs == getpid() ? 0 : 2);
	}
	g_at_fork = NULL;
	assert_int_equal(waitpid(child, &status, 0), child);
	trace2_prof_stop_wall();
	assert_int_equal(status, 0);
	assert_parent_has(SIGPROF, parents);
}

/* ---- both at once ---------------------------------------------------------------------------------- */

static int g_is_over;
static unsigned g_wrong;

static int set_childs(void *data)
{
	const struct sigaction mine = of(childs, SA_RESTART);

	for (unsigned i = 0; i < 8; i++)
		sigaction(SIGPROF, &mine, NULL);
	return data != NULL;
}

static void *have_children(void *data)
{
	while (!tr2_load_rlx(&g_is_over)) /* relaxed: a flag */
		if (in_child(set_childs, NULL))
			tr2_add_rlx(&g_wrong, 1); /* relaxed: a count */
	return data;
}

static void test_vfork_children_disturb_no_change_of_the_parent_s(void **state)
{
	pthread_t threads[STORM_THREADS];
	const struct sigaction action = of(parents, SA_RESTART);
	struct sigaction old;

	(void)state;
	begin(SIGPROF, SA_RESTART);
	for (unsigned i = 0; i < STORM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, have_children, NULL), 0);
	for (unsigned i = 0; i < CHANGES; i++) {
		if (sigaction(SIGPROF, &action, &old) || old.sa_handler != parents)
			tr2_add_rlx(&g_wrong, 1); /* relaxed: a count */
		sched_yield();
	}
	tr2_store_rlx(&g_is_over, 1); /* relaxed: a flag */
	for (unsigned i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(tr2_load_rlx(&g_wrong), 0); /* relaxed: a count */
}

static int setup(void **state)
{
	(void)state;
	pthread_atfork(NULL, NULL, handle_at_fork);   /* before ours */
	if (trace2_prof_start_cpu(10) || tr2p_ask_init())
		return -1;
	trace2_prof_stop_cpu();   /* its handler stays */
	g_signals[0] = SIGPROF;
	g_signals[1] = SIGRTMAX;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vfork_child_that_handles_a_signal_does_so_alone),
		cmocka_unit_test(test_vfork_child_that_ignores_a_signal_passes_that_on),
		cmocka_unit_test(test_vfork_child_that_gets_a_signal_uses_up_nothing_of_the_parent_s),
		cmocka_unit_test(test_fork_child_changes_its_own_from_the_first_moment),
		cmocka_unit_test(test_vfork_children_disturb_no_change_of_the_parent_s),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
#endif

/* SPDX-License-Identifier: MIT */
/* What the program wants of SIGPROF, which the profiler keeps for it, changed by several threads. */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand in front of these functions themselves */
}
#else
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"

enum { THREADS = 3, CHANGES = 50000 };

static pthread_barrier_t g_begin;
static uint32_t g_torn;

static void handle(int signo)
{
	(void)signo;
}

static void handle_more(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	if (!info || !context)
		tr2_add_rlx(&g_torn, 1); /* relaxed: a count */
}

/* Two that have nothing in common. */
static struct sigaction make(int is_second)
{
	struct sigaction action = { .sa_flags = is_second ? SA_SIGINFO : SA_RESTART };

	if (is_second) {
		action.sa_sigaction = handle_more;
		sigfillset(&action.sa_mask);
	} else {
		action.sa_handler = handle;
		sigemptyset(&action.sa_mask);
	}
	return action;
}

static int is_whole(const struct sigaction *action)
{
	const struct sigaction whole = make((action->sa_flags & SA_SIGINFO) != 0);

	return action->sa_flags == whole.sa_flags && action->sa_handler == whole.sa_handler &&
	       !memcmp(&action->sa_mask, &whole.sa_mask, sizeof(whole.sa_mask));
}

static void *change(void *data)
{
	struct sigaction next, before;

	pthread_barrier_wait(&g_begin);
	for (unsigned i = 0; i < CHANGES; i++) {
		next = make(i & 1);
		if (sigaction(SIGPROF, &next, &before) || !is_whole(&before))
			tr2_add_rlx(&g_torn, 1); /* relaxed: a count */
		if (i % 16 == 0)
			raise(SIGPROF);
	}
	return data;
}

static void test_signal_changed_by_several_threads_is_one_of_their_actions(void **state)
{
	const struct sigaction first = make(0);
	struct sigaction now;
	pthread_t threads[THREADS];

	(void)state;
	assert_int_equal(trace2_prof_start_cpu(10), 0);
	trace2_prof_stop_cpu();   /* its handler stays */
	assert_int_equal(sigaction(SIGPROF, &first, NULL), 0);
	pthread_barrier_init(&g_begin, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, change, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sigaction(SIGPROF, NULL, &now), 0);
	assert_true(is_whole(&now));
	assert_int_equal(g_torn, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal_changed_by_several_threads_is_one_of_their_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

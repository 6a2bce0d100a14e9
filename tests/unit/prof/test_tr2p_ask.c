/* SPDX-License-Identifier: MIT */
/* The signal by which threads are asked may be the program's, too: what the program sends has its own effect. */
#include "t2test.h"

#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_ask.h"
#include "prof/tr2p_init.h"
#include "prof/tr2p_stacks.h"

enum { VALUE = 8197 /* place 5 of round 2, if it were a question */, VALUES = 64, ROUNDS = 200 };

/* What the kernel has: libc's sigaction() may have the profiler in front of it. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static int is_default_for_kernel(int signo)
{
	struct kernel_action now = { 0 };

	assert_int_equal(syscall(SYS_rt_sigaction, signo, NULL, &now, sizeof(now.mask)), 0);
	return now.handler == NULL;
}

/* The signal that asks, once it is there: the last one that the kernel does not treat as is the default. */
static int asking_signal(void)
{
	int signo = SIGRTMAX;

	assert_int_equal(tr2p_init(), 0);
	assert_int_equal(tr2p_ask_init(), 0);
	while (is_default_for_kernel(signo))
		signo--;
	return signo;
}

static void send(int signo, int value)
{
	assert_int_equal(sigqueue(getpid(), signo, (union sigval){ .sival_int = value }), 0);
}

static sigset_t only(int signo)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	return set;
}

/* ---- waited for ------------------------------------------------------------------------------------ */

static void test_ask_signal_queued_by_the_program_is_waited_for_by_it(void **state)
{
	static const unsigned values[] = {
		0, 1, VALUE, 4096, 0x3fffffff, 0x7fffffff, 0x80000001, 0x80000000 | VALUE, 0xffffffff
	};
	int signo = asking_signal();
	sigset_t set = only(signo);
	siginfo_t info;

	(void)state;
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		send(signo, (int)values[i]);
		assert_int_equal(sigwaitinfo(&set, &info), signo);
		assert_int_equal((unsigned)info.si_value.sival_int, values[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- the default ----------------------------------------------------------------------------------- */

static int end_of_child(void (*run)(int signo), int signo)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		run(signo);
		usleep(1000);   /* ThreadSanitizer holds signals back until a call like this */
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void queue_one(int signo)
{
	sigqueue(getpid(), signo, (union sigval){ .sival_int = VALUE });
}

static void raise_one(int signo)
{
	raise(signo);
}

static void test_ask_signal_that_the_program_does_not_handle_ends_it(void **state)
{
	int signo = asking_signal(), status;

	(void)state;
	status = end_of_child(queue_one, signo);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signo);
	status = end_of_child(raise_one, signo);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signo);
}

#ifndef TR2_IS_SANITIZED   /* sanitizers stand in front of sigaction() themselves: there the program replaces us */
/* ---- handlers -------------------------------------------------------------------------------------- */

static int g_values[VALUES];
static unsigned g_got, g_strange;

static void handle(int signo, siginfo_t *info, void *context)
{
	static const int codes[] = { SI_QUEUE, SI_USER, SI_TKILL, SI_TIMER, SI_MESGQ };
	int is_known = 0;

	(void)signo;
	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		is_known |= info->si_code == codes[i];
	if (!context || !is_known || (info->si_code == SI_QUEUE && info->si_uid != getuid()))
		tr2_add_rlx(&g_strange, 1); /* relaxed: a count */
	g_values[tr2_add_rlx(&g_got, 1) % VALUES] = info->si_value.sival_int; /* relaxed: as above */
}

static void install(int signo, int flags)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | flags };

	tr2_store_rlx(&g_got, 0);     /* relaxed: nothing comes meanwhile */
	tr2_store_rlx(&g_strange, 0); /* relaxed: as above */
	assert_int_equal(sigaction(signo, &action, NULL), 0);
}

static void give_back(int signo)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };

	assert_int_equal(sigaction(signo, &standard, NULL), 0);
}

static void await(unsigned n)
{
	while (tr2_load_rlx(&g_got) < n) /* relaxed: a count */
		usleep(100);
}

static void test_ask_signal_looks_untouched_to_the_program(void **state)
{
	int signo = asking_signal();
	struct sigaction now, theirs = { .sa_handler = SIG_IGN };

	(void)state;
	assert_int_equal(sigaction(signo, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	assert_int_equal(sigaction(signo, &theirs, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	raise(signo);                                      /* is ignored */
	assert_int_equal(sigaction(signo, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_IGN);
	assert_true(signal(signo, SIG_DFL) == SIG_IGN);
	assert_int_equal(sigaction(signo, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	assert_true(tr2p_ask_is_ready());
}

/* By each way there is to send one. */
static void test_ask_signal_reaches_the_handler_that_the_program_installs_later(void **state)
{
	const struct itimerspec soon = { .it_value = { 0, 1000000 } };
	int signo = asking_signal();
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signo, .sigev_value.sival_int = VALUE };
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	char name[32];
	timer_t timer;
	mqd_t queue;

	(void)state;
	install(signo, 0);
	send(signo, VALUE);
	await(1);
	assert_int_equal(pthread_sigqueue(pthread_self(), signo, (union sigval){ .sival_int = VALUE }), 0);
	await(2);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
	await(3);
	timer_delete(timer);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(g_values[i], VALUE);
	raise(signo);
	kill(getpid(), signo);
	await(5);
	snprintf(name, sizeof(name), "/test_tr2p_ask-%d", (int)getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	if (queue != (mqd_t)-1 && !mq_unlink(name) && !mq_notify(queue, &event)) {
		assert_int_equal(mq_send(queue, "", 1, 0), 0);
		await(6);
		mq_close(queue);
	}
	assert_int_equal(tr2_load_rlx(&g_strange), 0); /* relaxed: a count */
	give_back(signo);
	assert_true(tr2p_ask_is_ready());
}

static void test_ask_signal_with_a_handler_interrupts_calls_as_it_says(void **state)
{
	const struct itimerspec soon = { .it_value = { 0, 20000000 } };
	int signo = asking_signal(), fds[2];
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signo };
	timer_t timer;
	char byte;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	install(signo, 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
	assert_int_equal(read(fds[0], &byte, 1), -1);
	assert_int_equal(errno, EINTR);
	timer_delete(timer);
	close(fds[0]);
	close(fds[1]);
	give_back(signo);
}

static void raise_twice(int signo)
{
	install(signo, (int)SA_RESETHAND);
	raise(signo);
	if (tr2_load_rlx(&g_got) == 1) /* relaxed: a count */
		raise(signo);
}

static void test_ask_signal_with_a_handler_for_once_ends_the_program_then(void **state)
{
	int signo = asking_signal(), status = end_of_child(raise_twice, signo);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signo);
}

/* Questions go by another signal then. */
static void test_ask_signal_that_the_program_takes_is_asked_by_no_more(void **state)
{
	const struct tr2p_stacks_thread *threads;
	int signo = asking_signal();
	unsigned n;

	(void)state;
	install(signo, 0);
	assert_false(tr2p_ask_is_ready());
	tr2p_stacks_lock();
	assert_int_equal(tr2p_stacks_take(&threads, &n), 0);
	tr2p_stacks_unlock();
	assert_true(tr2p_ask_is_ready());
	assert_int_equal(tr2_load_rlx(&g_got), 0); /* relaxed: a count */
	give_back(signo);
}

/* ---- questions under way --------------------------------------------------------------------------- */

static int g_is_over;
static unsigned g_answered;

static void *be_asked(void *data)
{
	while (!tr2_load_rlx(&g_is_over)) /* relaxed: a flag */
		sched_yield();
	return data;
}

static void *ask_all_the_time(void *data)
{
	const struct tr2p_stacks_thread *threads;
	unsigned n;

	while (!tr2_load_rlx(&g_is_over)) { /* relaxed: a flag */
		tr2p_stacks_lock();
		if (!tr2p_stacks_take(&threads, &n))
			for (unsigned i = 1; i < n; i++)
				tr2_add_rlx(&g_answered, (unsigned)threads[i].has_stack); /* relaxed: a count */
		tr2p_stacks_unlock();
	}
	return data;
}

/* As programs do that reset all signals; each finds, of what is under way, nothing. */
static void test_ask_signal_that_is_taken_and_given_back_shows_the_program_no_question(void **state)
{
	int signo = asking_signal();
	pthread_t asker, asked;

	(void)state;
	tr2_store_rlx(&g_is_over, 0); /* relaxed: a flag */
	assert_int_equal(pthread_create(&asked, NULL, be_asked, NULL), 0);
	assert_int_equal(pthread_create(&asker, NULL, ask_all_the_time, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (int other = SIGRTMIN; other <= SIGRTMAX; other++)
			install(other, 0);
		usleep(100);
		assert_int_equal(tr2_load_rlx(&g_got), 0); /* relaxed: a count */
		send(signo, VALUE);
		await(1);
		assert_int_equal(tr2_load_rlx(&g_strange), 0); /* relaxed: a count */
		for (int other = SIGRTMIN; other <= SIGRTMAX; other++)
			signal(other, SIG_DFL);
		usleep(100);
	}
	while (!tr2_load_rlx(&g_answered)) /* relaxed: a count */
		usleep(100);
	tr2_store_rlx(&g_is_over, 1); /* relaxed: a flag */
	pthread_join(asker, NULL);
	pthread_join(asked, NULL);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ask_signal_queued_by_the_program_is_waited_for_by_it),
		cmocka_unit_test(test_ask_signal_that_the_program_does_not_handle_ends_it),
#ifndef TR2_IS_SANITIZED
		cmocka_unit_test(test_ask_signal_looks_untouched_to_the_program),
		cmocka_unit_test(test_ask_signal_reaches_the_handler_that_the_program_installs_later),
		cmocka_unit_test(test_ask_signal_with_a_handler_interrupts_calls_as_it_says),
		cmocka_unit_test(test_ask_signal_with_a_handler_for_once_ends_the_program_then),
		cmocka_unit_test(test_ask_signal_that_the_program_takes_is_asked_by_no_more),
		cmocka_unit_test(test_ask_signal_that_is_taken_and_given_back_shows_the_program_no_question),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

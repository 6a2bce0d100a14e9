/* SPDX-License-Identifier: MIT */
/* Programs that wait for all signals get none of the profiler's, and are sampled there. */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand in front of these functions themselves */
}
#else
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_stacks.h"
#include "base/tr2_atomic.h"

enum { TRIES = 60000 };   /* of a millisecond and more: far more than it needs, but an end */

static int64_t total(unsigned profile)
{
	int64_t count = 0;

	for (struct tr2p_bucket *bucket = tr2p_bucket_first(profile); bucket; bucket = bucket->next)
		count += tr2p_bucket_totals(bucket).count;
	return count;
}

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* All signals are blocked, and a tick is pending, of a thread that was seen running many times: 50 ms of CPU time. */
static sigset_t wait_for_tick(void)
{
	struct timespec used;
	sigset_t all, pending;
	int64_t until;

	sigfillset(&all);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
	assert_int_equal(trace2_prof_start_wall(1000), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	until = to_ns(&used) + 50000000;
	do {
		assert_int_equal(sigpending(&pending), 0);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (!sigismember(&pending, SIGPROF) || to_ns(&used) < until);
	return all;
}

static void test_sigwait_of_all_signals_takes_ticks_as_samples(void **state)
{
	sigset_t all = wait_for_tick();
	siginfo_t info;
	int64_t before = total(TR2P_WALL);   /* 0, but on a slow machine: after 250 ms the clock counts in its place */
	int signo = 0;

	(void)state;
	raise(SIGIO);   /* the kernel gives SIGPROF first */
	errno = ENOENT;
	assert_int_equal(sigwait(&all, &signo), 0);
	assert_int_equal(signo, SIGIO);
	assert_int_equal(errno, ENOENT);
	assert_true(total(TR2P_WALL) > before);
	raise(SIGIO);
	assert_int_equal(sigwaitinfo(&all, &info), SIGIO);
	assert_int_equal(info.si_signo, SIGIO);
	trace2_prof_stop_wall();
}

static void test_sigtimedwait_with_ticks_waits_until_its_time(void **state)
{
	const struct timespec time = { 0, 50000000 };
	struct timespec start, end;
	sigset_t all;

	(void)state;
	if (sizeof(long) < sizeof(int64_t))
		skip();   /* of functions with a timeout there are two versions, and nothing is in front of them */
	all = wait_for_tick();
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(sigtimedwait(&all, NULL, &time), -1);
	assert_int_equal(errno, EAGAIN);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true((end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec >= time.tv_nsec);
	trace2_prof_stop_wall();
}

/* qemu-user may have taken the tick that was pending to itself: there are more. */
static ssize_t read_when_there(int fd, struct signalfd_siginfo *info)
{
	ssize_t n;

	for (unsigned tries = 0; (n = read(fd, info, sizeof(*info))) < 0 && errno == EAGAIN && tries < TRIES; tries++)
		usleep(1000);
	return n;
}

static void test_signalfd_of_all_signals_has_no_ticks(void **state)
{
	sigset_t all = wait_for_tick(), one;
	struct signalfd_siginfo info;
	int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &info, sizeof(info)), -1);
	assert_int_equal(errno, EAGAIN);
	sigemptyset(&one);
	sigaddset(&one, SIGPROF);
	assert_int_equal(signalfd(fd, &one, 0), fd);   /* asked for by name */
	assert_int_equal(read_when_there(fd, &info), sizeof(info));
	assert_int_equal(info.ssi_signo, SIGPROF);
	close(fd);
	trace2_prof_stop_wall();
}

/* ---- "threads" ------------------------------------------------------------------------------------- */

static pid_t waiter;

static void *wait_for_signal(void *data)
{
	sigset_t all;
	int *signo = data;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	tr2_store_rel(&waiter, gettid()); /* release: all are blocked */
	return (void *)(intptr_t)sigwait(&all, signo);
}

static int has_stack(pid_t tid)
{
	const struct tr2p_stacks_thread *threads;
	unsigned n;
	int has = 0;

	tr2p_stacks_lock();
	assert_int_equal(tr2p_stacks_take(&threads, &n), 0);
	for (unsigned i = 0; i < n; i++)
		has |= threads[i].tid == tid && threads[i].has_stack && threads[i].stack.n > 0;
	tr2p_stacks_unlock();
	return has;
}

static void test_stacks_of_a_thread_in_sigwait_are_taken_there(void **state)
{
	pthread_t thread;
	void *error;
	int signo = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_signal, &signo), 0);
	while (!tr2_load_acq(&waiter)) /* acquire: see wait_for_signal() */
		usleep(1000);
	for (unsigned tries = 0; !has_stack(waiter); tries++) {   /* it may not wait yet */
		assert_true(tries < TRIES);
		usleep(1000);
	}
	assert_int_equal(signo, 0);
	assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
	assert_int_equal(pthread_join(thread, &error), 0);
	assert_null(error);
	assert_int_equal(signo, SIGUSR1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_of_a_thread_in_sigwait_are_taken_there),
		cmocka_unit_test(test_sigwait_of_all_signals_takes_ticks_as_samples),
		cmocka_unit_test(test_sigtimedwait_with_ticks_waits_until_its_time),
		cmocka_unit_test(test_signalfd_of_all_signals_has_no_ticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

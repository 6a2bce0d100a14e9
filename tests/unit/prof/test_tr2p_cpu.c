/* SPDX-License-Identifier: MIT */
/* The profiles "cpu" and "wall": what is counted adds up to the time that the kernel says threads have used. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_create.h"
#include "prof/tr2p_thread.h"

enum { HZ = 500, MS = 1000000, BURN_MS = 200, BURN_MS_MAX = 5000 };

static int64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static __attribute__((noinline)) void burn(int64_t ms)
{
	const int64_t until = thread_ns() + ms * MS;
	volatile unsigned n = 0;

	while (thread_ns() < until)
		for (unsigned i = 0; i < 1000; i++)
			n = n + i;
}

static const struct trace2_labels *labels_of(const char *value)
{
	const char *const pairs[] = { "who", value, NULL };
	const struct trace2_labels *labels;

	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &labels), 0);
	return labels;
}

static struct tr2p_totals totals_of(unsigned profile, const struct trace2_labels *labels)
{
	struct tr2p_totals all = { 0 };

	for (struct tr2p_bucket *b = tr2p_bucket_first(profile); b; b = b->next)
		if (b->labels == labels) {
			all.count += tr2p_bucket_totals(b).count;
			all.value += tr2p_bucket_totals(b).value;
		}
	return all;
}

/* Of a thread: the CPU time that it has used, and what its ticks make of that. */
struct counted {
	int64_t used;
	struct tr2p_totals totals;
};

/* They may differ by a part of the first period, and by what has come since the kernel's last tick. */
static int is_time(const struct counted *counted)
{
#if defined(__SANITIZE_THREAD__) || defined(TRACE2_HAS_TSAN_)
	return counted->totals.count > 0;   /* keeps back signals, and of many only one */
#else
	return llabs(counted->totals.value - counted->used) <= counted->used / 50 + 30 * MS;
#endif
}

/*
 * Burn at least ms, and until the ticks agree with that.  However busy the machine is, both are of the thread's clock;
 * but a virtual machine may tick 100 ms late.  What is late comes, in the end; what is lost does not.
 */
static struct counted burn_until_counted(const struct trace2_labels *labels, int64_t ms)
{
	const int64_t begin = thread_ns();
	struct counted counted;

	do {
		burn(ms);
		counted.used = thread_ns() - begin;
		counted.totals = totals_of(TR2P_CPU, labels);
	} while (!is_time(&counted) && counted.used < (int64_t)BURN_MS_MAX * MS);
	return counted;
}

/* Burn until there have been n ticks.  Return  0: there have been fewer */
static int burn_until_ticks(const struct trace2_labels *labels, int64_t n)
{
	const int64_t until = thread_ns() + (int64_t)BURN_MS_MAX * MS;

	do
		burn(BURN_MS);
	while (totals_of(TR2P_CPU, labels).count < n && thread_ns() < until);
	return totals_of(TR2P_CPU, labels).count >= n;
}

static void assert_is_time(const struct counted *counted)
{
	if (!is_time(counted))
		fail_msg("%lld ns of ticks for %lld ns", (long long)counted->totals.value, (long long)counted->used);
	assert_int_equal(counted->totals.value, counted->totals.count * (1000000000 / HZ));
}

/* ---- threads, before and behind the start ----------------------------------------------------------- */

struct hog {
	const struct trace2_labels *labels;
	pthread_t thread;
	sem_t go;
	struct counted counted;
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem))
		;   /* EINTR: ticks interrupt it */
}

static void *run_hog(void *data)
{
	struct hog *hog = data;

#ifdef TR2_IS_SANITIZED
	tr2p_create_begin();   /* without an own pthread_create() */
#endif
	trace2_prof_set_labels(hog->labels);
	wait_for(&hog->go);
	hog->counted = burn_until_counted(hog->labels, BURN_MS);
	return NULL;
}

static void start_hog(struct hog *hog, const char *name)
{
	hog->labels = labels_of(name);
	sem_init(&hog->go, 0, 0);
	assert_int_equal(pthread_create(&hog->thread, NULL, run_hog, hog), 0);
}

static void test_cpu_ticks_of_each_thread_add_up_to_its_cpu_time(void **state)
{
	struct hog earlier, later;

	(void)state;
	start_hog(&earlier, "earlier");
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	start_hog(&later, "later");
	sem_post(&earlier.go);
	sem_post(&later.go);
	pthread_join(earlier.thread, NULL);
	pthread_join(later.thread, NULL);
	trace2_prof_stop_cpu();
	assert_is_time(&earlier.counted);
	assert_is_time(&later.counted);
}

/* As liblzma's are: it creates them with all signals blocked. */
static void test_cpu_samples_a_thread_that_was_created_with_all_signals_blocked(void **state)
{
	sigset_t all, before;
	struct hog hog;

	(void)state;
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	start_hog(&hog, "blocked");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sem_post(&hog.go);
	pthread_join(hog.thread, NULL);
	trace2_prof_stop_cpu();
	assert_true(totals_of(TR2P_CPU, hog.labels).count > 1);   /* not all at once, where they are unblocked */
}

static void test_cpu_ticks_in_the_profiler_are_counted_without_stack(void **state)
{
	const struct trace2_labels *labels = labels_of("inside");
	struct counted counted;

	(void)state;
	trace2_prof_set_labels(labels);
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	tr2p_enter();
	counted = burn_until_counted(labels, BURN_MS);
	trace2_prof_stop_cpu();
	tr2p_leave();
	trace2_prof_set_labels(NULL);
	assert_is_time(&counted);
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_CPU); b; b = b->next)
		if (b->labels == labels && tr2p_bucket_totals(b).count)
			assert_int_equal(b->n, 1);
}

static void test_cpu_sample_has_the_function_that_runs(void **state)
{
	const struct trace2_labels *labels = labels_of("function");
	int found = 0;

	(void)state;
	trace2_prof_set_labels(labels);
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	assert_true(burn_until_ticks(labels, 10));
	trace2_prof_stop_cpu();
	trace2_prof_set_labels(NULL);
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_CPU); b; b = b->next)
		for (unsigned i = 0; b->labels == labels && i < b->n; i++)
			found |= b->at[i] >= (uintptr_t)burn && b->at[i] < (uintptr_t)burn + 1024;
	assert_true(found);
}

static void *block(void *data)
{
	struct hog *hog = data;
	char byte;
	int fds[2];

#ifdef TR2_IS_SANITIZED
	tr2p_create_begin();
#endif
	trace2_prof_set_labels(hog->labels);
	if (pipe(fds))
		return NULL;
	(void)!write(fds[1], "x", 1);
	(void)!read(fds[0], &byte, 1);
	close(fds[1]);
	wait_for(&hog->go);
	close(fds[0]);
	return NULL;
}

static void test_wall_samples_a_thread_that_is_blocked(void **state)
{
	const struct timespec ms = { .tv_nsec = MS };
	struct hog blocked = { .labels = labels_of("blocked") };

	(void)state;
	sem_init(&blocked.go, 0, 0);
	assert_int_equal(trace2_prof_start_wall(HZ), 0);
	assert_int_equal(pthread_create(&blocked.thread, NULL, block, &blocked), 0);
	while (totals_of(TR2P_WALL, blocked.labels).count < 10)
		nanosleep(&ms, NULL);
	sem_post(&blocked.go);
	pthread_join(blocked.thread, NULL);
	trace2_prof_stop_wall();
}

/* ---- starting, stopping ------------------------------------------------------------------------------ */

static void test_cpu_started_again_is_refused_and_begins_at_zero_once_stopped(void **state)
{
	int64_t begin, count;

	(void)state;
	errno = ENOENT;
	assert_int_equal(trace2_prof_start_cpu(0), EINVAL);
	assert_int_equal(trace2_prof_start_cpu(10001), EINVAL);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(trace2_prof_start_cpu(HZ), 0);
		assert_int_equal(trace2_prof_start_cpu(HZ), EALREADY);
		trace2_prof_stop_cpu();
		trace2_prof_stop_cpu();
	}
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	assert_true(burn_until_ticks(NULL, 2));
	trace2_prof_stop_cpu();
	begin = thread_ns();
	assert_int_equal(trace2_prof_start_cpu(1), 0);
	count = totals_of(TR2P_CPU, NULL).count;
	assert_true(count <= 1 + (thread_ns() - begin) / 1000000000);
	trace2_prof_stop_cpu();
	assert_int_equal(errno, ENOENT);
}

static int g_handled;

static void handle(int signo)
{
	(void)signo;
	g_handled++;
}

static void test_cpu_is_busy_where_the_program_handles_sigprof(void **state)
{
	struct sigaction own = { .sa_handler = handle }, saved;

	(void)state;
	sigaction(SIGPROF, &own, &saved);
	assert_int_equal(trace2_prof_start_cpu(HZ), EBUSY);
	assert_int_equal(trace2_prof_start_wall(HZ), EBUSY);
	raise(SIGPROF);
	assert_int_equal(g_handled, 1);
	sigaction(SIGPROF, &saved, NULL);
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	trace2_prof_stop_cpu();
}

/* As sort(1) does, and what resets all signals: the timers would end it. */
static void test_cpu_ticks_do_not_reach_what_the_program_makes_of_sigprof(void **state)
{
#ifndef TR2_IS_SANITIZED
	struct sigaction own = { .sa_handler = handle }, old;

	g_handled = 0;
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	assert_int_equal(sigaction(SIGPROF, &own, NULL), 0);
	assert_true(burn_until_ticks(NULL, 2));
	assert_int_equal(g_handled, 0);
	raise(SIGPROF);
	assert_int_equal(g_handled, 1);
	assert_int_equal(sigaction(SIGPROF, NULL, &old), 0);
	assert_ptr_equal(old.sa_handler, handle);
	assert_ptr_equal(signal(SIGPROF, SIG_DFL), handle);
	burn(BURN_MS);
	assert_true(signal(SIGPROF, SIG_IGN) == SIG_DFL);
	raise(SIGPROF);
	trace2_prof_stop_cpu();
	assert_ptr_equal(signal(SIGPROF, SIG_DFL), SIG_IGN);
	assert_int_equal(g_handled, 1);
#endif
	(void)state;
}

static void test_cpu_tick_that_comes_behind_the_stop_does_nothing(void **state)
{
	const struct trace2_labels *labels = labels_of("late");
	sigset_t profile, pending;

	(void)state;
	sigemptyset(&profile);
	sigaddset(&profile, SIGPROF);
	trace2_prof_set_labels(labels);
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	pthread_sigmask(SIG_BLOCK, &profile, NULL);
	tr2p_bucket_reset(TR2P_CPU);
	do {
		burn(1);
		sigpending(&pending);
	} while (!sigismember(&pending, SIGPROF));
	trace2_prof_stop_cpu();
	pthread_sigmask(SIG_UNBLOCK, &profile, NULL);
	trace2_prof_set_labels(NULL);
	assert_int_equal(totals_of(TR2P_CPU, labels).count, 0);
}

/* ---- other processes --------------------------------------------------------------------------------- */

static int status_of(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return status;
}

static void test_sigprof_of_others_ends_the_program_as_it_would_without_us(void **state)
{
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	child = fork();
	if (!child) {
		raise(SIGPROF);
		_exit(0);
	}
	status = status_of(child);
	trace2_prof_stop_cpu();
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPROF);
}

static void test_cpu_goes_on_in_a_forked_child(void **state)
{
	const struct trace2_labels *labels = labels_of("child");
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(trace2_prof_start_cpu(HZ), 0);
	child = fork();
	if (!child) {
		trace2_prof_set_labels(labels);
		_exit(burn_until_ticks(labels, 1) ? 7 : 8);
	}
	status = status_of(child);
	trace2_prof_stop_cpu();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(totals_of(TR2P_CPU, labels).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_ticks_of_each_thread_add_up_to_its_cpu_time),
		cmocka_unit_test(test_cpu_samples_a_thread_that_was_created_with_all_signals_blocked),
		cmocka_unit_test(test_cpu_ticks_in_the_profiler_are_counted_without_stack),
		cmocka_unit_test(test_cpu_sample_has_the_function_that_runs),
		cmocka_unit_test(test_wall_samples_a_thread_that_is_blocked),
		cmocka_unit_test(test_cpu_started_again_is_refused_and_begins_at_zero_once_stopped),
		cmocka_unit_test(test_cpu_is_busy_where_the_program_handles_sigprof),
		cmocka_unit_test(test_cpu_ticks_do_not_reach_what_the_program_makes_of_sigprof),
		cmocka_unit_test(test_cpu_tick_that_comes_behind_the_stop_does_nothing),
		cmocka_unit_test(test_sigprof_of_others_ends_the_program_as_it_would_without_us),
		cmocka_unit_test(test_cpu_goes_on_in_a_forked_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The consumer thread ends for a call of the program, comes back behind it, and nothing is lost meanwhile. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "record/tr2_sample.h"

enum { MANY = 50000, PAUSES = 40, RECORDERS = 2 };

static int is_refused;            /* the program may have no more threads */

typedef void *thread_fn(void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data)
{
	return is_refused ? EAGAIN : __real_pthread_create(thread, attributes, fn, data);
}

/* The threads of the process, of which the directory has a link for each.  Sanitizers have one of their own. */
static unsigned threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) ? 0 : (unsigned)st.st_nlink - 2;
}

static void record(int from, int to)
{
	for (int i = from; i < to; i++)
		trace2_data_intmax("n", NULL, "number", i);
}

static void assert_all_are_there(int (*program)(void *), const char *const *settings, int numbers)
{
	traced_run(&t, program, NULL, settings);
	assert_string_equal(t.said, "");
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "number", (unsigned)numbers), 0);
	assert_int_equal(file.lost, 0);
	assert_int_equal(file.ends, 1);
}

static int run_and_pause(void *data)
{
	unsigned with;

	(void)data;
	trace2_initialize();
	record(0, MANY);
	with = threads();
	errno = 77;
	if (!tr2_sample_pause_v1() || threads() != with - 1)
		return 1;
	record(MANY, 2 * MANY);
	if (threads() != with - 1)
		return 2;
	tr2_sample_resume_v1();
	if (errno != 77 || threads() != with)
		return 3;
	record(2 * MANY, 3 * MANY);
	return 0;
}

static void test_pause_ends_the_thread_which_comes_back_behind(void **state)
{
	(void)state;
	assert_all_are_there(run_and_pause, (const char *const[]){
		"TRACE2_RAW_THREAD=init", "TRACE2_RAW_POLICY=block", NULL }, 3 * MANY);
}

static int run_without_a_thread(void *data)
{
	(void)data;
	trace2_initialize();
	record(0, MANY);
	return tr2_sample_pause_v1();
}

static void test_pause_without_a_thread_is_none(void **state)
{
	(void)state;
	assert_all_are_there(run_without_a_thread, (const char *const[]){ "TRACE2_RAW_THREAD=off", NULL }, MANY);
}

static int run_refused(void *data)
{
	(void)data;
	trace2_initialize();
	record(0, MANY);
	if (!tr2_sample_pause_v1())
		return 1;
	is_refused = 1;
	tr2_sample_resume_v1();
	record(MANY, 2 * MANY);
	return 0;
}

/* As under RLIMIT_NPROC: a daemon may be another user by then. */
static void test_pause_after_which_the_system_refuses_a_thread_loses_nothing(void **state)
{
	(void)state;
	assert_all_are_there(run_refused, (const char *const[]){
		"TRACE2_RAW_THREAD=init", "TRACE2_RAW_POLICY=block", NULL }, 2 * MANY);
}

static void *record_beside(void *data)
{
	const int *i = data;

	trace2_thread_start("beside");
	record(*i * MANY, (*i + 1) * MANY);
	trace2_thread_exit();
	return NULL;
}

static int run_beside_others(void *data)
{
	const struct timespec moment = { 0, 300000 };
	pthread_t others[RECORDERS];
	int numbers[RECORDERS], pauses = 0;

	(void)data;
	trace2_initialize();
	for (int i = 0; i < RECORDERS; i++) {
		numbers[i] = i;
		if (__real_pthread_create(&others[i], NULL, record_beside, &numbers[i]))
			return 1;
	}
	for (int i = 0; i < PAUSES; i++) {
		if (tr2_sample_pause_v1()) {
			pauses++;
			tr2_sample_resume_v1();
		}
		nanosleep(&moment, NULL);
	}
	for (int i = 0; i < RECORDERS; i++)
		pthread_join(others[i], NULL);
	return pauses > 0 ? 0 : 2;
}

static void test_pause_while_others_record_loses_nothing(void **state)
{
	(void)state;
	assert_all_are_there(run_beside_others, (const char *const[]){
		"TRACE2_RAW_THREAD=init", "TRACE2_RAW_POLICY=block", "TRACE2_RAW_MEMORY=1m", NULL }, RECORDERS * MANY);
}

/* The calling thread may be in a handler, so the thread comes back with a later call. */
static int run_with_signals_blocked(void *data)
{
	sigset_t all, old;
	unsigned with;

	(void)data;
	trace2_initialize();
	with = threads();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (!tr2_sample_pause_v1())
		return 1;
	tr2_sample_resume_v1();
	record(0, MANY);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	record(MANY, 2 * MANY);
	trace2_flush();
	return threads() == with ? 0 : 2;
}

static void test_pause_in_what_may_be_a_handler_ends_later(void **state)
{
	(void)state;
	assert_all_are_there(run_with_signals_blocked, (const char *const[]){
		"TRACE2_RAW_THREAD=init", "TRACE2_RAW_POLICY=block", NULL }, 2 * MANY);
}

/* Its parent's thread is not its own. */
static int run_forked_child(void *data)
{
	int status = 0;
	pid_t pid;

	(void)data;
	trace2_initialize();
	record(0, MANY);
	pid = fork();
	if (!pid)
		_exit(tr2_sample_pause_v1());
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}

static void test_pause_in_a_forked_child_without_a_session_is_none(void **state)
{
	(void)state;
	traced_run(&t, run_forked_child, NULL, (const char *const[]){ "TRACE2_RAW_THREAD=init", NULL });
	assert_int_equal(t.status, 0);
}

static int run_dormant(void *data)
{
	unsigned with;

	(void)data;
	trace2_initialize();
	with = threads();
	if (!tr2_sample_pause_v1() || threads() != with - 1)
		return 1;
	tr2_sample_resume_v1();
	return threads() == with ? 0 : 2;
}

static void test_pause_of_a_process_that_is_not_traced_ends_its_thread(void **state)
{
	(void)state;
	traced_run(&t, run_dormant, NULL, (const char *const[]){ "TRACE2_RAW=0", "TRACE2_CTL=1", NULL });
	assert_int_equal(t.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_pause_ends_the_thread_which_comes_back_behind),
		TRACED_TEST(test_pause_without_a_thread_is_none),
		TRACED_TEST(test_pause_after_which_the_system_refuses_a_thread_loses_nothing),
		TRACED_TEST(test_pause_while_others_record_loses_nothing),
		TRACED_TEST(test_pause_in_what_may_be_a_handler_ends_later),
		TRACED_TEST(test_pause_in_a_forked_child_without_a_session_is_none),
		TRACED_TEST(test_pause_of_a_process_that_is_not_traced_ends_its_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

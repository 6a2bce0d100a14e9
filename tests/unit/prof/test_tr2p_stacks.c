/* SPDX-License-Identifier: MIT */
/* Where all threads are: those that wait, that run, and that do not answer. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_init.h"
#include "prof/tr2p_stacks.h"
#include "prof/tr2p_stacks_text.h"
#include "prof/tr2p_thread.h"

enum { THREADS = 3, TEXT = 1 << 18, FUNCTION_BYTES = 1024, TRIES = 10000 };

static sem_t sem;
static int is_over;
static unsigned ready;
static const struct trace2_labels *labels;

static __attribute__((noinline, aligned(FUNCTION_BYTES))) void park_here(void)
{
	while (sem_wait(&sem))
		continue;
	__asm__ volatile("");
}

static __attribute__((noinline, aligned(FUNCTION_BYTES))) void spin_here(void)
{
	while (!tr2_load_rlx(&is_over))
		continue;
}

static void *park(void *data)
{
	trace2_prof_set_labels(labels);
	pthread_setname_np(pthread_self(), "parked");
	tr2_add_rlx(&ready, 1);
	park_here();
	return data;
}

static void *spin(void *data)
{
	pthread_setname_np(pthread_self(), "spinning");
	tr2_add_rlx(&ready, 1);
	spin_here();
	return data;
}

static void *block_all(void *data)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_setname_np(pthread_self(), "blocked");
	tr2_add_rlx(&ready, 1);
	park_here();
	return data;
}

static pthread_t threads[THREADS];

static void start_threads(void)
{
	static const char *const pairs[] = { "request", "17", NULL };

	assert_int_equal(tr2p_init(), 0);
	sem_init(&sem, 0, 0);
	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &labels), 0);
	tr2_store_rlx(&ready, 0);
	tr2_store_rlx(&is_over, 0);
	assert_int_equal(pthread_create(&threads[0], NULL, park, NULL), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, spin, NULL), 0);
	assert_int_equal(pthread_create(&threads[2], NULL, block_all, NULL), 0);
	while (tr2_load_rlx(&ready) < THREADS)
		usleep(1000);
}

static void stop_threads(void)
{
	tr2_store_rlx(&is_over, 1);
	sem_post(&sem);
	sem_post(&sem);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static const struct tr2p_stacks_thread *named(const struct tr2p_stacks_thread *all, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	fail_msg("no thread %s", name);
	return NULL;
}

static int is_in(const struct tr2p_stacks_thread *thread, void (*function)(void))
{
	for (unsigned i = 0; i < thread->stack.n; i++)
		if (thread->stack.at[i] - (uintptr_t)function < FUNCTION_BYTES)
			return 1;
	return 0;
}

static int are_there(const struct tr2p_stacks_thread *all, unsigned n)
{
#ifdef TR2_IS_SANITIZED   /* sanitizers hold signals back, of a thread that calls nothing forever */
	(void)is_in;
	return named(all, n, "parked") && named(all, n, "spinning");
#else
	const struct tr2p_stacks_thread *parked = named(all, n, "parked"), *spinning = named(all, n, "spinning");

	return parked->has_stack && spinning->has_stack && parked->labels == labels && is_in(parked, park_here) &&
	       is_in(spinning, spin_here);
#endif
}

static void test_stacks_are_of_all_threads(void **state)
{
	const struct tr2p_stacks_thread *all;
	unsigned n;

	(void)state;
	start_threads();
	tr2p_stacks_lock();
	/* first they are seen on their way there, or late */
	do {
		assert_int_equal(tr2p_stacks_take(&all, &n), 0);
		assert_true(all[0].has_stack && all[0].stack.n > 1);
		assert_false(named(all, n, "blocked")->has_stack);
	} while (!are_there(all, n));
	tr2p_stacks_unlock();
	stop_threads();
}

static char *written(int debug)
{
	char *text = malloc(TEXT);
	int fd = memfd_create("threads", MFD_CLOEXEC);
	ssize_t n;

	assert_int_equal(trace2_prof_write_to(trace2_prof_lookup("threads"), fd, debug), 0);
	n = pread(fd, text, TEXT - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static int is_total(const char *text, const char *total)
{
	static const char head[] = "threads profile: total ";

	if (strncmp(text, head, strlen(head)) != 0)
		return 0;
#ifdef TR2_IS_SANITIZED   /* sanitizers have threads of their own */
	(void)total;
	return 1;
#else
	return !strncmp(text + strlen(head), total, strlen(total));
#endif
}

/* So many threads in the end: one that was joined is among the process's until the kernel has done with it. */
static void await_total(const char *total)
{
	char *text;
	int is_there = 0;

	for (unsigned i = 0; i < TRIES && !is_there; i++) {
		text = written(1);
		is_there = is_total(text, total);
		free(text);
		usleep(is_there ? 0 : 1000);
	}
	assert_true(is_there);
}

static void test_threads_are_written_as_they_are_now(void **state)
{
	char *text;

	(void)state;
	start_threads();
	for (int is_whole = 0; !is_whole; free(text)) {
		text = written(2);
		assert_non_null(strstr(text, "\"blocked\":\ndid not answer"));
#ifdef TR2_IS_SANITIZED
		is_whole = 1;
#else
		is_whole = strstr(text, "\"parked\" request=17:\n#0 ") && strstr(text, "\"spinning\":\n#0 ");
#endif
	}
	await_total("4\n");
	stop_threads();
	await_total("1\n");
}

static void test_signals_of_the_program_stay_the_program_s(void **state)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, now;

	(void)state;
	for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
		assert_int_equal(sigaction(signal, &ignored, NULL), 0);
	errno = 77;
	assert_int_equal(trace2_prof_write_to(trace2_prof_lookup("threads"), -1, 2), EBUSY);
	assert_int_equal(errno, 77);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++) {
		assert_int_equal(sigaction(signo, NULL, &now), 0);
		assert_true(now.sa_handler == SIG_IGN);
		if (signo != SIGRTMAX)
			signal(signo, SIG_DFL);
	}
	free(written(2));
}

/* None is free; nor does one that the program closes go to us for a moment. */
static void test_stacks_are_taken_without_a_descriptor(void **state)
{
	const struct tr2p_stacks_thread *all;
	struct rlimit limit, none;
	unsigned n;

	(void)state;
	start_threads();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_cur = STDERR_FILENO + 1, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dup(STDERR_FILENO), -1);
	tr2p_stacks_lock();
	do
		assert_int_equal(tr2p_stacks_take(&all, &n), 0);
	while (!are_there(all, n));
	tr2p_stacks_unlock();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	stop_threads();
}

static void *take_all_the_time(void *data)
{
	while (!tr2_load_rlx(&is_over))
		free(written(2));
	return data;
}

static void test_stacks_in_a_forked_child_are_its_own(void **state)
{
	pthread_t thread;
	int status;

	(void)state;
	tr2_store_rlx(&is_over, 0);
	assert_int_equal(pthread_create(&thread, NULL, take_all_the_time, NULL), 0);
	for (unsigned i = 0; i < 20; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child) {
			char *text = written(1);
			_exit(!is_total(text, "1\n"));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	tr2_store_rlx(&is_over, 1);
	pthread_join(thread, NULL);
}

static void *allocate_all_the_time(void *data)
{
	while (!tr2_load_rlx(&is_over))
		free(malloc(100 + tr2_add_rlx(&ready, 1) % 100000));
	return data;
}

static void test_stacks_of_threads_in_malloc_do_not_deadlock(void **state)
{
	pthread_t thread;

	(void)state;
	tr2_store_rlx(&is_over, 0);
	assert_int_equal(pthread_create(&thread, NULL, allocate_all_the_time, NULL), 0);
	for (unsigned i = 0; i < 50; i++)
		free(written((int)(i % 2) + 1));
	tr2_store_rlx(&is_over, 1);
	pthread_join(thread, NULL);
}

static int full_pipe[2];

static void *write_to_pipe(void *data)
{
	int error = trace2_prof_write_to(trace2_prof_lookup("threads"), full_pipe[1], 2);

	return error ? full_pipe : data;
}

static void test_stacks_whose_reader_waits_let_the_program_fork(void **state)
{
	char bytes[4096] = "";
	pthread_t thread;
	void *failed;
	pid_t child;

	(void)state;
	assert_int_equal(pipe2(full_pipe, O_NONBLOCK | O_CLOEXEC), 0);
	while (write(full_pipe[1], bytes, sizeof(bytes)) > 0)
		continue;
	assert_int_equal(pthread_create(&thread, NULL, write_to_pipe, NULL), 0);
	for (unsigned i = 0; i < 20; i++) {
		child = fork();
		assert_true(child >= 0);
		if (!child)
			_exit(0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		usleep(1000);
	}
	while (read(full_pipe[0], bytes, sizeof(bytes)) > 0)
		continue;
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	close(full_pipe[0]);
	close(full_pipe[1]);
}

static int append(void *to, const char *bytes, size_t n)
{
	strncat(to, bytes, n);
	return 0;
}

/* Its place is one of many rounds: an earlier thread was there, or a handler fills it just now. */
static void test_stacks_text_of_a_silent_thread_has_nothing_of_another(void **state)
{
	static const char *const pairs[] = { "request", "17", NULL };
	struct tr2p_stacks_thread silent = { .tid = 5, .name = "silent", .is_waiting = 1, .wait_kind = TR2P_WAIT_SEM };
	char text[1024] = "";

	(void)state;
	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &silent.labels), 0);
	assert_int_equal(tr2p_stacks_write(&silent, 1, append, text), 0);
	assert_non_null(strstr(text, "thread 5 \"silent\":\ndid not answer"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_are_of_all_threads),
		cmocka_unit_test(test_threads_are_written_as_they_are_now),
		cmocka_unit_test(test_stacks_are_taken_without_a_descriptor),
		cmocka_unit_test(test_signals_of_the_program_stay_the_program_s),
		cmocka_unit_test(test_stacks_in_a_forked_child_are_its_own),
		cmocka_unit_test(test_stacks_of_threads_in_malloc_do_not_deadlock),
		cmocka_unit_test(test_stacks_whose_reader_waits_let_the_program_fork),
		cmocka_unit_test(test_stacks_text_of_a_silent_thread_has_nothing_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

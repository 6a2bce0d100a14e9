/* SPDX-License-Identifier: MIT */
/*
 * The ring file around exec(): it is gone when another program runs, and there again when exec has failed, before
 * anything else is recorded.  Nothing is lost, whenever the process is killed.
 */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "numbered.h"
#include "trace2.h"
#include "traced.h"
#include "base/tr2_sys.h"
#include "ring/tr2_detach.h"
#include "ring/tr2_shm.h"

enum { FEW = 5, MANY = 10000, AGAIN = 100 };

static const char *const g_threads[] = {
	"TRACE2_RAW_THREAD=auto", "TRACE2_RAW_THREAD=init", "TRACE2_RAW_THREAD=late", "TRACE2_RAW_THREAD=off",
};
enum { SETTINGS = sizeof(g_threads) / sizeof(*g_threads) };

static void run(int (*program)(void *), void *data, const char *setting)
{
	unlink(t.raw);
	traced_run(&t, program, data, (const char *const[]){ setting, NULL });
}

/* ---- programs ----------------------------------------------------------------------------------- */

/* Return  1: the ring file has lost its name */
static int begin_exec(const char *path)
{
	const char *const argv[] = { path, NULL };

	errno = ENOTTY;
	trace2_exec(path, argv);
	if (errno != ENOTTY)
		_exit(98);
	return tr2_is_detached() && !*tr2_shm_path() && !numbered_ring_files();
}

static int fail_exec(void)
{
	const char path[] = "/nonexistent/program";

	if (!begin_exec(path))
		return 0;
	execl(path, path, NULL);
	return errno == ENOENT;
}

static int becomes_true(void *unused)
{
	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	begin_exec("/bin/true");
	execl("/bin/true", "true", NULL);
	return 1;
}

static int killed_before_exec(void *unused)
{
	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	if (begin_exec("/bin/true"))
		raise(SIGKILL);
	return 1;
}

/* says  the program says that exec failed */
static int killed_after_failed_exec(void *says)
{
	trace2_initialize();
	numbered_record(FEW);
	if (!fail_exec())
		return 1;
	if (says)
		trace2_exec_result(0, ENOENT);
	numbered_record(MANY);
	raise(SIGKILL);
	return 2;
}

/* The first event behind it is the last. */
static int killed_with_one_event(void *unused)
{
	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	if (!fail_exec())
		return 1;
	numbered_record(1);
	raise(SIGKILL);
	return 2;
}

static int fails_again_and_again(void *unused)
{
	(void)unused;
	trace2_initialize();
	for (int i = 0; i < AGAIN; i++) {
		numbered_record(FEW);
		if (!fail_exec())
			return 1;
	}
	numbered_record(FEW);
	if (!*tr2_shm_path())
		return 2;
	raise(SIGKILL);
	return 3;
}

static int ends_after_failed_exec(void *unused)
{
	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	if (!fail_exec())
		return 1;
	numbered_record(FEW);
	return 0;
}

static void record_in_handler(int signo)
{
	(void)signo;
	numbered_record(1);
}

static int is_interrupted(void *unused)
{
	(void)unused;
	signal(SIGUSR1, record_in_handler);
	trace2_initialize();
	numbered_record(FEW);
	if (!begin_exec("/bin/true"))
		return 1;
	raise(SIGUSR1);
	if (!*tr2_shm_path())
		return 2;
	raise(SIGKILL);
	return 3;
}

static void *run_thread(void *is_named)
{
	if (is_named)
		trace2_thread_start("worker");
	numbered_record(FEW);
	return NULL;
}

/* is_named  the thread begins with thread_start */
static int starts_a_thread(void *is_named)
{
	pthread_t thread;

	trace2_initialize();
	numbered_record(FEW);
	if (!fail_exec() || pthread_create(&thread, NULL, run_thread, is_named))
		return 1;
	pthread_join(thread, NULL);
	if (!*tr2_shm_path())
		return 2;
	raise(SIGKILL);
	return 3;
}

static int forks(void *unused)
{
	int status;
	pid_t pid;

	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	if (!fail_exec())
		return 1;
	pid = fork();
	if (!pid) {
		numbered_record(FEW);
		_exit(!*tr2_shm_path());
	}
	if (waitpid(pid, &status, 0) != pid || status || *tr2_shm_path())
		return 2;
	numbered_next += FEW;
	numbered_record(FEW);
	if (!*tr2_shm_path())
		return 3;
	trace2_flush();
	return 0;
}

static void *wait_for_end(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static int has_a_thread(void *unused)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;

	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	pthread_mutex_lock(&mutex);
	if (pthread_create(&thread, NULL, wait_for_end, &mutex))
		return 1;
	if (begin_exec("/bin/true") || !*tr2_shm_path())
		return 2;
	numbered_record(FEW);
	raise(SIGKILL);
	return 3;
}

/* Whoever has its parent's memory leaves the parent's ring file alone. */
static int borrows_memory(void *unused)
{
	int status;
	pid_t pid;

	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	pid = vfork();
	if (!pid) {
		begin_exec("/bin/true");
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid || status || tr2_is_detached() || !*tr2_shm_path())
		return 1;
	numbered_record(FEW);
	raise(SIGKILL);
	return 2;
}

static int is_locked_in_memory(void *unused)
{
	struct rusage usage;
	long before;

	(void)unused;
	trace2_initialize();
	numbered_record(FEW);
	if (mlockall(MCL_FUTURE))
		raise(SIGKILL);   /* it may not: what the test asserts holds all the same, but for the event */
	getrusage(RUSAGE_SELF, &usage);
	before = usage.ru_maxrss;
	if (!fail_exec())
		return 1;
	numbered_record(1);
	getrusage(RUSAGE_SELF, &usage);
	if (usage.ru_maxrss - before > 4096 || !*tr2_shm_path())
		return 2;
	raise(SIGKILL);
	return 3;
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* A sanitizer's thread is one that we do not know, so its programs keep their ring files. */
static void need_lone_programs(void)
{
	struct statfs system;

#ifdef __SANITIZE_THREAD__
	skip();
#endif
	if (tr2_sys_statfs(t.dir, &system) || (unsigned long)system.f_type != 0x01021994)
		skip();   /* not a tmpfs */
	if (getenv("T2_EMULATED"))
		skip();   /* qemu-user has threads of its own */
	if (prctl(PR_GET_SECCOMP) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
		skip();   /* a further sandbox would not show */
}

static void test_exec_that_succeeds_leaves_no_ring_file(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(becomes_true, NULL, g_threads[i]);
		assert_int_equal(t.status, 0);
		numbered_assert_written(FEW);
	}
}

static void test_exec_kill_in_front_of_it_loses_nothing(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(killed_before_exec, NULL, g_threads[i]);
		assert_true(WIFSIGNALED(t.status));
		numbered_assert_written(FEW);
	}
}

static void test_exec_that_fails_loses_nothing_to_a_later_kill(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(killed_after_failed_exec, NULL, g_threads[i]);
		numbered_assert_recovered(FEW + MANY);
		run(killed_after_failed_exec, (void *)1, g_threads[i]);
		numbered_assert_recovered(FEW + MANY);
		run(killed_with_one_event, NULL, g_threads[i]);
		numbered_assert_recovered(FEW + 1);
	}
}

static void test_exec_that_fails_many_times_finds_its_file_each_time(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(fails_again_and_again, NULL, g_threads[i]);
		numbered_assert_recovered((AGAIN + 1) * FEW);
	}
}

static void test_exec_that_fails_leaves_a_whole_trace_and_no_ring_file(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(ends_after_failed_exec, NULL, g_threads[i]);
		assert_int_equal(t.status, 0);
		numbered_assert_written(2 * FEW);
		raw_free(&file);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_int_equal(file.lost + file.gaps + file.bad_blocks, 0);
		assert_int_equal(file.ends, 1);
	}
}

static void test_exec_handler_in_between_has_the_ring_file(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(is_interrupted, NULL, g_threads[i]);
		numbered_assert_recovered(FEW + 1);
	}
}

static void test_exec_thread_in_between_has_the_ring_file(void **state)
{
	(void)state;
	need_lone_programs();
	for (int i = 0; i < SETTINGS; i++) {
		run(starts_a_thread, NULL, g_threads[i]);
		numbered_assert_recovered(2 * FEW);
		run(starts_a_thread, (void *)1, g_threads[i]);
		numbered_assert_recovered(2 * FEW);
	}
}

static void test_exec_fork_in_between_has_a_ring_file_of_its_own(void **state)
{
	(void)state;
	need_lone_programs();
#ifdef __SANITIZE_ADDRESS__
	skip();   /* as in test_young_is_no_forked_child() */
#endif
	for (int i = 0; i < SETTINGS; i++) {
		run(forks, NULL, g_threads[i]);
		assert_int_equal(t.status, 0);
		numbered_assert_left(3 * FEW, 3 * FEW);   /* the child's ring file is there, if it has not written */
	}
}

static void test_exec_of_a_process_with_threads_keeps_the_ring_file(void **state)
{
	(void)state;
	for (int i = 0; i < SETTINGS; i++) {
		run(has_a_thread, NULL, g_threads[i]);
		numbered_assert_recovered(2 * FEW);
	}
}

static void test_exec_in_a_vfork_child_keeps_the_ring_file(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();   /* there vfork() is fork() */
#endif
	if (getenv("T2_EMULATED"))
		skip();   /* there, too */
	for (int i = 0; i < SETTINGS; i++) {
		run(borrows_memory, NULL, g_threads[i]);
		numbered_assert_recovered(2 * FEW);
	}
}

static void test_exec_of_a_flight_recorder_keeps_the_ring_file(void **state)
{
	(void)state;
	run(becomes_true, NULL, "TRACE2_RAW_POLICY=overwrite");
	assert_int_equal(t.status, 0);
	assert_int_equal(numbered_ring_files(), 1);
}

static void test_exec_that_fails_fills_no_holes_of_locked_memory(void **state)
{
	(void)state;
	need_lone_programs();
#ifdef __SANITIZE_ADDRESS__
	skip();   /* it locks nothing */
#endif
	run(is_locked_in_memory, NULL, "TRACE2_RAW_THREAD=late");
	numbered_assert_recovered(FEW + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, numbered_setup, traced_teardown)
		TEST(test_exec_that_succeeds_leaves_no_ring_file),
		TEST(test_exec_kill_in_front_of_it_loses_nothing),
		TEST(test_exec_that_fails_loses_nothing_to_a_later_kill),
		TEST(test_exec_that_fails_many_times_finds_its_file_each_time),
		TEST(test_exec_that_fails_leaves_a_whole_trace_and_no_ring_file),
		TEST(test_exec_handler_in_between_has_the_ring_file),
		TEST(test_exec_thread_in_between_has_the_ring_file),
		TEST(test_exec_fork_in_between_has_a_ring_file_of_its_own),
		TEST(test_exec_of_a_process_with_threads_keeps_the_ring_file),
		TEST(test_exec_in_a_vfork_child_keeps_the_ring_file),
		TEST(test_exec_of_a_flight_recorder_keeps_the_ring_file),
		TEST(test_exec_that_fails_fills_no_holes_of_locked_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The life of a traced program: signals that end it, forks in the middle of things, the end. */
#include "t2test.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

static void read_back(void)
{
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.gaps, 0);
}

static const struct tlg_event *find_type(unsigned type, unsigned n)
{
	for (size_t i = 0; i < file.count; i++)
		if (tlg_event_type(&file.events[i]) == type && !n--)
			return &file.events[i];
	return NULL;
}

/* ---- signals ------------------------------------------------------------------------------------ */

static int run_raise(void *data)
{
	trace2_initialize();
	trace2_region_enter("test", "before", NULL);
	raise((int)(long)data);
	return 0;
}

static void test_life_sigpipe_is_recorded_and_still_ends_the_program(void **state)
{
	(void)state;
	traced_run(&t, run_raise, (void *)SIGPIPE, NULL);
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), SIGPIPE);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 0);
	assert_int_equal(find_type(TLG_END, 0)->u.end.reason, TLG_END_SIGNAL);
}

static void test_life_other_signals_are_recorded_on_request(void **state)
{
	(void)state;
	traced_run(&t, run_raise, (void *)SIGTERM, NULL);
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(raw_read(t.raw, &file), -1 + (access(t.raw, F_OK) == 0));
	unlink(t.raw);
	traced_run(&t, run_raise, (void *)SIGTERM, (const char *const[]){ "TRACE2_SIGNALS=INT, SIGTERM", NULL });
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), SIGTERM);
	raw_free(&file);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
}

static void test_life_signal_of_real_time_is_recorded_on_request(void **state)
{
	static const char *const names[] = { "TRACE2_SIGNALS=TERM,RTMIN+3", "TRACE2_SIGNALS=sigrtmin+3" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		unlink(t.raw);
		traced_run(&t, run_raise, (void *)(intptr_t)(SIGRTMIN + 3), (const char *const[]){ names[i], NULL });
		assert_true(WIFSIGNALED(t.status));
		assert_int_equal(WTERMSIG(t.status), SIGRTMIN + 3);
		raw_free(&file);
		read_back();
		assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
	}
}

static void test_life_signal_of_real_time_takes_a_snapshot_on_request(void **state)
{
	const int signals[] = { SIGRTMIN + 3, SIGRTMIN, SIGRTMAX };
	char reason[64] = "", setting[64], expected[64];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		snprintf(setting, sizeof(setting), i ? "TRACE2_RAW_SNAPSHOT=%d" : "TRACE2_RAW_SNAPSHOT=error,RTMIN+3",
			 signals[i]);
		snprintf(expected, sizeof(expected), signals[i] == SIGRTMIN ? "SIGRTMIN" : "SIGRTMIN+%d",
			 signals[i] - SIGRTMIN);
		unlink(t.raw);
		traced_run(&t, run_raise, (void *)(intptr_t)signals[i],
			   (const char *const[]){ "TRACE2_RAW_POLICY=overwrite", setting, NULL });
		assert_int_equal(t.status, 0);
		raw_free(&file);
		read_back();
		raw_text(&file, TLG_STYLE_snapshot, reason, sizeof(reason));
		assert_string_equal(reason, expected);
	}
}

static volatile sig_atomic_t seen;

static void own_handler(int signo)
{
	seen = signo;
}

static int run_own_handler(void *data)
{
	struct sigaction action = { .sa_handler = own_handler }, now;

	(void)data;
	sigaction(SIGPIPE, &action, NULL);
	trace2_initialize();
	sigaction(SIGPIPE, NULL, &now);
	raise(SIGPIPE);
	return !(now.sa_handler == own_handler && seen == SIGPIPE);
}

static void test_life_own_handler_of_the_program_is_left_alone(void **state)
{
	(void)state;
	traced_run(&t, run_own_handler, NULL, NULL);
	assert_int_equal(t.status, 0);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 0);
}

/* ---- forks -------------------------------------------------------------------------------------- */

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

static int run_fork_in_regions(void *data)
{
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "outer", NULL);
	trace2_region_enter("test", "inner", NULL);
	pid = fork();
	if (pid)
		return wait_for(pid);
	trace2_region_leave("test", "inner", NULL);
	exit(0);
}

static void test_life_forked_child_keeps_its_open_regions(void **state)
{
	(void)state;
	traced_run(&t, run_fork_in_regions, NULL, NULL);
	assert_int_equal(t.status, 0);
	read_back();
	assert_int_equal(file.streams, 2);
	assert_non_null(find_type(TLG_OPEN, 1));
	assert_null(find_type(TLG_OPEN, 2));
	assert_int_equal(find_type(TLG_OPEN, 0)->u.open.tid, 0);
	assert_true(find_type(TLG_OPEN, 0)->u.open.when < find_type(TLG_OPEN, 1)->u.open.when);
}

static void pass_call_site(void)
{
	trace2_data_intmax("test", NULL, "known to both", 1);
}

static int run_fork_behind_call_sites(void *data)
{
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_data_intmax("test", NULL, "before", 1);
	pass_call_site();
	pid = fork();
	if (pid)
		return wait_for(pid);
	trace2_data_intmax("test", NULL, "new in the child", 1);
	pass_call_site();
	exit(0);
}

static void test_life_forked_child_records_at_its_parents_call_sites(void **state)
{
	(void)state;
	traced_run(&t, run_fork_behind_call_sites, NULL, NULL);
	assert_int_equal(t.status, 0);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "before"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "known to both"), 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "new in the child"), 1);
}

static void *fork_in_thread(void *data)
{
	pid_t pid;

	trace2_thread_start("forker");
	pid = fork();
	if (!pid) {
		trace2_region_enter("test", "child of thread", NULL);
		trace2_flush();
		_exit(0);   /* exit() would have a leak checker look for the main thread's stack, which is gone */
	}
	*(int *)data = wait_for(pid);
	trace2_thread_exit();
	return NULL;
}

static int run_fork_in_thread(void *data)
{
	pthread_t thread;
	int failed = 1;

	(void)data;
	trace2_initialize();
	pthread_create(&thread, NULL, fork_in_thread, &failed);
	pthread_join(thread, NULL);
	return failed;
}

static void test_life_child_forked_by_a_thread_keeps_that_threads_name(void **state)
{
	int named = 0;

	(void)state;
	traced_run(&t, run_fork_in_thread, NULL, NULL);
	assert_int_equal(t.status, 0);
	read_back();
	assert_int_equal(file.streams, 2);
	for (size_t i = 0; i + 1 < file.count; i++)
		if (tlg_event_type(&file.events[i]) == TLG_THREAD)
			named += !strcmp(file.events[i + 1].u.info.text.c, "th01:forker");
	assert_int_equal(named, 2);
}

static _Atomic int stop;

static void *record_on(void *data)
{
	trace2_thread_start("busy");
	while (!stop) {
		trace2_data_intmax("test", NULL, "busy", 1);
		usleep(10);
	}
	trace2_thread_exit();
	return data;
}

/* Children of a process whose other thread never stops recording, by three kinds of fork. */
static int run_many_forks(void *data)
{
	pthread_t thread;
	volatile int failed = 0;   /* vfork() may clobber what is in registers */

	trace2_initialize();
	pthread_create(&thread, NULL, record_on, NULL);
	for (long i = 0; i < (long)data; i++) {
		pid_t pid = i % 3 == 0 ? fork() : i % 3 == 1 ? _Fork() : vfork();
		if (!pid && i % 3 == 2)
			_exit(0);
		if (!pid) {
			trace2_region_enter("test", "in child", NULL);
			trace2_flush();
			_exit(0);
		}
		failed = failed | wait_for(pid);
	}
	stop = 1;
	pthread_join(thread, NULL);
	return failed;
}

static void test_life_forks_of_a_busy_process_record_in_every_child(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();   /* a child inherits the locks that other threads hold in the sanitizer's own runtime */
#endif
	if (getenv("T2_EMULATED"))
		skip();   /* qemu-user wipes no memory on fork, so that a bare clone(2) is not noticed */
	traced_run(&t, run_many_forks, (void *)60, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "in child"), 40);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static void record_late(void)
{
	trace2_region_enter("test", "late", NULL);
}

static int run_exit_handlers(void *data)
{
	(void)data;
	atexit(record_late);   /* registered earlier, so it runs after the library's */
	trace2_initialize();
	trace2_cmd_exit(5);
	return 0;
}

static void test_life_events_of_exit_handlers_are_in_the_file(void **state)
{
	(void)state;
	traced_run(&t, run_exit_handlers, NULL, NULL);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "late"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 1);
	assert_int_equal(file.hits, file.end_stored);
}

static int run_exec(void *data)
{
	const char *argv[] = { "true", NULL };

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "before exec", NULL);
	if (trace2_exec("true", argv) != 0)
		return 1;
	execvp("true", (char *const *)argv);
	trace2_exec_result(0, 1);
	return 1;
}

static void test_life_exec_first_writes_what_was_recorded(void **state)
{
	(void)state;
	traced_run(&t, run_exec, NULL, NULL);
	assert_int_equal(t.status, 0);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "before exec"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_exec, NULL), 1);
	assert_int_equal(file.ends, 0);
}

/* ---- the drain's thread -------------------------------------------------------------------------- */

/* The processors on which the library's thread may run, once there is one. */
static void find_drain(cpu_set_t *allowed)
{
	char path[320], name[32];
	const struct dirent *entry;
	DIR *tasks = opendir("/proc/self/task");
	FILE *comm;

	CPU_ZERO(allowed);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(path, "r");
		if (comm && fgets(name, sizeof(name), comm) && !strcmp(name, "trace2-drain\n"))
			sched_getaffinity(atoi(entry->d_name), sizeof(*allowed), allowed);
		if (comm)
			fclose(comm);
	}
	if (tasks)
		closedir(tasks);
}

static int run_bound_to_one_processor(void *data)
{
	cpu_set_t all, one, drain;

	(void)data;
	trace2_initialize();
	if (sched_getaffinity(0, sizeof(all), &all))
		return 1;
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	for (int i = 0; i < 20000; i++)   /* several chunks: a drain is wanted, and started by this thread */
		trace2_data_intmax("test", NULL, "i", i);
	do
		find_drain(&drain);
	while (!CPU_COUNT(&drain) || (CPU_COUNT(&all) > 1 && CPU_EQUAL(&drain, &one)));   /* it is just starting */
	return !CPU_EQUAL(&drain, &all);
}

static void test_life_drain_is_not_bound_to_its_starters_processor(void **state)
{
	(void)state;
	traced_run(&t, run_bound_to_one_processor, NULL, NULL);
	assert_int_equal(t.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_life_sigpipe_is_recorded_and_still_ends_the_program),
		TRACED_TEST(test_life_other_signals_are_recorded_on_request),
		TRACED_TEST(test_life_signal_of_real_time_is_recorded_on_request),
		TRACED_TEST(test_life_signal_of_real_time_takes_a_snapshot_on_request),
		TRACED_TEST(test_life_own_handler_of_the_program_is_left_alone),
		TRACED_TEST(test_life_forked_child_keeps_its_open_regions),
		TRACED_TEST(test_life_forked_child_records_at_its_parents_call_sites),
		TRACED_TEST(test_life_child_forked_by_a_thread_keeps_that_threads_name),
		TRACED_TEST(test_life_forks_of_a_busy_process_record_in_every_child),
		TRACED_TEST(test_life_events_of_exit_handlers_are_in_the_file),
		TRACED_TEST(test_life_exec_first_writes_what_was_recorded),
		TRACED_TEST(test_life_drain_is_not_bound_to_its_starters_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

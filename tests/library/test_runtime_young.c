/* SPDX-License-Identifier: MIT */
/*
 * A process that has just begun to record has no consumer thread: who is young, what ends that, and what holds without
 * the thread.  How long youth lasts is the tests' to say, but where the clock itself is tested.
 */
#include "t2test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "base/tr2_atomic.h"
#include "drain/tr2_young.h"
#include "ring/tr2_shm.h"

enum { FEW = 20, CHUNK = 200 };

static int goes_by_clock, is_outgrown;
static unsigned asked;            /* for threads of the library, so far */

int __wrap_tr2_young_is_outgrown(void);
int __real_tr2_young_is_outgrown(void);

int __wrap_tr2_young_is_outgrown(void)
{
	return goes_by_clock ? __real_tr2_young_is_outgrown() : is_outgrown;
}

typedef void *thread_fn(void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data)
{
	asked++;
	return __real_pthread_create(thread, attributes, fn, data);
}

static void record(int n)
{
	for (int i = 0; i < n; i++)
		trace2_data_intmax("test", NULL, "number", i);
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
}

/* All that the program has recorded is in the file, once, and the end is. */
static void assert_written(int (*program)(void *), void *data, const char *const *settings, int expected)
{
	unlink(t.raw);
	traced_run(&t, program, data, settings);
	assert_int_equal(t.status, 0);
	raw_free(&file);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "number"), expected);
	assert_int_equal(file.lost + file.gaps + file.bad_blocks, 0);
	assert_true(file.ends > 0);
}

/* ---- who is young ------------------------------------------------------------------------------------- */

static int run_few(void *data)
{
	trace2_initialize();
	record(FEW);
	return asked != *(unsigned *)data;
}

static void test_young_process_starts_no_thread(void **state)
{
	char perf[160];

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	assert_written(run_few, (unsigned[]){ 0 }, NULL, FEW);
	assert_written(run_few, (unsigned[]){ 0 }, (const char *const[]){ "TRACE2_RAW_THREAD=auto", NULL }, FEW);
	assert_written(run_few, (unsigned[]){ 0 }, (const char *const[]){ perf, NULL }, FEW);
}

/* Somebody asks for the thread, or for what only the thread can keep. */
static void test_young_is_no_process_that_is_asked_to_write_in_time(void **state)
{
	static const char *const settings[] = {
		"TRACE2_RAW_THREAD=init", "TRACE2_RAW_FLUSH=1s", "TRACE2_RAW_POLICY=overwrite", "TRACE2=2",
		"TRACE2=/dev/null",
	};
	char perf[160];

	(void)state;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		traced_run(&t, run_few, (unsigned[]){ 1 }, (const char *const[]){ settings[i], NULL });
		assert_int_equal(t.status, 0);
	}
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	assert_written(run_few, (unsigned[]){ 1 }, (const char *const[]){ perf, "TRACE2_SIGNALS=TERM", NULL }, FEW);
	assert_written(run_few, (unsigned[]){ 0 }, (const char *const[]){ "TRACE2_SIGNALS=TERM", NULL }, FEW);
}

static int run_child(void *unused)
{
	int status;
	pid_t pid;

	(void)unused;
	trace2_initialize();
	pid = fork();
	if (!pid) {
		record(1);
		_exit(asked != 1 || tr2_young_is());
	}
	return waitpid(pid, &status, 0) != pid || status || asked;
}

/* A server locks it in soon after, and what starts later may end it. */
static void test_young_is_no_forked_child(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the child inherits the locks of the sanitizer's allocator, which glibc's would have in order */
#endif
	traced_run(&t, run_child, NULL, NULL);
	assert_int_equal(t.status, 0);
}

/* ---- what ends it ---------------------------------------------------------------------------------------- */

static int run_until_the_chunk_is_full(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(FEW);
	if (asked || !tr2_young_is() || !tr2_g_shm.head->lacks_thread)
		return 1;
	record(CHUNK);
	for (int i = 0; i < 10000 && tr2_load_rlx(&tr2_g_shm.head->lacks_thread); i++)
		sleep_ms(1);
	return asked != 1 || tr2_young_is() || tr2_load_rlx(&tr2_g_shm.head->lacks_thread);
}

static void test_young_until_the_second_chunk(void **state)
{
	(void)state;
	assert_written(run_until_the_chunk_is_full, NULL, NULL, FEW + CHUNK);
}

static int run_until_outgrown(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(FEW);
	is_outgrown = 1;
	if (asked)
		return 1;
	record(1);
	return asked != 1;
}

static void test_young_until_the_first_call_that_finds_it_outgrown(void **state)
{
	(void)state;
	assert_written(run_until_outgrown, NULL, NULL, FEW + 1);
}

static int run_by_the_clock(void *unused)
{
	(void)unused;
	goes_by_clock = 1;
	trace2_initialize();
	sleep_ms(20);
	if (asked)
		return 1;
	record(1);
	return asked != 1;
}

static void test_young_for_a_few_milliseconds(void **state)
{
	(void)state;
	assert_written(run_by_the_clock, NULL, NULL, 1);
}

static void *record_named(void *data)
{
	trace2_thread_start("second");
	record(FEW);
	trace2_thread_exit();
	return data;
}

static void *record_unnamed(void *data)
{
	record(FEW);
	return data;
}

static int run_with_thread(void *fn)
{
	pthread_t thread;

	trace2_initialize();
	record(FEW);
	if (asked || __real_pthread_create(&thread, NULL, *(thread_fn **)fn, NULL) || pthread_join(thread, NULL))
		return 1;
	return asked != 1;
}

static void test_young_until_a_second_thread_records(void **state)
{
	(void)state;
	assert_written(run_with_thread, (thread_fn *[]){ record_named }, NULL, 2 * FEW);
	assert_written(run_with_thread, (thread_fn *[]){ record_unnamed }, NULL, 2 * FEW);
}

static int run_catching(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(FEW);
	return asked || trace2_catch_signal(SIGTERM) || asked != 1;
}

/* Its handler may be on a small stack, and texts take more. */
static void test_young_until_a_signal_is_caught_beside_a_text(void **state)
{
	char perf[160];

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	assert_written(run_catching, NULL, (const char *const[]){ perf, NULL }, FEW);
}

static volatile sig_atomic_t asked_in_handler;

static void record_in_handler(int signo)
{
	is_outgrown = 1;
	record(signo == SIGUSR1);
	asked_in_handler = (sig_atomic_t)asked;
}

static int run_with_handler(void *unused)
{
	struct sigaction action = { .sa_handler = record_in_handler };

	(void)unused;
	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	record(FEW);
	raise(SIGUSR1);
	if (asked_in_handler)
		return 1;
	record(1);
	return asked != 1;
}

static void test_young_process_that_a_handler_finds_outgrown_has_its_thread_behind_that(void **state)
{
	(void)state;
	assert_written(run_with_handler, NULL, NULL, FEW + 2);
}

/* ---- what holds without the thread ------------------------------------------------------------------- */

static int run_flushing(void *data)
{
	struct raw_file now;
	size_t found;

	trace2_initialize();
	record(FEW);
	trace2_flush();
	if (raw_read(data, &now))
		return 1;
	found = raw_count(&now, TLG_STYLE_data_intmax, "number");
	raw_free(&now);
	return found != FEW || asked;
}

static void test_young_process_that_flushes_writes_itself(void **state)
{
	(void)state;
	assert_written(run_flushing, t.raw, NULL, FEW);
}

static size_t count_lines(const char *path, const char *part)
{
	char line[512];
	size_t n = 0;
	FILE *in = fopen(path, "r");

	while (in && fgets(line, sizeof(line), in))
		n += strstr(line, part) != NULL;
	if (in)
		fclose(in);
	return n;
}

static int run_child_process(void *data)
{
	struct trace2_child child = { .argv = NULL };

	trace2_initialize();
	record(FEW);
	trace2_child_start(&child);
	return count_lines(data, "number") != FEW || count_lines(data, "child_start") != 1 || asked;
}

/* What the child writes into the same file comes behind. */
static void test_young_process_has_its_text_written_when_a_child_starts(void **state)
{
	char perf[160];

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	assert_written(run_child_process, (void *)(uintptr_t)traced_path("perf"), (const char *const[]){ perf, NULL },
		       FEW);
	assert_int_equal(count_lines(traced_path("perf"), "atexit"), 1);
}

static int run_sent_sigpipe(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(FEW);
	return kill(getpid(), SIGPIPE);
}

static void test_young_process_that_a_signal_ends_has_its_text(void **state)
{
	char perf[160];

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_sent_sigpipe, NULL, (const char *const[]){ perf, NULL });
	assert_int_equal(t.status, SIGPIPE);
	assert_int_equal(count_lines(traced_path("perf"), "number"), FEW);
	assert_int_equal(count_lines(traced_path("perf"), "signo:13"), 1);
}

/* A thread is what the system ends this process for. */
static int lock_in(void)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_clone
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), (struct sock_filter *)(uintptr_t)filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { CANNOT_LOCK_IN = 7 };

static int run_locked_in(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(FEW);
	if (lock_in())
		_exit(CANNOT_LOCK_IN);
	is_outgrown = 1;
	record(CHUNK);
	return asked != 0;
}

static void test_young_process_that_locks_itself_in_gets_no_thread(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();   /* which looks for leaks in a process of its own */
#endif
	traced_run(&t, run_locked_in, NULL, NULL);
	if (WIFEXITED(t.status) && WEXITSTATUS(t.status) == CANNOT_LOCK_IN)
		skip();
	assert_written(run_locked_in, NULL, NULL, FEW + CHUNK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_young_process_starts_no_thread),
		TRACED_TEST(test_young_is_no_process_that_is_asked_to_write_in_time),
		TRACED_TEST(test_young_is_no_forked_child),
		TRACED_TEST(test_young_until_the_second_chunk),
		TRACED_TEST(test_young_until_the_first_call_that_finds_it_outgrown),
		TRACED_TEST(test_young_for_a_few_milliseconds),
		TRACED_TEST(test_young_until_a_second_thread_records),
		TRACED_TEST(test_young_until_a_signal_is_caught_beside_a_text),
		TRACED_TEST(test_young_process_that_a_handler_finds_outgrown_has_its_thread_behind_that),
		TRACED_TEST(test_young_process_that_flushes_writes_itself),
		TRACED_TEST(test_young_process_has_its_text_written_when_a_child_starts),
		TRACED_TEST(test_young_process_that_a_signal_ends_has_its_text),
		TRACED_TEST(test_young_process_that_locks_itself_in_gets_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What a program does to our descriptors and files without knowing of them; and that it finds its own as ever. */
#include "t2test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rawread.h"
#include "trace2.h"
#include "traced.h"

enum { EVENTS = 20000 };

static void record_some(void)
{
	for (int i = 0; i < EVENTS; i++)
		trace2_data_intmax("host", NULL, "i", i);
	trace2_flush();
}

/* Closes all but 0 to 2, as daemons do; opens files of its own until they have all the numbers we may have had. */
static int run_daemon(void *data)
{
	char path[160];
	int fd;

	(void)data;
	trace2_initialize();
	record_some();
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "%s/own-%d", t.dir, i);
		fd = open(path, O_RDWR | O_CREAT, 0600);
		if (fd < 0 || write(fd, "own", 3) != 3)
			return 1;
	}
	record_some();
	return fd < 200;
}

static int is_own(int i)
{
	char path[160], text[8] = "";
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/own-%d", t.dir, i);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n == 3 && !strcmp(text, "own");
}

/* To ThreadSanitizer a descriptor that is closed and opened while another thread looks at it is a race. */
#if defined(__SANITIZE_THREAD__)
#define SKIP_IF_DESCRIPTORS_RACE() skip()
#else
#define SKIP_IF_DESCRIPTORS_RACE() ((void)0)
#endif

static void test_host_that_closes_all_descriptors_is_still_traced(void **state)
{
	(void)state;
	SKIP_IF_DESCRIPTORS_RACE();
	traced_run(&t, run_daemon, NULL, NULL);
	assert_int_equal(t.status, 0);
	for (int i = 0; i < 300; i++)
		assert_true(is_own(i));
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), 2 * EVENTS);
	assert_int_equal(file.lost, 0);
	assert_int_equal(file.ends, 1);
}

/* The file cannot be found again: what comes later is lost, and nobody else's file has it. */
static int run_daemon_without_file(void *data)
{
	trace2_initialize();
	record_some();
	if (rename(t.raw, traced_path("moved")))
		return 1;
	return run_daemon(data);
}

static void test_host_that_reuses_all_descriptors_is_left_alone(void **state)
{
	(void)state;
	SKIP_IF_DESCRIPTORS_RACE();
	traced_run(&t, run_daemon_without_file, NULL, NULL);
	assert_int_equal(t.status, 0);
	for (int i = 0; i < 300; i++)
		assert_true(is_own(i));
	assert_int_equal(access(t.raw, F_OK), -1);
}

static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static int run_counting(void *data)
{
	int before = next_descriptor();

	(void)data;
	trace2_initialize();
	record_some();
	return next_descriptor() != before;
}

static void test_host_gets_the_descriptors_it_would_get_without_tracing(void **state)
{
	static char texts[160];

	(void)state;
	snprintf(texts, sizeof(texts), "TRACE2_PERF=%s/perf", t.dir);
	traced_run(&t, run_counting, NULL, (const char *const[]){ texts, NULL });
	assert_int_equal(t.status, 0);
}

static int run_without_standard(void *data)
{
	(void)data;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	trace2_initialize();
	return write(STDOUT_FILENO, "lost", 4) == 4 || write(STDERR_FILENO, "lost", 4) == 4;
}

static void test_host_without_standard_output_does_not_print_into_the_trace(void **state)
{
	(void)state;
	traced_run(&t, run_without_standard, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.hits, 2);
}

static int run_hello(void *data)
{
	(void)data;
	trace2_initialize();
	return trace2_is_enabled();
}

static void test_host_does_not_wait_for_a_pipe_that_nobody_reads(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(t.raw, 0600), 0);
	traced_run(&t, run_hello, NULL, NULL);
	assert_int_equal(t.status, 0);
}

/* The mode of the ring file, which is in $XDG_RUNTIME_DIR. */
static int run_looking(void *data)
{
	const char *place = getenv("XDG_RUNTIME_DIR");
	DIR *dir = opendir(place ? place : "");
	struct dirent *entry;
	char path[512] = "";
	struct stat st;

	(void)data;
	rewinddir(dir);
	trace2_initialize();
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".ring"))
			snprintf(path, sizeof(path), "%s/%s", place, entry->d_name);
	closedir(dir);
	return stat(path, &st) || st.st_mode & 0377;
}

/* Whoever truncates it kills the program, so nobody but its owner has it, and he cannot write it by mistake. */
static void test_host_ring_file_cannot_be_truncated_by_mistake(void **state)
{
	(void)state;
	if (getenv("T2_EMULATED"))
		skip();   /* qemu-user lies about what it does with the memory */
	traced_run(&t, run_looking, NULL, NULL);
	assert_int_equal(t.status, 0);
}

/* ---- a drain that stands still ---------------------------------------------------------------------- */

static _Atomic int is_to_stop, stands_still, is_slow, turns, turns_max;

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __real_tr2_sys_write(int fd, const void *data, size_t bytes);
void __wrap_tr2_sys_yield(void);
void __real_tr2_sys_yield(void);

enum { SLOW_TURNS = 30, SLOW_MS = 60000 };

/*
 * A write that takes whoever waits so many turns, and no more, however late either gets its processor.  The first one
 * nobody waits for yet.
 */
static void write_slowly(void)
{
	if (!stands_still) {
		usleep(300000);
		return;
	}
	turns_max = turns + SLOW_TURNS;
	for (int ms = 0; turns < turns_max && ms < SLOW_MS; ms++)
		usleep(1000);
	turns_max = 0;
}

/* The drain's thread never returns from its first write, which it makes with its lock held; or it is slow. */
ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes)
{
	char name[16] = "";

	if (is_to_stop || is_slow)
		prctl(PR_GET_NAME, name);
	while (is_to_stop && !strcmp(name, "trace2-drain")) {
		stands_still = 1;
		pause();
	}
	if (is_slow && !strcmp(name, "trace2-drain")) {
		write_slowly();
		stands_still = 1;
	}
	return __real_tr2_sys_write(fd, data, bytes);
}

void __wrap_tr2_sys_yield(void)
{
	if (gettid() == getpid()) {
		turns++;
		while (turns_max && turns >= turns_max)
			usleep(1000);
	}
	__real_tr2_sys_yield();
}

static void record_until_it_writes(void)
{
	while (!stands_still)
		for (int i = 0; i < EVENTS; i++)
			trace2_data_intmax("host", NULL, "i", i);
}

static int run_with_stopped_drain(void *data)
{
	int before;

	(void)data;
	is_to_stop = 1;
	trace2_initialize();
	record_until_it_writes();
	trace2_next_cycle();   /* waits for nobody */
	before = turns;
	trace2_flush();
	if (before || !turns)
		return 1;
	before = turns;
	for (int i = 0; i < 100; i++)
		trace2_flush();
	return turns != before;
}

static void test_host_waits_once_for_a_stalled_drain(void **state)
{
	(void)state;
	traced_run(&t, run_with_stopped_drain, NULL, NULL);
	assert_int_equal(t.status, 0);
}

static void test_host_is_warned_of_what_a_stalled_drain_has_not_written(void **state)
{
	const char *path;

	(void)state;
	traced_run(&t, run_with_stopped_drain, NULL, (const char *const[]){ "TRACE2_DST_DEBUG=1", NULL });
	assert_int_equal(t.status, 0);
	path = strstr(t.said, "warning: trace2: the end of the trace could not be written, it is in /");
	assert_non_null(path);
	path = strchr(path, '/');
	t.said[strcspn(t.said, "\n")] = '\0';
	assert_int_equal(access(path, R_OK), 0);
}

/* One pass of this drain takes much longer than anybody waits for a drain that does nothing. */
static int run_with_slow_drain(void *data)
{
	(void)data;
	is_slow = 1;
	trace2_initialize();
	record_until_it_writes();
	return 0;
}

static void test_host_waits_for_a_slow_drain(void **state)
{
	char command[256], perf[192];

	(void)state;
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_with_slow_drain, NULL, (const char *const[]){ "TRACE2_RAW=0", perf, NULL });
	assert_int_equal(t.status, 0);
	snprintf(command, sizeof(command), "grep -q '| atexit  ' '%s'", traced_path("perf"));
	assert_int_equal(system(command), 0);
}

/* ---- rings where others have put something ---------------------------------------------------------- */

/* What stands at the names of the next ring files, which in truth nobody can know: planted just before. */
static struct {
	int kind;                 /* 0: nothing */
	unsigned places;          /* of two: $XDG_RUNTIME_DIR, /dev/shm */
	unsigned planted;
	char paths[2][256];
} rings;
enum { KINDS = 4 };

int __wrap_tr2_sys_open(const char *path, int flags, mode_t mode);
int __real_tr2_sys_open(const char *path, int flags, mode_t mode);

static void plant(const char *path)
{
	const char *precious = traced_path("precious");
	int failed = rings.kind == 1 ? mkfifo(path, 0666) : rings.kind == 2 ? symlink(precious, path) :
		     rings.kind == 3 ? link(precious, path) && symlink(precious, path) : mkdir(path, 0777);

	if (!failed)
		snprintf(rings.paths[rings.planted++], sizeof(rings.paths[0]), "%s", path);
}

int __wrap_tr2_sys_open(const char *path, int flags, mode_t mode)
{
	if (rings.kind && strstr(path, ".ring") && flags & O_CREAT && rings.planted < rings.places)
		plant(path);
	return __real_tr2_sys_open(path, flags, mode);
}

static int run_among_plants(void *data)
{
	int fd = open(traced_path("precious"), O_WRONLY | O_CREAT, 0600), failed;
	struct stat st;

	(void)data;
	trace2_initialize();
	record_some();
	failed = rings.planted != rings.places || fstat(fd, &st) || st.st_size;
	for (unsigned i = 0; i < rings.planted; i++)
		failed |= rings.kind == 4 ? rmdir(rings.paths[i]) : unlink(rings.paths[i]);
	return failed ? 1 : 0;
}

static void test_host_ring_file_is_never_one_that_others_have_planted(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * KINDS; i++) {
		unlink(t.raw);
		rings.kind = 1 + i / 2;
		rings.places = 1 + (unsigned)i % 2;   /* with both taken, rings have no name, and cannot be recovered */
		traced_run(&t, run_among_plants, NULL, NULL);
		assert_int_equal(t.status, 0);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_int_equal(file.hits + file.lost, EVENTS + 2);
		raw_free(&file);
	}
	rings.kind = 0;
}

/* ---- errno ------------------------------------------------------------------------------------------ */

static int has_no_threads;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
	errno = has_no_threads ? EAGAIN : errno;
	return has_no_threads ? EAGAIN : __real_pthread_create(thread, attributes, start, data);
}

/* The program may open no file, by which the clock is chosen. */
static int run_without_files(void *data)
{
	struct rlimit before, none;
	int left;

	(void)data;
	if (getrlimit(RLIMIT_NOFILE, &before))
		return 1;
	none = (struct rlimit){ 0, before.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &none))
		return 1;
	errno = 0;
	trace2_initialize_clock();
	left = errno;
	return setrlimit(RLIMIT_NOFILE, &before) ? 1 : left;
}

static void *begin_thread(void *data)
{
	has_no_threads = 1;
	errno = 0;
	trace2_thread_start("worker");
	*(int *)data = errno;
	return NULL;
}

static void handle(int signo)
{
	(void)signo;
}

/* A thread of ours is wanted by what might be a handler, and is to be started by the next call that is none. */
static int run_without_threads(void *data)
{
	sigset_t set;
	pthread_t thread;
	int left = -1;

	(void)data;
	signal(SIGUSR1, handle);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	trace2_initialize();
	record_some();
	if (pthread_create(&thread, NULL, begin_thread, &left) || pthread_join(thread, NULL))
		return 1;
	return left;
}

static void test_host_keeps_errno_where_nothing_is_to_be_found(void **state)
{
	(void)state;
	traced_run(&t, run_without_files, NULL, NULL);
	assert_int_equal(t.status, 0);
	traced_run(&t, run_without_threads, NULL, NULL);
	assert_int_equal(t.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_host_that_closes_all_descriptors_is_still_traced),
		TRACED_TEST(test_host_that_reuses_all_descriptors_is_left_alone),
		TRACED_TEST(test_host_gets_the_descriptors_it_would_get_without_tracing),
		TRACED_TEST(test_host_without_standard_output_does_not_print_into_the_trace),
		TRACED_TEST(test_host_does_not_wait_for_a_pipe_that_nobody_reads),
		TRACED_TEST(test_host_ring_file_cannot_be_truncated_by_mistake),
		TRACED_TEST(test_host_waits_once_for_a_stalled_drain),
		TRACED_TEST(test_host_is_warned_of_what_a_stalled_drain_has_not_written),
		TRACED_TEST(test_host_waits_for_a_slow_drain),
		TRACED_TEST(test_host_ring_file_is_never_one_that_others_have_planted),
		TRACED_TEST(test_host_keeps_errno_where_nothing_is_to_be_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* A process that forks without exec: parent and child both complete, in the same destinations, nothing twice. */
#include "t2test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

/* The child inherits the locks of a sanitizer's allocator, which only glibc's fork() would have in order. */
#if defined(__SANITIZE_ADDRESS__) || defined(TRACE2_HAS_TSAN_)   /* which knows gcc's and clang's */
#define SKIP_IF_SANITIZED() skip()
#else
#define SKIP_IF_SANITIZED() ((void)0)
#endif

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

/* ---- all four targets ----------------------------------------------------------------------------- */

static const char *const targets[] = { "TRACE2_RAW", "TRACE2", "TRACE2_PERF", "TRACE2_EVENT" };
static const char *const names[] = { "raw", "normal", "perf", "event" };
enum { TARGETS = 4, CHILDREN = 12 };

/* Settings for all targets, a directory of its own each, which holds one file and no more. */
static const char *const *set_directories(void)
{
	static char settings[TARGETS][192];
	static const char *list[TARGETS + 4] = { "TRACE2_MAX_FILES=4", "TRACE2_DST_DEBUG=1", "TRACE2_BRIEF=1" };

	for (int i = 0; i < TARGETS; i++) {
		assert_int_equal(mkdir(traced_path(names[i]), 0700), 0);
		snprintf(settings[i], sizeof(settings[i]), "%s=%s", targets[i], traced_path(names[i]));
		list[3 + i] = settings[i];
	}
	return list;
}

/* The only file in a directory of t.dir, into path; its path in t.dir.  "" if there is none, or more than one */
static const char *find_one(const char *directory)
{
	static char name[512];
	DIR *dir = opendir(traced_path(directory));
	unsigned n = 0;

	name[0] = '\0';
	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s/%s", t.dir, directory, e->d_name);
		n++;
	}
	closedir(dir);
	return n == 1 ? name : "";
}

/* How many lines of a file hold part. */
static unsigned count_in(const char *path, const char *part)
{
	static char line[4096];
	FILE *in = fopen(path, "r");
	unsigned n = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		n += strstr(line, part) != NULL;
	fclose(in);
	return n;
}

/* 1 if what t2expand makes of the raw file has the same lines as the text, and nothing to complain of. */
static int has_same_lines(const char *format)
{
	const char *out = getenv("T2_OUT");
	char command[4096], live[512], later[160], raw[512];

	snprintf(raw, sizeof(raw), "%s", find_one("raw"));
	snprintf(live, sizeof(live), "%s", find_one(format));
	snprintf(later, sizeof(later), "%s", traced_path("later"));
	snprintf(command, sizeof(command),
		 "'%s/t2expand' --format=%s --brief -o '%s' '%s' && sort -o '%s' '%s' && sort '%s' | cmp -s '%s' -",
		 out ? out : "build", format, later, raw, later, later, live, later);
	return !system(command);
}

static int run_children(void *data)
{
	int failed = 0;

	(void)data;
	trace2_initialize();
	trace2_printf("before");
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();
		if (!pid) {
			trace2_printf("child %d.", i);
			exit(trace2_is_enabled() ? 0 : 1);
		}
		failed |= wait_for(pid);
	}
	trace2_printf("after");
	return failed;
}

/* As in git, whose children write to the descriptors that they inherit: neither a file more nor a look at limits. */
static void test_fork_children_go_on_in_the_files_of_all_four_targets(void **state)
{
	char part[32];

	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_children, NULL, set_directories());
	assert_string_equal(t.said, "");
	assert_int_equal(t.status, 0);
	for (int i = 1; i < TARGETS; i++) {
		const char *path = find_one(names[i]);
		assert_string_not_equal(path, "");
		for (int child = 0; child < CHILDREN; child++) {
			snprintf(part, sizeof(part), "child %d.", child);
			assert_int_equal(count_in(path, part), 1);
		}
		assert_int_equal(count_in(path, "before"), 1);
		assert_int_equal(count_in(path, "after"), 1);
		assert_int_equal(count_in(path, "atexit"), CHILDREN + 1);
		assert_int_equal(count_in(path, "version"), 1);
	}
	assert_true(has_same_lines("normal"));
}

static int run_child_of_changed_settings(void *data)
{
	pid_t pid;

	(void)data;
	trace2_initialize();
	for (int i = 0; i < TARGETS; i++)
		unsetenv(targets[i]);
	setenv("TRACE2_BRIEF", "0", 1);
	pid = fork();
	if (!pid) {
		trace2_printf("in the child");
		exit(0);
	}
	return wait_for(pid);
}

static void test_fork_child_has_the_settings_its_parent_started_with(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_child_of_changed_settings, NULL, set_directories());
	assert_int_equal(t.status, 0);
	for (int i = 1; i < TARGETS; i++)
		assert_int_equal(count_in(find_one(names[i]), "in the child"), 1);
	assert_int_equal(count_in(find_one("normal"), "test_runtime_fork.c"), 0);
	assert_int_equal(raw_read(find_one("raw"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_printf, NULL), 1);
}

/* ---- sockets -------------------------------------------------------------------------------------- */

/* Streams of text that a listener gets, each into the file "N" of t.dir.  Return  how many */
static int accept_all(int listener)
{
	static char data[1 << 16];
	char name[12];
	int streams = 0, fd;

	while ((fd = accept4(listener, NULL, NULL, 0)) >= 0) {
		FILE *out;
		ssize_t n;

		snprintf(name, sizeof(name), "%d", streams++);
		out = fopen(traced_path(name), "w");
		assert_non_null(out);
		while ((n = recv(fd, data, sizeof(data), MSG_DONTWAIT)) > 0)
			fwrite(data, 1, (size_t)n, out);
		fclose(out);
		close(fd);
	}
	return streams;
}

static void test_fork_child_has_a_stream_of_its_own_at_a_socket(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	char setting[192];

	(void)state;
	SKIP_IF_SANITIZED();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", traced_path("socket"));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, CHILDREN + 1), 0);
	snprintf(setting, sizeof(setting), "TRACE2_PERF=af_unix:%s", traced_path("socket"));
	traced_run(&t, run_children, NULL, (const char *const[]){ "TRACE2_RAW=0", setting, NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(accept_all(listener), CHILDREN + 1);
	close(listener);
	assert_int_equal(count_in(traced_path("0"), "after"), 1);
	assert_int_equal(count_in(traced_path("0"), "child"), 0);
	for (int i = 1; i <= CHILDREN; i++) {
		char name[12], part[32];
		snprintf(name, sizeof(name), "%d", i);
		snprintf(part, sizeof(part), "child %d.", i - 1);
		assert_int_equal(count_in(traced_path(name), part), 1);
		assert_int_equal(count_in(traced_path(name), "atexit"), 1);
	}
}

/* ---- scopes ---------------------------------------------------------------------------------------- */

enum { LABELS = 300 };

static void emit_labels(int value)
{
	char label[32];

	for (int i = 0; i < LABELS; i++) {
		snprintf(label, sizeof(label), "a label, number %d", i);
		trace2_data_intmax("test", NULL, label, value);
	}
}

static int run_fork_with_scopes(void *data)
{
	pid_t pid;

	(void)data;
	trace2_initialize();
	emit_labels(1);
	pid = fork();
	emit_labels(2);
	return pid ? wait_for(pid) : 0;
}

/* The first scopes of the parent lie elsewhere in its ring file than the others. */
static void test_fork_child_has_all_scopes_of_its_parent(void **state)
{
	char label[32];

	(void)state;
	traced_run(&t, run_fork_with_scopes, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.streams, 2);
	for (int i = 0; i < LABELS; i++) {
		snprintf(label, sizeof(label), "a label, number %d", i);
		assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, label), 3);
	}
}

/* ---- what is not possible ------------------------------------------------------------------------- */

static _Atomic int stop;

static void *allocate(void *data)
{
	while (!stop)
		free(malloc(100000));
	return data;
}

/* _Fork() leaves the allocator as it is, locked perhaps: the child may not touch it. */
static int run_fork_out_of_order(void *data)
{
	pthread_t thread;
	int failed = 0;

	(void)data;
	trace2_initialize();
	if (pthread_create(&thread, NULL, allocate, NULL))
		return 1;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = _Fork();
		if (!pid) {
			trace2_data_intmax("test", NULL, "out of order", i);
			trace2_flush();
			_exit(trace2_is_enabled() ? 0 : 1);
		}
		failed |= wait_for(pid);
	}
	stop = 1;
	pthread_join(thread, NULL);
	return failed;
}

static void test_fork_out_of_order_keeps_all_targets(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_fork_out_of_order, NULL, set_directories());
	assert_int_equal(t.status, 0);
	assert_int_equal(count_in(find_one("perf"), "out of order"), CHILDREN);
	assert_int_equal(count_in(find_one("perf"), "atexit"), 1);
	assert_int_equal(raw_read(find_one("raw"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "out of order"), CHILDREN);
}

/* The child may open nothing, so that it gets no rings. */
static int run_fork_without_rings(void *data)
{
	pid_t pid;
	int failed;

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "parent", NULL);
	pid = fork();
	if (!pid) {
		if (setrlimit(RLIMIT_NOFILE, &(const struct rlimit){ 0, 0 }))
			_exit(2);
		for (int i = 0; i < 10000; i++)
			trace2_region_enter("test", "nowhere", NULL);
		_exit(trace2_is_enabled());
	}
	failed = wait_for(pid);
	trace2_region_leave("test", "parent", NULL);
	return failed;
}

static void test_fork_child_that_cannot_record_leaves_its_parents_stream_alone(void **state)
{
	(void)state;
	traced_run(&t, run_fork_without_rings, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.gaps, 0);
	assert_int_equal(file.streams, 1);
	assert_int_equal(file.hits, 4);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "nowhere"), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_leave, "parent"), 1);
}

/* As it is while a shell makes room for another variable: with the profiler, realloc() records. */
static int run_fork_without_environment(void *data)
{
	char **environment = environ;
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "parent", NULL);
	pid = fork();
	if (!pid) {
		environ = (char **)sizeof(char *);   /* no such address */
		trace2_region_enter("test", "child", NULL);
		environ = environment;
		trace2_finish();
		_exit(0);
	}
	return wait_for(pid);
}

static void test_fork_child_does_not_read_an_environment_that_is_being_changed(void **state)
{
	(void)state;
	traced_run(&t, run_fork_without_environment, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "child"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_fork_children_go_on_in_the_files_of_all_four_targets),
		TRACED_TEST(test_fork_child_has_the_settings_its_parent_started_with),
		TRACED_TEST(test_fork_child_has_a_stream_of_its_own_at_a_socket),
		TRACED_TEST(test_fork_child_has_all_scopes_of_its_parent),
		TRACED_TEST(test_fork_out_of_order_keeps_all_targets),
		TRACED_TEST(test_fork_child_does_not_read_an_environment_that_is_being_changed),
		TRACED_TEST(test_fork_child_that_cannot_record_leaves_its_parents_stream_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

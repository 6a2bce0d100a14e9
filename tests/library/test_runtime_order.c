/* SPDX-License-Identifier: MIT */
/* A tree of processes in one file of each kind: as with git, none writes before its parent has recorded its start. */
#include "t2test.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "base/tr2_progress.h"

enum { DEPTH = 3, CHILDREN = 10, PROCESSES = 1 + 10 + 100 + 1000 };

/* A process is called by its way from the root: "0", "0.3", "0.3.9"; "0.3.9.1" has no children. */
struct process {
	char key[256];             /* its name, or its sid */
	unsigned announced, begun;      /* line of its parent's child_start; first line of its own, 0: none */
};
static struct process *by_name, *by_sid;

static unsigned depth_of(const char *name)
{
	unsigned depth = 0;

	for (; *name; name++)
		depth += *name == '.';
	return depth;
}

/* ---- a process of the tree -------------------------------------------------------------------------- */

struct tr2_timeout __wrap_tr2_timeout_begin(unsigned turns);
struct tr2_timeout __real_tr2_timeout_begin(unsigned turns);

/*
 * Where any code may be in a handler, the drain's thread writes, and is waited for.  Among a thousand processes that
 * want two processors it may not run for longer than anybody should wait.
 */
struct tr2_timeout __wrap_tr2_timeout_begin(unsigned turns)
{
	return __real_tr2_timeout_begin(100 * turns);
}

extern char **environ;

/* Some are forked, some spawned, which calls nothing around its fork. */
static pid_t start(const char *const *argv, int is_spawned)
{
	pid_t pid = 0;

	if (is_spawned)
		return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *const *)argv, environ) ? -1 : pid;
	pid = fork();
	if (!pid) {
		execv("/proc/self/exe", (char *const *)argv);
		_exit(99);
	}
	return pid;
}

static void do_nothing(int signo)
{
	(void)signo;
}

static int run_node(const char *name)
{
	struct trace2_child children[CHILDREN];
	char names[CHILDREN][16];
	int failed = 0, status, n = depth_of(name) < DEPTH ? CHILDREN : 0;
	const char *self[] = { "order", "node", name, NULL };
	const struct sigaction nested = { .sa_handler = do_nothing, .sa_flags = SA_NODEFER };

	memset(children, 0, sizeof(children));
	if (name[strlen(name) - 1] % 2)
		sigaction(SIGUSR2, &nested, NULL);   /* any code may be in a handler now */
	trace2_initialize();
	trace2_cmd_start(self);
	for (int i = 0; i < n; i++) {
		const char *argv[] = { "order", "node", names[i], NULL };
		snprintf(names[i], sizeof(names[i]), "%.8s.%d", name, i);
		children[i].argv = argv;
		trace2_child_start(&children[i]);
		children[i].pid = start(argv, i % 2);
		failed |= children[i].pid < 0;
	}
	for (int i = 0; i < n; i++) {
		failed |= waitpid(children[i].pid, &status, 0) != children[i].pid || status;
		trace2_child_exit(&children[i], WEXITSTATUS(status));
	}
	trace2_cmd_exit(0);
	return failed;
}

static int run_tree(void *data)
{
	const char *const argv[] = { "order", "node", "0", NULL };
	int status = 1;

	(void)data;
	waitpid(start(argv, 0), &status, 0);
	return status != 0;
}

/* ---- what they have written ------------------------------------------------------------------------- */

/* The process whose key stands behind mark, up to the byte end. */
static struct process *find(struct process *processes, const char *line, const char *mark, char end)
{
	const char *text = strstr(line, mark);
	size_t n;

	assert_non_null(text);
	text += strlen(mark);
	n = strcspn(text, (const char[]){ end, '\0' });
	for (struct process *p = processes; p < processes + PROCESSES; p++) {
		if (!*p->key)
			snprintf(p->key, sizeof(p->key), "%.*s", (int)n, text);
		if (strlen(p->key) == n && !strncmp(p->key, text, n))
			return p;
	}
	fail_msg("more processes than there were: %s", line);
	return NULL;
}

static void read_lines(const char *name, void (*take)(const char *line, unsigned number))
{
	static char line[8192];
	FILE *in = fopen(traced_path(name), "r");

	assert_non_null(in);
	memset(by_name, 0, PROCESSES * sizeof(*by_name));
	for (unsigned number = 1; fgets(line, sizeof(line), in); number++)
		take(line, number);
	fclose(in);
}

/* What it is called is said in the second line of a process, of which all have its sid. */
static void take_event(const char *line, unsigned number)
{
	struct process *process = find(by_sid, line, "\"sid\":\"", '"');

	if (!process->begun)
		process->begun = number;
	if (strstr(line, "\"event\":\"start\""))
		find(by_name, line, "\"node\",\"", '"')->begun = process->begun;
	if (strstr(line, "\"event\":\"child_start\""))
		find(by_name, line, "\"node\",\"", '"')->announced = number;
}

static unsigned versions, starts;      /* lines so far, in perf text, of processes that have a parent; of parents */

static void take_perf(const char *line, unsigned number)
{
	starts += strstr(line, "| child_start ") != NULL;
	versions += strstr(line, "| version ") && strncmp(line, "d0 ", 3);
	assert_true(versions <= starts);
	if (strstr(line, "| start "))
		find(by_name, line, " node ", '\n')->begun = number;
	if (strstr(line, "| child_start "))
		find(by_name, line, " node ", ']')->announced = number;
}

static void check_order(void)
{
	for (struct process *p = by_name; p < by_name + PROCESSES; p++) {
		assert_true(*p->key && p->begun);
		assert_true(!p->announced == !depth_of(p->key));   /* all but the root */
		if (p->begun < p->announced)
			fail_msg("%s begins in line %u, its parent's child_start is in line %u", p->key, p->begun,
				 p->announced);
	}
}

static void test_order_no_process_of_a_tree_writes_before_its_parents_child_start(void **state)
{
	char event[192], perf[192];

	(void)state;
	by_name = calloc(PROCESSES, sizeof(*by_name));
	by_sid = calloc(PROCESSES, sizeof(*by_sid));
	assert_true(by_name && by_sid);
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s", traced_path("event"));
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_tree, NULL, (const char *const[]){
		"TRACE2_RAW=0", event, perf, "TRACE2_PERF_BRIEF=1", NULL });
	assert_int_equal(t.status, 0);
	read_lines("event", take_event);
	check_order();
	read_lines("perf", take_perf);
	check_order();
	free(by_name);
	free(by_sid);
}

/* ---- a fork ----------------------------------------------------------------------------------------- */

static int run_fork(void *data)
{
	int status = 1;
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_printf("parent");
	pid = fork();
	if (!pid) {
		trace2_printf("child");
		trace2_flush();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status != 0;
}

static void test_order_forked_child_writes_behind_what_its_parent_has_recorded(void **state)
{
	char normal[192], command[256];

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the child inherits the locks of the sanitizer's allocator, which glibc's would have in order */
#endif
	snprintf(normal, sizeof(normal), "TRACE2=%s", traced_path("normal"));
	snprintf(command, sizeof(command), "tr '\\n' '|' <'%s' | grep -q 'parent|child|'", traced_path("normal"));
	for (int i = 0; i < 10; i++) {
		unlink(traced_path("normal"));
		traced_run(&t, run_fork, NULL, (const char *const[]){
			"TRACE2_RAW=0", normal, "TRACE2_BRIEF=1", NULL });
		assert_int_equal(t.status, 0);
		assert_int_equal(system(command), 0);
	}
}

/* ---- a handler -------------------------------------------------------------------------------------- */

static int writes;                     /* of the one thread that counts them, while it does */
static __thread int is_counting;

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __real_tr2_sys_write(int fd, const void *data, size_t bytes);

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes)
{
	if (is_counting)
		writes++;
	return __real_tr2_sys_write(fd, data, bytes);
}

static void start_child(int signo)
{
	static struct trace2_child child;
	static const char *const argv[] = { "child", NULL };

	(void)signo;
	child.argv = argv;
	is_counting = 1;
	trace2_child_start(&child);
	is_counting = 0;
}

static int run_handler(void *data)
{
	(void)data;
	trace2_initialize();
	signal(SIGUSR1, start_child);
	raise(SIGUSR1);
	return writes;
}

/* The status is the number of writes in the handler, beside a consumer thread or without one. */
static int write_in_handler(const char *thread)
{
	char perf[192];

	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_handler, NULL, (const char *const[]){ "TRACE2_RAW=0", perf, thread, NULL });
	return WEXITSTATUS(t.status);
}

/* Text takes more stack than a handler may have: the consumer thread writes. */
static void test_order_child_start_in_a_handler_writes_nothing(void **state)
{
	(void)state;
	assert_int_equal(write_in_handler("TRACE2_RAW_THREAD=init"), 0);
}

/* There is nobody else, and the handler is on the program's own stack. */
static void test_order_child_start_in_a_handler_of_a_young_process_writes(void **state)
{
	(void)state;
	assert_int_equal(write_in_handler("TRACE2_RAW_THREAD=auto"), 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_order_no_process_of_a_tree_writes_before_its_parents_child_start),
		TRACED_TEST(test_order_forked_child_writes_behind_what_its_parent_has_recorded),
		TRACED_TEST(test_order_child_start_in_a_handler_writes_nothing),
		TRACED_TEST(test_order_child_start_in_a_handler_of_a_young_process_writes),
	};

	if (argc == 3 && !strcmp(argv[1], "node"))
		return run_node(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

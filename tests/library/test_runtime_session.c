/* SPDX-License-Identifier: MIT */
/* The session of a process that was forked: one of its own, below its parent's, in texts, file and environment. */
#include "t2test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

/* The child inherits the locks of a sanitizer's allocator, which only glibc's fork() would have in order. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_IF_SANITIZED() skip()
#else
#define SKIP_IF_SANITIZED() ((void)0)
#endif

enum { OWN_LENGTH = 43, SID_BYTES = 1024, LONGEST_PARENT = 926 };

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

/* ---- what the texts say --------------------------------------------------------------------------- */

static char text[1 << 18];

static void read_text(const char *path)
{
	FILE *in = fopen(path, "r");
	size_t n;

	assert_non_null(in);
	n = fread(text, 1, sizeof(text) - 1, in);
	text[n] = '\0';
	fclose(in);
}

/* What t2expand makes of the raw file, in the event format, into text. */
static void expand_raw(void)
{
	const char *out = getenv("T2_OUT"), *path = traced_path("expanded");
	char command[512];

	snprintf(command, sizeof(command), "'%s/t2expand' --format=event -o '%s' '%s' 2>/dev/null", out ? out : "build",
		 path, t.raw);
	assert_int_equal(system(command), 0);
	read_text(path);
}

/* The session id of the first line, from *at on, that has part in it; *at goes behind the line.  "": there is none */
static const char *next_sid_of(const char **at, const char *part)
{
	static char sids[16][SID_BYTES];
	static unsigned next;
	char *sid = sids[next++ % 16];
	const char *found = strstr(*at, part), *line = found;

	*sid = '\0';
	if (!found)
		return sid;
	while (line > text && line[-1] != '\n')
		line--;
	line = strstr(line, "\"sid\":\"");
	assert_non_null(line);
	line += strlen("\"sid\":\"");
	snprintf(sid, SID_BYTES, "%.*s", (int)strcspn(line, "\""), line);
	*at = found + strcspn(found, "\n");
	return sid;
}

static const char *sid_of(const char *part)
{
	const char *at = text;

	return next_sid_of(&at, part);
}

/* 1 if a session is the next below another one, and its own component is well-formed, of that process. */
static int is_below(const char *sid, const char *parent)
{
	size_t n = strlen(parent);
	char date[24], host[24];
	unsigned pid;

	return n && !strncmp(sid, parent, n) && sid[n] == '/' && strlen(sid + n + 1) == OWN_LENGTH &&
	       sscanf(sid + n + 1, "%15[0-9T].%*6[0-9]Z-%9[H0-9a-f]-P%8x", date, host, &pid) == 3 &&
	       !strstr(sid + n + 1, "/");
}

/* ---- sessions ------------------------------------------------------------------------------------- */

static int run_fork(void *data)
{
	pid_t pid;
	int failed;

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "open", NULL);
	trace2_printf("parent before");
	pid = fork();
	if (!pid) {
		trace2_region_leave("test", "open", NULL);
		trace2_printf("child one");
		pid = fork();
		trace2_printf(pid ? "child two" : "grandchild");
		exit(pid ? wait_for(pid) : 0);
	}
	failed = wait_for(pid);
	trace2_printf("parent after");
	return failed;
}

static void assert_three_sessions(void)
{
	const char *parent = sid_of("parent before"), *child = sid_of("child one"), *at = text;
	const char *grandchild = sid_of("\"grandchild\"");

	assert_int_equal(strlen(parent), OWN_LENGTH);
	assert_string_equal(sid_of("parent after"), parent);
	assert_true(is_below(child, parent));
	assert_string_equal(sid_of("region_leave"), child);
	assert_string_equal(sid_of("child two"), child);
	assert_true(is_below(grandchild, child));
	assert_string_equal(sid_of("\"version\""), parent);
	for (int ends = 0; ends < 3; ends++) {
		const char *sid = next_sid_of(&at, "\"event\":\"atexit\"");
		assert_true(!strcmp(sid, ends == 0 ? grandchild : ends == 1 ? child : parent));
	}
}

static void test_session_of_a_forked_child_is_below_its_parents(void **state)
{
	char event[192], perf[192];

	(void)state;
	SKIP_IF_SANITIZED();
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s", traced_path("event"));
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_fork, NULL, (const char *const[]){ event, perf, "TRACE2_PERF_BRIEF=1", NULL });
	assert_int_equal(t.status, 0);
	read_text(traced_path("event"));
	assert_three_sessions();
	expand_raw();
	assert_three_sessions();
	read_text(traced_path("perf"));
	assert_non_null(strstr(text, "\nd0 | main                     | printf"));
	assert_non_null(strstr(text, "\nd1 | main                     | region_leave"));
	assert_non_null(strstr(text, "d2 | main                     | printf"));
	assert_null(strstr(text, "d3 |"));
}

/* ---- however it was forked ------------------------------------------------------------------------ */

static pid_t fork_by_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static volatile pid_t pid_of_handler;

/* A handler that forks: neither allocates nor locks. */
static void fork_in_handler(int signo)
{
	pid_t pid = _Fork();

	(void)signo;
	if (!pid) {
		trace2_data_intmax("test", NULL, "handler", 1);
		trace2_flush();
		_exit(0);
	}
	pid_of_handler = pid;
}

static int run_bare_forks(void *data)
{
	pid_t pid;
	int failed;

	(void)data;
	trace2_initialize();
	trace2_data_intmax("test", NULL, "parent", 1);
	pid = fork_by_clone();
	if (!pid) {
		trace2_data_intmax("test", NULL, "clone", 1);
		trace2_flush();
		_exit(0);
	}
	failed = wait_for(pid);
	signal(SIGUSR1, fork_in_handler);
	raise(SIGUSR1);
	return failed | wait_for(pid_of_handler);
}

static void test_session_of_a_child_of_any_fork_is_its_own(void **state)
{
	const char *parent;

	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_bare_forks, NULL, NULL);
	assert_int_equal(t.status, 0);
	expand_raw();
	parent = sid_of("\"parent\"");
	assert_int_equal(strlen(parent), OWN_LENGTH);
	assert_true(is_below(sid_of("\"clone\""), parent));
	assert_true(is_below(sid_of("\"handler\""), parent));
	assert_string_not_equal(sid_of("\"clone\""), sid_of("\"handler\""));
}

static int run_vfork(void *data)
{
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_printf("parent");
	pid = vfork();
	if (!pid) {
		trace2_printf("in the child");
		_exit(0);
	}
	return wait_for(pid);
}

static void test_session_of_a_vforked_child_is_its_parents(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_vfork, NULL, NULL);
	assert_int_equal(t.status, 0);
	expand_raw();
	assert_string_equal(sid_of("in the child"), sid_of("parent"));
	assert_int_equal(strlen(sid_of("parent")), OWN_LENGTH);
}

/* ---- what programs inherit ------------------------------------------------------------------------ */

enum { RECORDS = 1, REPLACES = 2, ASKS = 4 };

/* A forked child becomes a program that says on stderr whose child it is. */
static int run_exec(void *data)
{
	const long how = (long)data;
	pid_t pid;

	trace2_initialize();
	fprintf(stderr, "parent %s\n", trace2_session_id());
	if (how & REPLACES)
		setenv("GIT_TRACE2_PARENT_SID", "replaced", 1);
	pid = fork();
	if (!pid) {
		if (how & RECORDS)
			trace2_printf("child");
		if (how & ASKS)
			fprintf(stderr, "child %s\n", trace2_session_id());
		execl("/bin/sh", "sh", "-c", "echo inherited $GIT_TRACE2_PARENT_SID >&2", (char *)NULL);
		_exit(1);
	}
	return wait_for(pid);
}

/* What follows a word in what the program said. */
static const char *said(const char *word)
{
	static char found[3][SID_BYTES];
	static unsigned next;
	char *to = found[next++ % 3];
	const char *at = strstr(t.said, word);

	*to = '\0';
	if (at)
		sscanf(at + strlen(word), " %1000s", to);
	return to;
}

static void test_session_of_a_forked_child_is_the_parent_of_what_it_starts(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_exec, (void *)(long)(RECORDS | ASKS), NULL);
	assert_int_equal(t.status, 0);
	assert_true(is_below(said("child"), said("parent")));
	assert_string_equal(said("inherited"), said("child"));
	traced_run(&t, run_exec, (void *)(long)ASKS, NULL);      /* the question alone does */
	assert_true(is_below(said("child"), said("parent")));
	assert_string_equal(said("inherited"), said("child"));
}

static void test_session_of_a_child_that_records_nothing_is_its_parents(void **state)
{
	(void)state;
	traced_run(&t, run_exec, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(strlen(said("parent")), OWN_LENGTH);
	assert_string_equal(said("inherited"), said("parent"));
	traced_run(&t, run_exec, (void *)(long)ASKS, (const char *const[]){ "TRACE2_RAW=0", NULL });
	assert_string_equal(said("child"), said("parent"));
	assert_string_equal(said("inherited"), said("parent"));
}

static void test_session_that_the_program_has_replaced_is_left_alone(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_exec, (void *)(long)(RECORDS | ASKS | REPLACES), NULL);
	assert_int_equal(t.status, 0);
	assert_string_equal(said("inherited"), "replaced");
	assert_true(is_below(said("child"), said("parent")));
}

/* ---- length --------------------------------------------------------------------------------------- */

static int run_generations(void *data)
{
	pid_t pid;

	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		trace2_printf("generation %ld.", i);
		pid = fork();
		if (pid)
			exit(wait_for(pid));
	}
	return 0;
}

/* Ancestors that are too long are not kept, as those that come in the environment. */
static void test_session_ids_of_many_generations_begin_a_tree_of_their_own(void **state)
{
	enum { GENERATIONS = 26 };
	char part[32], last[SID_BYTES] = "";
	int restarts = 0;

	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_generations, (void *)(long)GENERATIONS, NULL);
	assert_int_equal(t.status, 0);
	expand_raw();
	for (int i = 0; i < GENERATIONS; i++) {
		snprintf(part, sizeof(part), "generation %d.", i);
		assert_string_not_equal(sid_of(part), "");
		if (i && strlen(last) > LONGEST_PARENT) {
			assert_int_equal(strlen(sid_of(part)), OWN_LENGTH);
			restarts++;
		} else if (i) {
			assert_true(is_below(sid_of(part), last));
		}
		strcpy(last, sid_of(part));
	}
	assert_int_equal(restarts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_session_of_a_forked_child_is_below_its_parents),
		TRACED_TEST(test_session_of_a_child_of_any_fork_is_its_own),
		TRACED_TEST(test_session_of_a_vforked_child_is_its_parents),
		TRACED_TEST(test_session_of_a_forked_child_is_the_parent_of_what_it_starts),
		TRACED_TEST(test_session_of_a_child_that_records_nothing_is_its_parents),
		TRACED_TEST(test_session_that_the_program_has_replaced_is_left_alone),
		TRACED_TEST(test_session_ids_of_many_generations_begin_a_tree_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

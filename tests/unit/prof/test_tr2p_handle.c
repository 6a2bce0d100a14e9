/* SPDX-License-Identifier: MIT */
/* test_tr2p_handle.c - requests below /debug/pprof/, answered inside of the process. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_profile.h"
#include "prof/tr2p_sample.h"
#include "prof/tr2p_settings.h"

enum { BODY = 1 << 20 };

/* An answer, and how it came. */
struct got {
	unsigned status, headers, asked;
	char head[1024], body[BODY];
	size_t n;
	int is_refused;                   /* the function returns this when it is asked whether anybody waits */
	int is_body_refused;
	int is_wrong;                     /* parts in the wrong order, no text in a header: threads do not assert */
};
static struct got got;

static int take(void *context, unsigned status, const char *header, const void *bytes, size_t n)
{
	struct got *to = context;

	if (!status) {
		to->asked++;
		return to->is_refused;
	}
	to->is_wrong |= to->status && to->status != status;
	to->status = status;
	if (header) {
		to->headers++;
		to->is_wrong |= to->n || strlen(bytes) != n || strpbrk(bytes, "\r\n");
		snprintf(to->head + strlen(to->head), sizeof(to->head) - strlen(to->head), "%s: %s\n", header,
			 (const char *)bytes);
		return 0;
	}
	if (to->is_body_refused)
		return to->is_body_refused;
	if (to->n + n >= BODY)
		return ENOSPC;
	memcpy(to->body + to->n, bytes, n);
	to->n += n;
	to->body[to->n] = '\0';
	return 0;
}

static int ask_with(const char *path, const char *query)
{
	int error;

	errno = 77;
	error = trace2_pprof_handle(path, query, take, &got);
	assert_int_equal(errno, 77);
	assert_false(got.is_wrong);
	return error;
}

/* Return  the status */
static unsigned ask(const char *path)
{
	memset(&got, 0, sizeof(got));
	assert_int_equal(ask_with(path, NULL), 0);
	assert_true(got.headers > 0);
	return got.status;
}

static void assert_has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in %s", what, text);
}

static void assert_error(const char *path, unsigned status)
{
	assert_int_equal(ask(path), status);
	assert_has(got.head, "X-Go-Pprof: 1\n");
	assert_has(got.head, "Content-Type: text/plain");
	assert_ptr_equal(strchr(got.body, '\n'), got.body + got.n - 1);
}

static int is_gzip(void)
{
	return got.n > 10 && (unsigned char)got.body[0] == 0x1f && (unsigned char)got.body[1] == 0x8b;
}

static void test_handle_other_pages_are_left_to_the_program(void **state)
{
	static const char *const others[] = { "", "/", "/debug", "/debug/", "/debug/ppro", "/debug/pprofx",
					      "debug/pprof/", "/index.html", "/?/debug/pprof/heap", "%2fdebug/pprof/" };

	(void)state;
	memset(&got, 0, sizeof(got));
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(ask_with(others[i], NULL), ENOENT);
	assert_int_equal(trace2_pprof_handle(NULL, NULL, take, &got), EINVAL);
	assert_int_equal(trace2_pprof_handle("/debug/pprof/", NULL, NULL, &got), EINVAL);
	assert_int_equal(got.headers, 0);
}

static void test_handle_hostile_requests_get_an_error(void **state)
{
	static const char *const unknown[] = {
		"/debug/pprof/nonsense", "/debug/pprof/../../etc/passwd", "/debug/pprof/%00", "/debug/pprof/%",
		"/debug/pprof/%4", "/debug/pprof/%zz", "/debug/pprof/heap/", "/debug/pprof//",
		"/debug/pprof/a\r\nX: y", "/debug/pprof/%0d%0aX:y", "/debug/pprof/\x80\xff"
	};
	char lengthy[8192];

	(void)state;
	for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_error(unknown[i], 404);
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	memcpy(lengthy, "/debug/pprof/", 13);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_error(lengthy, 404);
	assert_error("/debug/pprof/heap?seconds=301", 400);
	assert_error("/debug/pprof/heap?debug=3", 400);
	assert_error("/debug/pprof/heap?seconds=1&debug=1", 400);
	assert_error("/debug/pprof/profile?seconds=x", 400);
	memset(&got, 0, sizeof(got));
	assert_int_equal(ask_with("/debug/pprof/heap?debug=1", "debug=3"), 0);
	assert_int_equal(got.status, 400);
}

static void test_handle_profiles_are_valid_if_empty(void **state)
{
	static const char *const names[] = { "heap", "allocs", "block", "mutex", "threadcreate", "goroutine", "threads",
					     "profile?seconds=0.1", "wall?seconds=0.1", "heap?seconds=0.1",
					     "allocs?seconds=0.1", "block?seconds=0.1", "mutex?seconds=0.1" };
	char path[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/x/debug/pprof/%s", names[i]);
		assert_int_equal(ask(path), 200);
		assert_true(is_gzip());
		assert_has(got.head, "Content-Type: application/octet-stream\n");
		assert_has(got.head, "X-Content-Type-Options: nosniff\n");
		assert_null(strstr(got.head, "X-Go-Pprof"));
	}
	for (unsigned i = 0; i < TR2P_THREADS; i++)
		assert_false(tr2p_settings_is_on(tr2p_profile_name(i)));
}

static void test_handle_texts_are_those_of_go(void **state)
{
	(void)state;
	assert_int_equal(ask("/debug/pprof/heap?debug=1"), 200);
	assert_has(got.head, "Content-Type: text/plain");
	assert_memory_equal(got.body, "heap profile: ", 14);
	assert_int_equal(ask("/debug/pprof/goroutine?debug=1"), 200);
	assert_memory_equal(got.body, "threads profile: total ", 23);
	assert_int_equal(ask("/debug/pprof/goroutine?debug=2"), 200);
	assert_memory_equal(got.body, "thread ", 7);
	assert_int_equal(ask("/debug/pprof/mutex?debug=2"), 200);
	assert_memory_equal(got.body, "--- contention:\n", 16);
}

static void test_handle_list_has_the_programs_own(void **state)
{
	struct trace2_profile *own;
	char *text;
	int value;

	(void)state;
	assert_int_equal(trace2_prof_new("<i>\"&%", &own), 0);
	assert_int_equal(trace2_prof_add(own, &value, 0), 0);
	assert_int_equal(ask("/debug/pprof/"), 200);
	assert_has(got.head, "Content-Type: text/html");
	assert_has(got.body, "<a href=\"%3Ci%3E%22%26%25\">%3Ci%3E%22%26%25</a> 1\n");
	assert_null(strstr(got.body, "<i>"));
	assert_has(got.body, "<a href=\"profile\">");
	text = strstr(got.body, "\"heap\"");
	assert_non_null(text);
	assert_null(strstr(text + 1, "\"heap\""));
	assert_int_equal(ask("/debug/pprof/%3Ci%3E%22%26%25?debug=1"), 200);
	assert_has(got.body, "profile: total 1\n");
	assert_int_equal(ask("/debug/pprof/%3Ci%3E%22%26%25"), 200);
	assert_true(is_gzip());
	assert_has(got.head, "filename=\"profile\"");
	assert_error("/debug/pprof/%3Ci%3E%22%26%25?seconds=1", 400);
	trace2_prof_remove(own, &value);
}

static void test_handle_the_rest_is_there(void **state)
{
	char path[128];

	(void)state;
	assert_int_equal(ask("/debug/pprof"), 301);
	assert_has(got.head, "Location: pprof/\n");
	assert_int_equal(ask("/debug/pprof/cmdline"), 200);
	assert_has(got.body, "test_tr2p_handle");
	/* rand_r: one that no sanitizer has in front of it */
	snprintf(path, sizeof(path), "/debug/pprof/symbol?0x%zx+zz", (size_t)(uintptr_t)rand_r);
	assert_int_equal(ask(path), 200);
	assert_memory_equal(got.body, "num_symbols: 1\n0x", 17);
	assert_has(got.body, " rand_r\n");
	memset(&got, 0, sizeof(got));
	assert_int_equal(ask_with("/debug/pprof/symbol", strchr(path, '?') + 1), 0);
	assert_has(got.body, " rand_r\n");
	assert_error("/debug/pprof/trace?seconds=0.1", 409);
	assert_error("/debug/pprof/trace?format=chrome", 501);
}

/* ---- seconds ------------------------------------------------------------------------------------------- */

static void sample(unsigned profile, int64_t count)
{
	const struct tr2p_stack stack = { .n = 1, .at = { 0x4711 } };
	const struct tr2p_amount amount = { .count = count, .value = count * 100, .period = 1, .scale = 1 };

	assert_non_null(tr2p_sample(profile, &stack, &amount));
}

static void *sample_later(void *data)
{
	usleep(150000);
	sample(TR2P_HEAP, 3);
	sample(TR2P_HEAP, -1);
	return data;
}

/* Bytes of the message: the last member of gzip says so. */
static size_t unpacked(void)
{
	const unsigned char *end = (const unsigned char *)got.body + got.n;

	assert_true(is_gzip());
	return (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

static void test_handle_seconds_have_only_what_came(void **state)
{
	size_t empty, full;
	pthread_t thread;

	(void)state;
	sample(TR2P_HEAP, 5);
	assert_int_equal(ask("/debug/pprof/heap?seconds=0.1"), 200);
	empty = unpacked();
	assert_int_equal(ask("/debug/pprof/heap"), 200);
	full = unpacked();
	assert_true(full > empty);
	assert_int_equal(pthread_create(&thread, NULL, sample_later, NULL), 0);
	assert_int_equal(ask("/debug/pprof/heap?seconds=0.5"), 200);
	pthread_join(thread, NULL);
	assert_true(unpacked() > empty);
	assert_true(got.asked >= 4 && got.asked <= 6);
}

static void test_handle_nobody_waits_ends_it(void **state)
{
	struct timespec before, after;

	(void)state;
	memset(&got, 0, sizeof(got));
	got.is_refused = 5;
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(ask_with("/debug/pprof/profile?seconds=60", NULL), 5);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(after.tv_sec - before.tv_sec < 30);
	assert_int_equal(got.headers, 0);
	assert_false(tr2p_settings_is_on("cpu"));
	memset(&got, 0, sizeof(got));
	got.is_body_refused = 6;
	assert_int_equal(ask_with("/debug/pprof/heap", NULL), 6);
}

static void *profile_here(void *data)
{
	struct got *to = data;

	trace2_pprof_handle("/debug/pprof/profile?seconds=1", NULL, take, to);
	return NULL;
}

static int forked(int (*function)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(function());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static int is_cpu_on_in_child(void)
{
	return tr2p_settings_is_on("cpu");
}

static int can_ask_in_child(void)
{
	memset(&got, 0, sizeof(got));
	return trace2_pprof_handle("/debug/pprof/profile?seconds=0.1", NULL, take, &got) || got.status != 200;
}

static void test_handle_one_cpu_profile_at_a_time(void **state)
{
	static struct got first;
	pthread_t thread;

	(void)state;
	memset(&first, 0, sizeof(first));
	assert_int_equal(pthread_create(&thread, NULL, profile_here, &first), 0);
	while (!tr2p_settings_is_on("cpu"))
		usleep(1000);
	assert_error("/debug/pprof/profile?seconds=0.1", 500);
	assert_has(got.body, "cpu profiling already in use");
	assert_int_equal(forked(is_cpu_on_in_child), 0);
	assert_int_equal(forked(can_ask_in_child), 0);
	assert_true(tr2p_settings_is_on("cpu"));
	pthread_join(thread, NULL);
	assert_int_equal(first.status, 200);
	assert_false(tr2p_settings_is_on("cpu"));
}

static void test_handle_what_the_program_has_on_stays_on(void **state)
{
	(void)state;
	assert_int_equal(trace2_prof_start_cpu(100), 0);
	trace2_prof_set_block_rate(1);
	assert_int_equal(ask("/debug/pprof/profile?seconds=0.1"), 200);
	assert_int_equal(ask("/debug/pprof/block?seconds=0.1"), 200);
	assert_true(tr2p_settings_is_on("cpu"));
	assert_int_equal(forked(is_cpu_on_in_child), 1);
	trace2_prof_stop_cpu();
	assert_int_equal(trace2_prof_set_block_rate(0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handle_other_pages_are_left_to_the_program),
		cmocka_unit_test(test_handle_hostile_requests_get_an_error),
		cmocka_unit_test(test_handle_profiles_are_valid_if_empty),
		cmocka_unit_test(test_handle_texts_are_those_of_go),
		cmocka_unit_test(test_handle_list_has_the_programs_own),
		cmocka_unit_test(test_handle_the_rest_is_there),
		cmocka_unit_test(test_handle_seconds_have_only_what_came),
		cmocka_unit_test(test_handle_nobody_waits_ends_it),
		cmocka_unit_test(test_handle_one_cpu_profile_at_a_time),
		cmocka_unit_test(test_handle_what_the_program_has_on_stays_on),
	};

	unsetenv("TRACE2_RAW");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

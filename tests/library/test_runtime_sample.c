/* SPDX-License-Identifier: MIT */
/* Samples of profiles: with the table of scopes, without it, in a new file, in a forked child. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "base/tr2_atomic.h"
#include "record/tr2_sample.h"
#include "ring/tr2_shm.h"

/* The child inherits the locks of a sanitizer's allocator, which only glibc's fork() would have in order. */
#if defined(__SANITIZE_ADDRESS__) || defined(TRACE2_HAS_TSAN_)   /* which knows gcc's and clang's */
#define SKIP_IF_SANITIZED() skip()
#else
#define SKIP_IF_SANITIZED() ((void)0)
#endif

static const char modules[] = "1000-9000 0 00ff /bin/program", stack[] = "1234 2345";

static void take(uint32_t scope, const char *at, int64_t count)
{
	static const char *const labels[] = { "key", "value", "other", "", NULL };
	const struct tr2_sample_v1 sample = {
		.scope = scope, .profile = "cpu", .modules = modules, .stack = at,
		.count = count, .value = 10000000, .period = 10000000, .labels = count % 2 ? labels : NULL
	};

	errno = ENOENT;
	assert_int_equal(tr2_sample_v1(&sample), 1);
	assert_int_equal(errno, ENOENT);
}

static int run_samples(void *data)
{
	static char deep[3000];
	uint32_t scope;

	(void)data;
	assert_int_equal(tr2_sample_scope_v1("cpu", modules, stack), 0);
	trace2_initialize();
	scope = tr2_sample_scope_v1("cpu", modules, stack);
	assert_int_not_equal(scope, 0);
	assert_int_equal(tr2_sample_scope_v1("cpu", modules, stack), scope);
	assert_int_not_equal(tr2_sample_scope_v1("wall", modules, stack), scope);
	memset(deep, 'f', sizeof(deep) - 1);
	assert_int_equal(tr2_sample_scope_v1("cpu", modules, deep), 0);
	take(scope, stack, 1);
	take(scope, stack, 2);
	take(0, deep, 3);
	return 0;
}

static void test_samples_are_in_the_file_with_their_scope(void **state)
{
	(void)state;
	traced_run(&t, run_samples, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_sample, NULL), 2);
	assert_int_equal(file.lost, 0);
	assert_int_equal(file.end_stored, file.hits);
}

static int run_untraced(void *data)
{
	const struct tr2_sample_v1 sample = { .scope = 1, .count = 1 };

	(void)data;
	return tr2_sample_v1(&sample);
}

static void test_samples_without_tracing_are_refused(void **state)
{
	(void)state;
	traced_run(&t, run_untraced, NULL, NULL);
	assert_int_equal(t.status, 0);
}

static void *take_in_thread(void *data)
{
	(void)data;
	pthread_setname_np(pthread_self(), "worker/7");
	take(0, stack, 1);
	return NULL;
}

static int run_thread(void *data)
{
	pthread_t thread;

	trace2_initialize();
	assert_int_equal(pthread_create(&thread, NULL, take_in_thread, data), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return 0;
}

/* As its program has called it for the system; git has "unknown" for one that has not said its name. */
static void test_sample_of_a_thread_without_a_name_has_that_of_the_system(void **state)
{
	(void)state;
	traced_run(&t, run_thread, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_non_null(memmem(file.events, file.count * sizeof(file.events[0]), "th01:worker/7", 13));
}

/* The child knows its parent's scopes, the new file has the definition again. */
static int run_fork_and_rotation(void *data)
{
	uint32_t scope;
	int status = 1;

	(void)data;
	trace2_initialize();
	scope = tr2_sample_scope_v1("cpu", modules, stack);
	take(scope, stack, 1);
	trace2_rotate();
	take(scope, stack, 1);
	if (!fork()) {
		take(scope, stack, 1);
		trace2_finish();
		_exit(tr2_sample_scope_v1("cpu", modules, stack) != 0);
	}
	wait(&status);
	return status != 0;   /* of which exit() keeps the lowest byte only */
}

static void test_samples_after_fork_and_rotation_have_their_scope(void **state)
{
	(void)state;
	traced_run(&t, run_fork_and_rotation, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(traced_path("raw.1.tlg"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_sample, NULL), 2);
}

enum { FORKS = 40, THREADS = 4, STACKS = 100 };

static unsigned g_ready, g_has_begun;
static uint32_t g_scopes[THREADS][STACKS];   /* [0][0]: the parent's */

static uint32_t look_up(unsigned thread, unsigned i)
{
	char at[64];

	snprintf(at, sizeof(at), "%x %x %x", thread, i, (unsigned)getpid());
	return tr2_sample_scope_v1("cpu", modules, at);
}

/* All at once: the first one begins the child's session by its sample, while the others look their stacks up. */
static void *begin_or_look_up(void *data)
{
	const unsigned thread = (unsigned)((uint32_t (*)[STACKS])data - g_scopes);

	tr2_add_rlx(&g_ready, 1); /* relaxed: only a place to meet */
	while (tr2_load_rlx(&g_ready) < THREADS) /* relaxed: as above */
		;
	if (!thread)
		take(g_scopes[0][0], stack, 1);
	for (unsigned i = 0; thread && (i < STACKS || !tr2_load_rlx(&g_has_begun)); i++) /* relaxed: a flag */
		g_scopes[thread][i % STACKS] = look_up(thread, i % STACKS);
	tr2_store_rlx(&g_has_begun, 1); /* relaxed: as above */
	return NULL;
}

/* Return  0: each stack has a scope, which is none of the parent's, and keeps it */
static int run_threads_of_a_child(void)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, begin_or_look_up, g_scopes[i]))
			return 2;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned thread = 1; thread < THREADS; thread++)
		for (unsigned i = 0; i < STACKS; i++)
			if (g_scopes[thread][i] <= g_scopes[0][0] || look_up(thread, i) != g_scopes[thread][i])
				return 3;
	return tr2_sample_scope_v1("cpu", modules, stack) == g_scopes[0][0] ? 0 : 4;
}

static int run_forks_with_threads(void *data)
{
	int status = 0;

	(void)data;
	trace2_initialize();
	g_scopes[0][0] = tr2_sample_scope_v1("cpu", modules, stack);
	take(g_scopes[0][0], stack, 1);
	for (unsigned i = 0; i < FORKS && !status; i++) {
		pid_t child = fork();
		if (!child)
			_exit(run_threads_of_a_child());
		assert_int_equal(waitpid(child, &status, 0), child);
	}
	return status != 0;   /* of which exit() keeps the lowest byte only */
}

static void test_first_samples_of_threads_of_a_forked_child_have_their_scopes(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, run_forks_with_threads, NULL, NULL);
	assert_int_equal(t.status, 0);
}

static uint32_t asking(void)
{
	return tr2_g_shm.head->stacks.signal;
}

/* Servers, shells and CPython's programs set signals back to their defaults in a child before it does anything else. */
static int run_child_that_takes_the_signal(void *data)
{
	int status = 1;

	(void)data;
	trace2_initialize();
	tr2_sample_signal_v1(SIGUSR2);
	if (!fork()) {
		tr2_sample_signal_v1(0);
		if (asking() != SIGUSR2)
			_exit(2);
		take(0, stack, 1);
		_exit(asking() ? 3 : 0);
	}
	wait(&status);
	return status || asking() != SIGUSR2;
}

static void test_signal_that_a_forked_child_takes_still_asks_its_parent(void **state)
{
	(void)state;
	traced_run(&t, run_child_that_takes_the_signal, NULL, NULL);
	assert_int_equal(t.status, 0);
}

static struct tr2_reported told[3];

static void *tell_then_take(void *data)
{
	uint32_t before;

	tr2_sample_tell_v1(&told[1]);
	before = told[1].tid;
	assert_int_equal(told[1].name[0], 0);
	take(0, stack, 1);
	assert_int_equal(told[1].tid, before);
	tr2_sample_tell_v1(NULL);
	return data;
}

static void *take_then_tell(void *data)
{
	take(0, stack, 1);
	tr2_sample_tell_v1(&told[2]);
	return data;
}

/* Main is 0, and others by turns; what a thread is told before its first sample is the id that it gets then. */
static int run_told(void *data)
{
	char name[TR2_REPORTED_NAME];
	pthread_t thread;

	tr2_sample_tell_v1(&told[0]);
	assert_int_equal(told[0].tid, 0);
	trace2_initialize();
	tr2_sample_tell_v1(&told[0]);
	assert_int_equal(told[0].tid, 1);
	assert_int_equal(pthread_create(&thread, NULL, tell_then_take, data), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, take_then_tell, data), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(told[1].tid, 2);
	assert_int_equal(told[2].tid, 3);
	assert_true(tr2_reported_name(&told[0], name));
	assert_string_equal(name, "main");
	assert_true(tr2_reported_name(&told[1], name));
	assert_memory_equal(name, "th01:", 5);
	return 0;
}

static void test_sample_tell_says_what_the_trace_calls_the_thread(void **state)
{
	(void)state;
	traced_run(&t, run_told, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_non_null(memmem(file.events, file.count * sizeof(file.events[0]), "th01:", 5));
	assert_non_null(memmem(file.events, file.count * sizeof(file.events[0]), "th02:", 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_samples_are_in_the_file_with_their_scope),
		TRACED_TEST(test_samples_without_tracing_are_refused),
		TRACED_TEST(test_sample_of_a_thread_without_a_name_has_that_of_the_system),
		TRACED_TEST(test_samples_after_fork_and_rotation_have_their_scope),
		TRACED_TEST(test_first_samples_of_threads_of_a_forked_child_have_their_scopes),
		TRACED_TEST(test_signal_that_a_forked_child_takes_still_asks_its_parent),
		TRACED_TEST(test_sample_tell_says_what_the_trace_calls_the_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

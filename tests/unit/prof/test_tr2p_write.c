/* SPDX-License-Identifier: MIT */
/* Profiles as they are written to a descriptor. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_live.h"
#include "prof/tr2p_sample.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

enum { STACKS = 5000, TEXT = 1 << 20 };

static int setup(void **state)
{
	(void)state;
	tr2p_unwind_init(0, 0);
	tr2p_thread_begin();
	return tr2p_bucket_init();
}

static void sample(unsigned profile, uintptr_t at, const struct tr2p_amount *amount)
{
	const struct tr2p_stack stack = { .n = 2, .at = { at, (uintptr_t)setup } };

	assert_non_null(tr2p_sample(profile, &stack, amount));
}

/* What is written, to be freed. */
static char *written(const char *profile, int debug, size_t *bytes)
{
	char *text = malloc(TEXT);
	int fd = memfd_create("profile", MFD_CLOEXEC);
	ssize_t n;

	assert_non_null(text);
	assert_true(fd >= 0);
	errno = 77;
	assert_int_equal(trace2_prof_write_to(trace2_prof_lookup(profile), fd, debug), 0);
	assert_int_equal(errno, 77);
	n = pread(fd, text, TEXT - 1, 0);
	assert_true(n >= 0);
	text[n] = '\0';
	*bytes = (size_t)n;
	close(fd);
	return text;
}

static void assert_has(const char *profile, const char *what)
{
	size_t bytes;
	char *text = written(profile, 1, &bytes);

	if (!strstr(text, what))
		fail_msg("\"%s\" is not in %s", what, text);
	free(text);
}

static void test_write_to_refuses_what_is_not_there(void **state)
{
	struct trace2_profile *heap = trace2_prof_lookup("heap");

	(void)state;
	errno = 77;
	assert_int_equal(trace2_prof_write_to(NULL, 1, 0), EINVAL);
	assert_int_equal(trace2_prof_write_to(heap, 1, 3), EINVAL);
	assert_int_equal(trace2_prof_write_to(heap, 1, -1), EINVAL);
	assert_int_equal(trace2_prof_write_to(heap, -1, 0), EBADF);
	assert_int_equal(trace2_prof_write_to(heap, -1, 1), EBADF);
	assert_int_equal(trace2_prof_write_heap(-1), EBADF);
	assert_int_equal(errno, 77);
}

static void test_heap_text_has_what_was_sampled_and_the_rate(void **state)
{
	const struct tr2p_amount two = { 1, 100, 1000, 10.5 }, freed = { -1, -100, 1000, 10.5 };

	(void)state;
	sample(TR2P_HEAP, 0x1234, &two);
	sample(TR2P_HEAP, 0x1234, &two);
	sample(TR2P_HEAP, 0x1234, &freed);
	assert_has("heap", "heap profile: 1: 100 [2: 200] @ heap_v2/1000\n1: 100 [2: 200] @ 0x1235 0x");
	assert_has("allocs", "1: 100 [2: 200] @ 0x1235 0x");
	assert_has("heap", "--- Memory map: ---\n");
	assert_has("heap", "test_tr2p_write");
}

static void test_text_of_waits_has_estimates(void **state)
{
	const struct tr2p_amount wait = { 1, 700, 10, 10 };

	(void)state;
	sample(TR2P_MUTEX, 0x77, &wait);
	assert_has("mutex", "--- contention:\ncycles/second=1000000000\nsampling period=1\n7000 10 @ 0x78 0x");
}

static void test_text_of_values_has_those_that_are_there(void **state)
{
	struct trace2_profile *files;
	size_t bytes;
	char *text;
	int a, b;

	(void)state;
	assert_int_equal(trace2_prof_new("files", &files), 0);
	assert_int_equal(trace2_prof_add(files, &a, 0), 0);
	assert_int_equal(trace2_prof_add(files, &b, 0), 0);
	assert_has("files", "files profile: total 2\n1 @ 0x");
	trace2_prof_remove(files, &a);
	assert_has("files", "files profile: total 1\n1 @ 0x");
	trace2_prof_remove(files, &b);
	text = written("files", 1, &bytes);
	assert_memory_equal(text, "files profile: total 0\n\n", 24);
	free(text);
}

static void test_message_is_gzip(void **state)
{
	static const char *const names[] = { "cpu", "heap", "allocs", "mutex", "files" };

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t bytes;
		char *text = written(names[i], 0, &bytes);
		assert_true(bytes > 20);
		assert_memory_equal(text, "\x1f\x8b\x08", 3);
		free(text);
	}
}

/* Memory in use that found no place counts as freed: whoever reads the profile has to know. */
static void test_message_says_what_found_no_memory(void **state)
{
	const struct tr2p_live live = { NULL, 1, 1 };
	int fd = memfd_create("profile", 0);   /* for gzip */
	char command[100];
	uintptr_t n = 1;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(tr2p_live_init(), 0);
	while (tr2p_live_put((void *)(n << 12), &live))
		n++;
	assert_int_equal(trace2_prof_write_heap(fd), 0);
	snprintf(command, sizeof(command), "gzip -dc </proc/%d/fd/%d | grep -aq '1 samples found no memory'",
		 (int)getpid(), fd);
	assert_int_equal(system(command), 0);
	close(fd);
}

static void test_write_into_a_closed_pipe_is_an_error_without_a_signal(void **state)
{
	sigset_t pending;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(trace2_prof_write_to(trace2_prof_lookup("heap"), fds[1], 1), EPIPE);
	assert_int_equal(trace2_prof_write_heap(fds[1]), EPIPE);
	sigpending(&pending);
	assert_false(sigismember(&pending, SIGPIPE));
	close(fds[1]);
}

static void *count_lines(void *data)
{
	const int *fds = data;
	static size_t lines;
	char part[1000];
	ssize_t n;

	while ((n = read(fds[0], part, sizeof(part))) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += part[i] == '\n';
	return &lines;
}

/* More than the pipe takes at once, and it does not block. */
static void test_write_in_parts_is_complete(void **state)
{
	const struct tr2p_amount one = { 1, 0, 1, 1 };
	pthread_t reader;
	void *lines;
	int fds[2];

	(void)state;
	for (uintptr_t i = 1; i <= STACKS; i++)
		sample(TR2P_THREADCREATE, i * 16, &one);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(pthread_create(&reader, NULL, count_lines, fds), 0);
	assert_int_equal(trace2_prof_write_to(trace2_prof_lookup("threadcreate"), fds[1], 1), 0);
	close(fds[1]);
	assert_int_equal(pthread_join(reader, &lines), 0);
	assert_true(*(size_t *)lines > STACKS);
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_to_refuses_what_is_not_there),
		cmocka_unit_test(test_heap_text_has_what_was_sampled_and_the_rate),
		cmocka_unit_test(test_text_of_waits_has_estimates),
		cmocka_unit_test(test_text_of_values_has_those_that_are_there),
		cmocka_unit_test(test_message_is_gzip),
		cmocka_unit_test(test_message_says_what_found_no_memory),
		cmocka_unit_test(test_write_into_a_closed_pipe_is_an_error_without_a_signal),
		cmocka_unit_test(test_write_in_parts_is_complete),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

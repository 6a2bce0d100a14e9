/* SPDX-License-Identifier: MIT */
/* Where another thread is: blocked, with and without frame pointers, running, gone.  Modules stay meanwhile. */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand in front of these functions themselves */
}
#else
#include <alloca.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_calls.h"
#include "prof/tr2p_init.h"
#include "prof/tr2p_look.h"
#include "prof/tr2p_unload.h"

static struct waiter {
	pthread_t thread;
	pid_t tid;
	int fds[2], is_over, with_frame_pointer;
	sem_t ready;
} g_waiter;

__attribute__((noinline)) static void wait_inside(struct waiter *waiter, int depth)
{
	volatile char room[100];
	char byte;

	room[depth] = 1;
	if (depth)
		wait_inside(waiter, depth - 1);
	else
		(void)!read(waiter->fds[0], &byte, 1);
	room[depth] = (char)(room[depth] + 1);
}

/* What gets room while it runs has a frame pointer, whatever the compiler's options are. */
__attribute__((noinline)) static void wait_with_room(struct waiter *waiter, int depth)
{
	volatile char *room = alloca((size_t)getpid() % 64 + 100);

	room[0] = 1;
	if (depth)
		wait_with_room(waiter, depth - 1);
	else
		wait_inside(waiter, 0);
	room[0] = (char)(room[0] + 1);
}

static void *run_waiter(void *data)
{
	struct waiter *waiter = data;

	waiter->tid = (pid_t)syscall(SYS_gettid);
	sem_post(&waiter->ready);
	if (waiter->with_frame_pointer)
		wait_with_room(waiter, 3);
	else
		wait_inside(waiter, 3);
	while (!tr2_load_rlx(&waiter->is_over)) /* relaxed: a flag by itself */
		continue;
	return NULL;
}

static void start(int with_frame_pointer)
{
	g_waiter = (struct waiter){ .with_frame_pointer = with_frame_pointer };
	sem_init(&g_waiter.ready, 0, 0);
	assert_int_equal(tr2p_init(), 0);
	assert_int_equal(pipe(g_waiter.fds), 0);
	assert_int_equal(pthread_create(&g_waiter.thread, NULL, run_waiter, &g_waiter), 0);
	pthread_setname_np(g_waiter.thread, "waiter");
	while (sem_wait(&g_waiter.ready))
		continue;
}

static void stop(void)
{
	tr2_store_rlx(&g_waiter.is_over, 1); /* relaxed: a flag by itself */
	pthread_join(g_waiter.thread, NULL);
	tr2p_look_end();
	close(g_waiter.fds[0]);
	close(g_waiter.fds[1]);
}

static struct tr2p_look look_now(void)
{
	struct tr2p_look look = { .tid = g_waiter.tid };

	tr2p_look_at(&look, 1);
	return look;
}

static struct tr2p_look look_until_blocked(void)
{
	struct tr2p_look look;

	do
		look = look_now();
	while (look.state != TR2P_LOOK_BLOCKED);
	return look;
}

#ifdef __x86_64__
static unsigned count_frames(const struct tr2p_bucket *bucket, void (*function)(struct waiter *, int))
{
	const char *text = bucket->stack_text;
	unsigned n = 0;
	char *end;

	for (;; text = end) {
		const uintptr_t at = (uintptr_t)strtoull(text, &end, 16);
		if (end == text)
			return n;
		n += at >= (uintptr_t)function && at < (uintptr_t)function + 400;
	}
}
#endif

static void test_look_at_a_blocked_thread_has_its_stack_and_its_name(void **state)
{
	struct tr2p_look look;

	(void)state;
	start(0);
	look = look_until_blocked();
	assert_non_null(look.bucket);
	assert_string_equal(look.name, "waiter");
#ifdef __x86_64__     /* elsewhere what calls the system may be all that is known */
	assert_in_range(count_frames(look.bucket, wait_inside), 4, 5);     /* and maybe who calls it */
#endif
	assert_ptr_equal(look_until_blocked().bucket, look.bucket);
	assert_int_equal(write(g_waiter.fds[1], "x", 1), 1);
	stop();
}

static void test_look_at_a_blocked_thread_names_its_system_call(void **state)
{
	const struct tr2p_bucket *bucket;
	const char *text;

	(void)state;
	start(0);
	bucket = look_until_blocked().bucket;
	assert_non_null(bucket);
	assert_true(bucket->n > 1);
	assert_int_equal(bucket->at[0], tr2p_calls_address(SYS_read));
	text = strstr(bucket->module_text, " 0 - [off-CPU: read]");
	assert_non_null(text);
	assert_null(strstr(text + sizeof(" 0 - ["), "[off-CPU"));
	assert_int_equal(write(g_waiter.fds[1], "x", 1), 1);
	stop();
}

/* Calls that the headers do not know; that are none; addresses that are none. */
static void test_calls_module_of_a_number_without_a_name_has_the_number(void **state)
{
	(void)state;
	assert_int_equal(tr2p_init(), 0);
	assert_string_equal(tr2p_calls_module(tr2p_calls_address(1001))->path, "[off-CPU: 1001]");
	assert_string_equal(tr2p_calls_module(tr2p_calls_address(-1))->path, "[off-CPU]");
	assert_string_equal(tr2p_calls_module(tr2p_calls_address(1 << 30))->path, "[off-CPU]");
	assert_string_equal(tr2p_calls_module(tr2p_calls_address(SYS_exit_group))->path, "[off-CPU: exit_group]");
	assert_ptr_equal(tr2p_calls_module(tr2p_calls_address(7)), tr2p_calls_module(tr2p_calls_address(7)));
	assert_null(tr2p_calls_module(tr2p_calls_address(0) - 1));
	assert_null(tr2p_calls_module(tr2p_calls_address(-1) + 1));
	assert_null(tr2p_calls_module(0));
}

static void test_look_finds_frames_that_a_frame_pointer_keeps(void **state)
{
	(void)state;
	start(1);
#ifdef __x86_64__
	assert_in_range(count_frames(look_until_blocked().bucket, wait_with_room), 4, 5);
#endif
	assert_int_equal(write(g_waiter.fds[1], "x", 1), 1);
	stop();
}

static void test_look_at_a_thread_that_runs_says_so(void **state)
{
	struct tr2p_look look;

	(void)state;
	start(0);
	assert_int_equal(write(g_waiter.fds[1], "x", 1), 1);
	do
		look = look_now();
	while (look.state != TR2P_LOOK_RUNS);
	assert_null(look.bucket);
	stop();
}

static void test_look_at_a_thread_that_is_gone_knows_nothing(void **state)
{
	uint64_t ns;

	(void)state;
	start(0);
	assert_true(tr2p_look_cpu(g_waiter.tid, &ns));
	assert_int_equal(write(g_waiter.fds[1], "x", 1), 1);
	stop();
	while (tr2p_look_cpu(g_waiter.tid, &ns))
		continue;             /* joined is not gone */
	assert_int_equal(look_now().state, TR2P_LOOK_UNKNOWN);
	tr2p_look_end();
}

static unsigned count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

static void test_look_leaves_the_descriptors_of_the_program_alone(void **state)
{
	unsigned before;

	(void)state;
	start(0);
	before = count_descriptors();
	look_until_blocked();
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(write(g_waiter.fds[1], "x", 1), 1);     /* the looker has closed none */
	stop();
}

/* ---- modules ----------------------------------------------------------------------------------------- */

static int g_is_closed;

static void *close_module(void *handle)
{
	dlclose(handle);
	tr2_store_rlx(&g_is_closed, 1); /* relaxed: a flag by itself */
	return NULL;
}

static void test_unload_waits_for_a_walk(void **state)
{
	void *handle = dlopen("libm.so.6", RTLD_NOW);
	pthread_t thread;

	(void)state;
	assert_non_null(handle);
	assert_true(tr2p_unload_hold());
	assert_int_equal(pthread_create(&thread, NULL, close_module, handle), 0);
	usleep(10000);
	assert_false(tr2_load_rlx(&g_is_closed)); /* relaxed: a flag by itself */
	tr2p_unload_release();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(tr2p_unload_hold());
	tr2p_unload_release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_look_at_a_blocked_thread_has_its_stack_and_its_name),
		cmocka_unit_test(test_look_at_a_blocked_thread_names_its_system_call),
		cmocka_unit_test(test_calls_module_of_a_number_without_a_name_has_the_number),
		cmocka_unit_test(test_look_finds_frames_that_a_frame_pointer_keeps),
		cmocka_unit_test(test_look_at_a_thread_that_runs_says_so),
		cmocka_unit_test(test_look_at_a_thread_that_is_gone_knows_nothing),
		cmocka_unit_test(test_look_leaves_the_descriptors_of_the_program_alone),
		cmocka_unit_test(test_unload_waits_for_a_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

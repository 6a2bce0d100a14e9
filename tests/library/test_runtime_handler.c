/* SPDX-License-Identifier: MIT */
/* Calls in a signal handler: none reaches the allocator, which it may have interrupted; sums are whole. */
#include "t2test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

/* ---- the allocator, interrupted ----------------------------------------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_free(void *memory);

static __thread volatile int is_inside;            /* the thread is in the allocator, so to speak */
static __thread volatile unsigned reached;         /* and came to it again */

void *__wrap_malloc(size_t bytes)
{
	reached = reached + (unsigned)is_inside;
	return __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	reached = reached + (unsigned)is_inside;
	return __real_calloc(n, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
	reached = reached + (unsigned)is_inside;
	return __real_realloc(memory, bytes);
}

void __wrap_free(void *memory)
{
	reached = reached + (unsigned)is_inside;
	__real_free(memory);
}

/* The library's thread begins late: so it has not written yet what the handler asks to be written. */
typedef int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
create __real_pthread_create, __wrap_pthread_create;

static void *(*run_late)(void *);

static void *begin_late(void *argument)
{
	const struct timespec pause = { 0, 100000000 };

	nanosleep(&pause, NULL);
	return run_late(argument);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	run_late = run;
	return __real_pthread_create(thread, attributes, begin_late, argument);
}

/* Names enough for tables to grow, of those who print the texts. */
static void record_much(int signo)
{
	char name[32];

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		trace2_data_intmax("handler", NULL, name, signo);
	}
}

static void flush(int signo)
{
	record_much(signo);
	trace2_flush();
}

static void rotate(int signo)
{
	record_much(signo);
	trace2_rotate();
}

static void begin_cycle(int signo)
{
	record_much(signo);
	trace2_next_cycle();
	trace2_flush();
}

static void snapshot(int signo)
{
	record_much(signo);
	trace2_snapshot("handler");
}

/* -1: there is no such file */
static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

/* The handler interrupts the allocator, and leaves what has to be done to the library's thread, which does it. */
static int run_inside_allocator(void *handler)
{
	struct sigaction action = { .sa_handler = *(void (**)(int))handler };
	const struct timespec pause = { 0, 1000000 };
	const char *path = action.sa_handler == rotate ? traced_path("raw.1.tlg") : t.raw;
	off_t size;

	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	trace2_printf("before");
	trace2_flush();
	size = size_of(path);
	is_inside = 1;
	raise(SIGUSR1);
	is_inside = 0;
	while (size_of(path) <= size)
		nanosleep(&pause, NULL);
	return reached != 0;
}

/* thread  the setting says when the library's starts; NULL: none, and the process is young */
static void assert_not_in_allocator(void (*handler)(int), const char *thread)
{
	char perf[160];

	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	traced_run(&t, run_inside_allocator, &handler, (const char *const[]){ perf, thread, NULL });
	assert_string_equal(t.said, "");
	assert_int_equal(t.status, 0);
}

static void test_handler_in_the_allocator_flushes_without_allocating(void **state)
{
	(void)state;
	assert_not_in_allocator(flush, "TRACE2_RAW_THREAD=init");
}

static void test_handler_in_the_allocator_of_a_young_process_flushes_without_allocating(void **state)
{
	(void)state;
	assert_not_in_allocator(flush, NULL);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "name 499"), 1);
}

static void test_handler_in_the_allocator_rotates_without_allocating(void **state)
{
	(void)state;
	assert_not_in_allocator(rotate, "TRACE2_RAW_THREAD=init");
	assert_int_equal(raw_read(traced_path("raw.1.tlg"), &file), 0);
	assert_int_equal(file.bad_blocks, 0);
}

static void test_handler_in_the_allocator_begins_a_cycle_without_allocating(void **state)
{
	(void)state;
	assert_not_in_allocator(begin_cycle, "TRACE2_RAW_THREAD=init");
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.cycles, 2);
}

static void test_handler_in_the_allocator_takes_a_snapshot_without_allocating(void **state)
{
	(void)state;
	assert_not_in_allocator(snapshot, "TRACE2_RAW_THREAD=init");
}

/* ---- a stack of its own, no thread -------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define SKIP_IF_FRAMES_ARE_LARGER() skip()
#else
#define SKIP_IF_FRAMES_ARE_LARGER() ((void)0)
#endif

/* As large as trace2(3) asks for: MINSIGSTKSZ as it always was, and 8 KiB. */
enum { OWN_STACK = 2048 + 8192, MAPPED_STACK = 3 * 4096, GUARD = 65536 };

static void use_own_stack(void)
{
	char *memory = mmap(NULL, GUARD + MAPPED_STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + GUARD, .ss_size = OWN_STACK };

	mprotect(stack.ss_sp, MAPPED_STACK, PROT_READ | PROT_WRITE);
	sigaltstack(&stack, NULL);
}

/* The next flush in ordinary code does what the handler has asked for. */
static int run_on_own_stack_without_thread(void *handler)
{
	struct sigaction action = { .sa_handler = *(void (**)(int))handler, .sa_flags = SA_ONSTACK };
	const char *path = action.sa_handler == rotate ? traced_path("raw.1.tlg") : t.raw;
	off_t size;

	use_own_stack();
	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	trace2_printf("before");
	trace2_flush();
	size = size_of(path);
	trace2_printf("%.300f", 1e308);   /* to print this takes more of the stack than anything else */
	raise(SIGUSR1);
	trace2_flush();
	return size_of(path) <= size;
}

static void assert_own_stack_is_enough(void (*handler)(int))
{
	char perf[160], event[160];

	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s/event", t.dir);
	traced_run(&t, run_on_own_stack_without_thread, &handler,
		   (const char *const[]){ perf, event, "TRACE2_RAW_THREAD=off", NULL });
	assert_string_equal(t.said, "");
	assert_int_equal(t.status, 0);
}

static void test_handler_on_a_stack_of_its_own_without_a_thread_leaves_the_flush_to_the_next_one(void **state)
{
	(void)state;
	SKIP_IF_FRAMES_ARE_LARGER();
	assert_own_stack_is_enough(flush);
	assert_own_stack_is_enough(snapshot);
}

static void test_handler_on_a_stack_of_its_own_without_a_thread_leaves_the_rotation_to_the_next_flush(void **state)
{
	(void)state;
	SKIP_IF_FRAMES_ARE_LARGER();
	assert_own_stack_is_enough(rotate);
	assert_int_equal(raw_read(traced_path("raw.1.tlg"), &file), 0);
	assert_int_equal(file.bad_blocks, 0);
}

static void exec_something(int signo)
{
	static const char *const argv[] = { "true", NULL };

	(void)signo;
	trace2_exec("/bin/true", argv);
}

/* What is recorded has to be written when the call returns; the library's thread has the stack for that. */
static int run_exec_on_own_stack(void *data)
{
	struct sigaction action = { .sa_handler = exec_something, .sa_flags = SA_ONSTACK };
	off_t size;

	(void)data;
	use_own_stack();
	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	trace2_flush();
	size = size_of(t.raw);
	trace2_printf("%.300f", 1e308);
	raise(SIGUSR1);
	return size_of(t.raw) <= size;
}

static void test_handler_on_a_stack_of_its_own_has_all_written_before_it_execs(void **state)
{
	char perf[160];

	(void)state;
	SKIP_IF_FRAMES_ARE_LARGER();
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s/perf", t.dir);
	traced_run(&t, run_exec_on_own_stack, NULL,
		   (const char *const[]){ perf, "TRACE2_RAW_THREAD=init", NULL });
	assert_string_equal(t.said, "");
	assert_int_equal(t.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_handler_in_the_allocator_flushes_without_allocating),
		TRACED_TEST(test_handler_in_the_allocator_of_a_young_process_flushes_without_allocating),
		TRACED_TEST(test_handler_in_the_allocator_rotates_without_allocating),
		TRACED_TEST(test_handler_in_the_allocator_begins_a_cycle_without_allocating),
		TRACED_TEST(test_handler_in_the_allocator_takes_a_snapshot_without_allocating),
		TRACED_TEST(test_handler_on_a_stack_of_its_own_without_a_thread_leaves_the_flush_to_the_next_one),
		TRACED_TEST(test_handler_on_a_stack_of_its_own_without_a_thread_leaves_the_rotation_to_the_next_flush),
		TRACED_TEST(test_handler_on_a_stack_of_its_own_has_all_written_before_it_execs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * A handler that does not block its own signal, as redis, LLVM and others have for faults: code beside it starts the
 * drain's thread all the same, and the handler itself never does, wherever in the allocator it has interrupted the
 * program: each instruction of malloc() and free() is tried.  For creating a thread allocates.
 */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stepper.h"
#include "trace2.h"
#include "traced.h"

enum { FLOOD = 8000, MOST_STEPS = 4000 };

/* Of one process; shared with it. */
static struct report {
	int is_over;                      /* the allocator has been left */
	int in_handler;
	unsigned beside, inside;          /* threads that were asked for outside of the handler, and in it */
} *report;

typedef void *thread_fn(void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data)
{
	(void)thread;
	(void)attributes;
	(void)fn;
	(void)data;
	if (report->in_handler)
		report->inside++;
	else
		report->beside++;
	return EAGAIN;
}

static void *volatile memory;

static void allocate(void)
{
	memory = malloc(50000);
	free(memory);
}

/* More than makes a ring want the thread. */
static void flood(void)
{
	for (int i = 0; i < FLOOD; i++)
		trace2_data_intmax("test", NULL, "value", i);
}

static void handle(int signo)
{
	report->in_handler = 1;
	flood();
	_exit(signo == SIGSEGV ? 0 : 1);
}

static void run_stepped(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_NODEFER | (int)SA_RESETHAND };

	setenv("TRACE2_RAW_THREAD", "late", 1);
	sigaction(SIGSEGV, &action, NULL);
	trace2_initialize();
	allocate();
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(1);
	raise(SIGSTOP);
	allocate();
	report->is_over = 1;
	flood();
	_exit(0);
}

/* A process that gets the signal behind so many instructions.  Return  0: it has left the allocator before */
static int interrupt_after(int steps)
{
	int stop = SIGTRAP, status;
	pid_t process;

	*report = (struct report){ 0 };
	process = fork();
	if (!process)
		run_stepped();
	assert_int_equal(waitpid(process, &status, 0), process);
	assert_true(WIFSTOPPED(status));
	for (int i = 0; i < steps && stop == SIGTRAP && !report->is_over; i++)
		stop = stepper_step(process, 0);
	assert_int_equal(stop, SIGTRAP);
	status = !report->is_over;
	assert_int_equal(stepper_go_on(process, status ? SIGSEGV : 0), 0);
	return status;
}

static void test_handler_that_may_nest_never_starts_the_thread_in_the_allocator(void **state)
{
	int steps = 1;

	(void)state;
#ifdef TR2_IS_SANITIZED
	skip();   /* they have allocators of their own */
#endif
	report = traced_shared(sizeof(*report));
	traced_into(&t);
	for (; steps < MOST_STEPS && interrupt_after(steps); steps += 1 + steps / 100) {
		assert_int_equal(report->in_handler, 1);
		assert_int_equal(report->inside, 0);
	}
	assert_true(steps > 60 && steps < MOST_STEPS);
	assert_int_equal(report->in_handler, 0);
	assert_int_equal(report->beside, 1);   /* the last one went on to record in ordinary code */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_handler_that_may_nest_never_starts_the_thread_in_the_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

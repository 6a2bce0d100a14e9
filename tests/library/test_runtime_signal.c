/* SPDX-License-Identifier: MIT */
/* Signals that end the program: recorded, everything written out, and then they have their effect. */
#include "t2test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "printed.h"
#include "traced.h"
#include "record/tr2_reserve.h"

/* ---- an allocator that can be stuck --------------------------------------------------------------- */

static volatile int g_stuck;

void *__wrap_malloc(size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__real_calloc(size_t n, size_t bytes);

/* As if the signal had interrupted it: whoever allocates waits for what never comes. */
static void wait_for_lock(void)
{
	while (g_stuck)
		usleep(1000);
}

void *__wrap_malloc(size_t bytes)
{
	wait_for_lock();
	return __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	wait_for_lock();
	return __real_calloc(n, bytes);
}

/* ---- programs ------------------------------------------------------------------------------------- */

static void begin(void)
{
	static const int of_cmocka[] = { SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS };
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	for (size_t i = 0; i < sizeof(of_cmocka) / sizeof(of_cmocka[0]); i++)
		signal(of_cmocka[i], SIG_DFL);
	trace2_initialize();
	trace2_region_enter("test", "before", NULL);
}

/* Run a program that a signal must end; what it recorded, this signal too, must be there, in order. */
static void run_to_death(int (*program)(void *), void *data, int signo, const char *const *settings)
{
	raw_free(&file);
	unlink(t.raw);
	traced_run(&t, program, data, settings);
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), signo);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.gaps, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "before"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 0);
}

static void assert_recorded(int signo)
{
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
	assert_int_equal(file.ends, 1);
	assert_int_equal(file.end_reason, TLG_END_SIGNAL);
	assert_string_equal(printed("$expand '%s' | grep -c '| signal .*signo:%d$'", t.raw, signo), "1");
}

/* ---- which signals -------------------------------------------------------------------------------- */

static int run_caught(void *data)
{
	int signo = (int)(long)data;

	begin();
	if (trace2_catch_signal(signo))
		return 1;
	raise(signo);
	return 2;
}

static void test_signal_caught_is_recorded_and_has_its_effect(void **state)
{
	static const int fatal[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2,
		SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSYS,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
		if (fatal[i] == SIGSEGV || fatal[i] == SIGBUS || fatal[i] == SIGFPE || fatal[i] == SIGILL ||
		    fatal[i] == SIGTRAP || fatal[i] == SIGABRT)
			continue;   /* the sanitizer has a handler */
#endif
		run_to_death(run_caught, (void *)(long)fatal[i], fatal[i], NULL);
		assert_recorded(fatal[i]);
	}
}

static void own_handler(int signo)
{
	(void)signo;
}

/* How many of these are taken, though they should be left alone. */
static int run_left_alone(void *data)
{
	static const int others[] = {
		0, -1, 65, 99, SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH,
		SIGUSR1, SIGUSR2,
	};
	struct sigaction now;
	int taken = 0;

	(void)data;
	taken += !trace2_catch_signal(SIGTERM);   /* before the beginning */
	begin();
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, own_handler);
	errno = 77;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		taken += !trace2_catch_signal(others[i]);
	taken += errno != 77;
	sigaction(SIGUSR1, NULL, &now);
	taken += now.sa_handler != SIG_IGN;
	sigaction(SIGUSR2, NULL, &now);
	taken += now.sa_handler != own_handler;
	return taken;
}

static void test_signal_that_is_harmless_or_handled_is_left_alone(void **state)
{
	(void)state;
	traced_run(&t, run_left_alone, NULL, NULL);
	assert_int_equal(t.status, 0);
}

static int run_through_others(void *data)
{
	static const int others[] = { SIGCHLD, SIGURG, SIGWINCH, SIGCONT };

	(void)data;
	begin();
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		raise(others[i]);
	trace2_region_enter("test", "after", NULL);
	return 0;
}

static void test_signal_setting_that_names_a_harmless_signal_does_not_end_tracing(void **state)
{
	(void)state;
	traced_run(&t, run_through_others, NULL, (const char *const[]){ "TRACE2_SIGNALS=CHLD,URG,WINCH,CONT", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "after"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 1);
}

static int run_two_at_once(void *data)
{
	sigset_t both;

	(void)data;
	begin();
	sigemptyset(&both);
	sigaddset(&both, SIGTERM);
	sigaddset(&both, SIGINT);
	if (trace2_catch_signal(SIGTERM) || trace2_catch_signal(SIGINT) || sigprocmask(SIG_BLOCK, &both, NULL))
		return 1;
	raise(SIGTERM);
	raise(SIGINT);
	sigprocmask(SIG_UNBLOCK, &both, NULL);   /* one handler begins on top of the other */
	return 2;
}

static void test_signal_in_the_handler_of_another_ends_the_program_once(void **state)
{
	(void)state;
	traced_run(&t, run_two_at_once, NULL, NULL);
	assert_true(WIFSIGNALED(t.status));
	assert_true(WTERMSIG(t.status) == SIGTERM || WTERMSIG(t.status) == SIGINT);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_recorded(WTERMSIG(t.status));
}

/* ---- faults --------------------------------------------------------------------------------------- */

static char *volatile g_nowhere = (char *)16;

static int run_fault(void *data)
{
	(void)data;
	begin();
	trace2_catch_signal(SIGSEGV);
	return *g_nowhere;
}

static int run_fault_in_a_text(void *data)
{
	(void)data;
	begin();
	trace2_catch_signal(SIGSEGV);
	trace2_data_string("test", NULL, "text", g_nowhere);
	return 2;
}

static int run_fault_in_a_message(void *data)
{
	(void)data;
	begin();
	trace2_catch_signal(SIGSEGV);
	trace2_printf("%d %s", 1, g_nowhere);
	return 2;
}

/* Whatever the library is in the middle of. */
static void test_signal_of_a_fault_also_inside_a_call_is_recorded(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the sanitizer has a handler */
#endif
	run_to_death(run_fault, NULL, SIGSEGV, NULL);
	assert_recorded(SIGSEGV);
	run_to_death(run_fault_in_a_text, NULL, SIGSEGV, NULL);
	assert_recorded(SIGSEGV);
	run_to_death(run_fault_in_a_message, NULL, SIGSEGV, NULL);
	assert_recorded(SIGSEGV);
}

enum { STACK_BYTES = 32768 };

/* As deep as there is stack for; ends otherwise only in theory. */
static int recurse(volatile char *from, long depth)
{
	volatile char here[4096];

	here[0] = from ? from[0] : 0;
	return depth ? recurse(here, depth - 1) + here[0] : 0;
}

/* The stack is used up; the handler's own is 32 KiB, with nothing below it. */
static int run_stack_overflow(void *data)
{
	const struct rlimit stack = { 1 << 20, 1 << 20 };
	char *memory = mmap(NULL, 2 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t other = { .ss_sp = memory + STACK_BYTES, .ss_size = STACK_BYTES };

	(void)data;
	begin();
	if (memory == MAP_FAILED || mprotect(memory + STACK_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) ||
	    sigaltstack(&other, NULL) || setrlimit(RLIMIT_STACK, &stack) || trace2_catch_signal(SIGSEGV))
		return 1;
	return recurse(NULL, 1 << 24);
}

static void test_signal_of_a_stack_overflow_is_recorded_on_the_other_stack(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the sanitizer has a handler */
#endif
	run_to_death(run_stack_overflow, NULL, SIGSEGV, NULL);
	assert_recorded(SIGSEGV);
}

static volatile long g_checkpoints;

static void record_many(int signo)
{
	(void)signo;
	for (long i = 0; i < g_checkpoints; i++)
		trace2_data_intmax("test", NULL, "value", i);
}

/* Bytes of the handler's stack that this many checkpoints need, with what the kernel puts there. */
static size_t need(unsigned char *stack, long checkpoints)
{
	size_t unused = 0;

	memset(stack, 0xa5, STACK_BYTES);
	g_checkpoints = checkpoints;
	raise(SIGUSR1);
	while (unused < STACK_BYTES && stack[unused] == 0xa5)
		unused++;
	return STACK_BYTES - unused;
}

/* The ring is full time and again, and is written by the handler. */
static int run_on_small_stack(void *data)
{
	static unsigned char memory[STACK_BYTES];
	const struct sigaction action = { .sa_handler = record_many, .sa_flags = SA_ONSTACK };
	const stack_t other = { .ss_sp = memory, .ss_size = STACK_BYTES };

	(void)data;
	begin();
	if (sigaltstack(&other, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	return need(memory, 100000) - need(memory, 0) > 3072;
}

static void test_signal_handler_with_a_stack_of_8_kib_may_record(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
	skip();   /* frames are larger */
#endif
	traced_run(&t, run_on_small_stack, NULL, NULL);
	assert_int_equal(t.status, 0);
}

/* A debugger sees the fault twice, the second time on its way to end the program: the same address, the same kind. */
static void test_signal_sent_again_has_the_address_of_the_fault(void **state)
{
	siginfo_t info[2] = { { .si_signo = 0 } };
	int status, n = 0;
	pid_t pid;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the sanitizer has a handler */
#endif
	pid = fork();
	if (!pid) {
		setenv("TRACE2_RAW", t.raw, 1);
		begin();
		if (trace2_catch_signal(SIGSEGV) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		_exit(*g_nowhere);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && n < 2) {
		assert_int_equal(WSTOPSIG(status), SIGSEGV);
		assert_int_equal(ptrace(PTRACE_GETSIGINFO, pid, NULL, &info[n++]), 0);
		ptrace(PTRACE_CONT, pid, NULL, SIGSEGV);
	}
	assert_true(WIFSIGNALED(status));
	assert_int_equal(n, 2);
	assert_ptr_equal(info[0].si_addr, g_nowhere);
	assert_ptr_equal(info[1].si_addr, g_nowhere);
	assert_int_equal(info[1].si_code, info[0].si_code);
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static int run_stuck_allocator(void *data)
{
	(void)data;
	begin();
	trace2_flush();
	if (trace2_catch_signal(SIGTERM))
		return 1;
	g_stuck = 1;
	trace2_thread_start("someone new");   /* for whom a text needs memory */
	trace2_printf("%s", "the first message needs memory, too");
	raise(SIGTERM);
	return 2;
}

static void test_signal_in_the_allocator_loses_only_the_live_texts(void **state)
{
	char perf[192];

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* it has the allocator's place */
#endif
	snprintf(perf, sizeof(perf), "TRACE2_PERF=%s", traced_path("perf"));
	run_to_death(run_stuck_allocator, NULL, SIGTERM, (const char *const[]){ perf, NULL });
	assert_int_equal(raw_count(&file, TLG_STYLE_printf, NULL), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
}

static void test_signal_is_in_every_text(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();   /* it takes a signal in a call for a call in a signal */
#endif
	run_to_death(run_caught, (void *)SIGTERM, SIGTERM, (const char *const[]){ "TRACE2=2", "TRACE2_BRIEF=1", NULL });
	assert_int_equal(traced_count("signal elapsed:"), 1);
	run_to_death(run_caught, (void *)SIGTERM, SIGTERM, (const char *const[]){ "TRACE2_PERF=2", NULL });
	assert_int_equal(traced_count("signo:15\n"), 1);
	assert_int_equal(traced_count("before"), 1);
	run_to_death(run_caught, (void *)SIGTERM, SIGTERM, (const char *const[]){ "TRACE2_EVENT=2", NULL });
	assert_int_equal(traced_count("\"signo\":15}\n"), 1);
}

enum { JUMPS = 40 };

/* What a handler leaves that jumps out of a call: events that were reserved, and nothing else. */
static int run_jumps(void *data)
{
	trace2_initialize();
	for (int i = 0; i < JUMPS; i++) {
		trace2_data_intmax("test", NULL, "number", i);
		if (!tr2_reserve(2, 0))
			return 1;
	}
	(void)data;
	return 0;
}

/* The end waits for unfinished events, but not so long for each that it gives up before the last. */
static void test_signal_handlers_that_jump_lose_no_later_event(void **state)
{
	(void)state;
	traced_run(&t, run_jumps, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "number", JUMPS), 0);
	assert_int_equal(file.hits, JUMPS + 2);   /* version, atexit */
	assert_int_equal(file.lost_by[TLG_LOSS_ABANDONED], JUMPS);
	assert_int_equal(file.lost, JUMPS);
	assert_int_equal(file.gaps, 2 * JUMPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_signal_caught_is_recorded_and_has_its_effect),
		TRACED_TEST(test_signal_that_is_harmless_or_handled_is_left_alone),
		TRACED_TEST(test_signal_setting_that_names_a_harmless_signal_does_not_end_tracing),
		TRACED_TEST(test_signal_in_the_handler_of_another_ends_the_program_once),
		TRACED_TEST(test_signal_of_a_fault_also_inside_a_call_is_recorded),
		TRACED_TEST(test_signal_handler_with_a_stack_of_8_kib_may_record),
		TRACED_TEST(test_signal_of_a_stack_overflow_is_recorded_on_the_other_stack),
		TRACED_TEST(test_signal_sent_again_has_the_address_of_the_fault),
		TRACED_TEST(test_signal_in_the_allocator_loses_only_the_live_texts),
		TRACED_TEST(test_signal_is_in_every_text),
		TRACED_TEST(test_signal_handlers_that_jump_lose_no_later_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

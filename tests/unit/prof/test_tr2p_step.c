/* SPDX-License-Identifier: MIT */
/*
 * Stacks by our own steps are libgcc's, at many places: each instruction of some work (x86), handlers in handlers, on
 * other stacks, within libc; and those that libgcc does not find, of coroutines and of code without tables.
 */
#include "t2test.h"
#include "traps.h"

#include "trace2.h"

#if defined(__arm__) || defined(TRACE2_HAS_TSAN_)
int main(void)
{
	return 77;   /* libgcc itself walks there; the sanitizer keeps signals back, with contexts of its own */
}
#else
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "prof/tr2p_fde.h"
#include "prof/tr2p_guard.h"
#include "prof/tr2p_libgcc.h"
#include "prof/tr2p_regs.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

/* A function of its own, as it stands here. */
#if defined(__has_attribute) && __has_attribute(noipa)
#define APART __attribute__((noipa))
#else
#define APART __attribute__((noinline))
#endif

/* Not raise() itself, of which compilers know that it changes nothing here. */
static int (*const volatile send)(int) = raise;

static struct tally {
	unsigned compared, deepest, differ, faults;
	struct tr2p_stack ours, theirs;           /* the first that differ */
} tally;

/* ---- libgcc's ------------------------------------------------------------------------------------- */

struct theirs {
	struct tr2p_stack *stack;
	uintptr_t from;
};

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *data)
{
	struct theirs *theirs = data;
	int is_exact = 0;
	uintptr_t ip = _Unwind_GetIPInfo(context, &is_exact);

	if (theirs->from) {
		if (!is_exact || ip != theirs->from)
			return _URC_NO_REASON;
		theirs->from = 0;
	}
	if (!ip || theirs->stack->n == TR2P_FRAMES)
		return _URC_END_OF_STACK;
	theirs->stack->at[theirs->stack->n++] = is_exact ? ip : ip - 1;
	return _URC_NO_REASON;
}

static uintptr_t pc_of(const void *context)
{
	struct tr2p_regs regs;

	tr2p_regs_of_context(&regs, context);
	return regs.pc;
}

/* libgcc reads what it takes for a stack: where that is nonsense it faults, which ends its walk here. */
static sigjmp_buf behind_fault;
static volatile int is_theirs;

static void on_fault(int signal)
{
	if (is_theirs)
		siglongjmp(behind_fault, 1);
	_exit(128 + signal);
}

/* Both walk what a signal has interrupted.  libgcc cannot while it goes to a handler itself. */
static void compare(const void *context)
{
	static struct tr2p_stack ours, theirs;
	struct theirs walk = { &theirs, pc_of(context) };

	if (tr2p_is_libgcc(walk.from))
		return;
	ours.n = theirs.n = 0;
	tr2p_unwind_either(&ours, context, NULL);
	if (sigsetjmp(behind_fault, 1)) {
		is_theirs = 0;
		tally.faults++;
		return;
	}
	is_theirs = 1;
	_Unwind_Backtrace(take, &walk);
	is_theirs = 0;
	tally.compared++;
	tally.deepest = ours.n > tally.deepest ? ours.n : tally.deepest;
	if (ours.n == theirs.n && !memcmp(ours.at, theirs.at, ours.n * sizeof(ours.at[0])))
		return;
	if (!tally.differ++) {
		tally.ours = ours;
		tally.theirs = theirs;
	}
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	compare(context);
}

static void catch(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	assert_int_equal(sigaction(signal, &action, NULL), 0);
}

/* Other stacks than the thread's own can be read.  qemu-user has no such call. */
static void need_guard(void)
{
	const int some = 1;
	int copy = 0;

	if (!tr2p_guard_copy(&copy, (uintptr_t)&some, sizeof(copy)))
		skip();
}

static void begin(void)
{
	memset(&tally, 0, sizeof(tally));
	signal(SIGSEGV, on_fault);
}

static void show(const char *whose, const struct tr2p_stack *stack)
{
	for (unsigned i = 0; i < stack->n; i++)
		print_message("%s %u: %lx\n", whose, i, (unsigned long)stack->at[i]);
}

static void end(unsigned compared, unsigned deepest)
{
	if (tally.differ) {
		show("ours", &tally.ours);
		show("libgcc's", &tally.theirs);
	}
	assert_int_equal(tally.differ, 0);
	assert_true(tally.compared >= compared);
	assert_true(tally.deepest >= deepest);
}

/* ---- work ----------------------------------------------------------------------------------------- */

static volatile unsigned sink;

static APART int order(const void *a, const void *b)
{
	sink++;
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static APART unsigned recurse(unsigned n)
{
	volatile char some[24];

	some[0] = (char)n;
	if (n == 6)
		send(SIGUSR1);
	return n ? recurse(n - 1) + (unsigned)some[0] : sink;
}

/* A frame whose size is known when it runs, which needs a frame pointer. */
static APART void take_some(size_t n)
{
	volatile char *some = __builtin_alloca(n);

	some[0] = 1;
	send(SIGUSR1);
	some[n - 1] = some[0];
}

/* Its stack is realigned, which needs expressions. */
static APART void realign(unsigned n)
{
	volatile char some[100] __attribute__((aligned(64)));

	some[n % 100] = (char)n;
	recurse(3 + (unsigned)some[n % 100] % 2);
	take_some(100 + n);
}

static void work(void)
{
	int numbers[] = { 5, 3, 9, 1, 7 };
	char text[40];
	time_t now = 86400;
	struct tm tm;

	qsort(numbers, 5, sizeof(numbers[0]), order);
	snprintf(text, sizeof(text), "%d %.3f %s", numbers[0], 3.25, "text");
	free(malloc(100));
	gmtime_r(&now, &tm);
	recurse(8);
	realign(17);
	sink += (unsigned)strtol(text, NULL, 10) + (unsigned)getppid();
}

/* ---- tests ---------------------------------------------------------------------------------------- */

static int raise_and_order(const void *a, const void *b)
{
	send(SIGUSR1);
	return order(a, b);
}

static void test_step_in_handlers_agrees_with_libgcc(void **state)
{
	int numbers[] = { 5, 3, 9, 1, 7, 8, 2, 4 };

	(void)state;
	begin();
	catch(SIGUSR1, on_signal, 0);
	qsort(numbers, 8, sizeof(numbers[0]), raise_and_order);
	work();
	for (unsigned i = 0; i < 8; i++)
		take_some(1 + i * 33);
	end(20, 10);
}

static void raise_another(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	recurse(7);
}

/* A stack on the signal's own stack, behind it the thread's. */
static void test_step_over_frames_of_signals_agrees_with_libgcc(void **state)
{
	stack_t other = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 }, before;

	(void)state;
	need_guard();
	begin();
	assert_int_equal(sigaltstack(&other, &before), 0);
	catch(SIGUSR1, on_signal, SA_ONSTACK);
	catch(SIGUSR2, raise_another, SA_ONSTACK);
	send(SIGUSR2);
	catch(SIGUSR2, raise_another, 0);
	send(SIGUSR2);
	assert_int_equal(sigaltstack(&before, NULL), 0);
	free(other.ss_sp);
	end(2, 8);
}

#if defined(__x86_64__) || defined(__i386__)
static void ignore(int signal)
{
	(void)signal;
}

/* Prologues, epilogues, entries of linkage tables, libc, the loader that resolves names, the way out of a handler. */
static void test_step_at_each_instruction_agrees_with_libgcc(void **state)
{
	(void)state;
	begin();
	catch(SIGTRAP, on_signal, 0);
	signal(SIGUSR1, ignore);
	traps_set(1);
	work();
	traps_set(0);
	end(2000, 8);
}

/* The last one ends the traps: a thread that ends blocks them, and a trap that is blocked is the end of all. */
static void tidy_up(void *data)
{
	sink++;
	if (data)
		traps_set(0);
}

/* Frames are left one after the other by libgcc, which runs what tidies up. */
static APART void leave(unsigned n, void *is_last)
{
	pthread_cleanup_push(tidy_up, is_last);
	if (!n) {
		traps_set(1);
		pthread_exit(NULL);
	}
	if (n)
		leave(n - 1, NULL);
	pthread_cleanup_pop(1);
}

static void *leave_thread(void *data)
{
	leave(4, &tally);
	return data;
}

static void test_step_while_a_thread_is_unwound_agrees_with_libgcc(void **state)
{
	pthread_t thread;

	(void)state;
	begin();
	catch(SIGTRAP, on_signal, 0);
	assert_int_equal(pthread_create(&thread, NULL, leave_thread, NULL), 0);
	pthread_join(thread, NULL);
	end(2000, 8);
}
#endif

/* ---- what libgcc does not find --------------------------------------------------------------------- */

static struct tr2p_stack found;

static void note(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	tr2p_unwind_either(&found, context, NULL);
}

static unsigned count_between(uintptr_t start, size_t bytes)
{
	unsigned n = 0;

	for (unsigned i = 0; i < found.n; i++)
		n += found.at[i] - start < bytes;
	return n;
}

/* How many frames are those of a function: its table says how long it is. */
#define count_in(function) count_of((uintptr_t)(function))
static unsigned count_of(uintptr_t function)
{
	struct tr2p_fde fde;

	assert_true(tr2p_fde_find(&fde, function, 0));
	return count_between(fde.start, fde.size);
}

static ucontext_t outside, inside;

static APART void be_coroutine(void)
{
	recurse(8);
	sink++;
}

static void test_step_in_a_coroutine_finds_its_frames(void **state)
{
	enum { BYTES = 1 << 16 };
	char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
#ifdef TR2_IS_SANITIZED   /* sanitizers do not know of stacks that a program makes */
	skip();
#endif
	need_guard();
	assert_ptr_not_equal(stack, MAP_FAILED);
	found.n = 0;
	catch(SIGUSR1, note, 0);
	assert_int_equal(getcontext(&inside), 0);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, be_coroutine, 0);
	assert_int_equal(swapcontext(&outside, &inside), 0);
	assert_int_not_equal(count_in(recurse), 0);
	assert_int_equal(count_in(be_coroutine), 1);
	munmap(stack, BYTES);
}

#ifdef TR2P_HAS_FRAME_POINTERS
static APART void be_called(void)
{
	send(SIGUSR1);
	sink++;
}

typedef void call(void (*)(void));

/* Of a compiler at run time: it keeps a frame pointer, and calls what it is given. */
#if defined(__x86_64__)
static const unsigned char made[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#elif defined(__i386__)
static const unsigned char made[] = { 0x55, 0x89, 0xe5, 0x83, 0xec, 0x08, 0xff, 0x55, 0x08, 0xc9, 0xc3 };
#else
static const uint32_t made[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#endif

static APART void call_made(call *code)
{
	code(be_called);
	sink++;
}

/* frames: how many of them the code has. */
static APART void step_through(const void *bytes, size_t size, unsigned frames)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	call *function;

	need_guard();
	assert_ptr_not_equal(code, MAP_FAILED);
	memcpy(code, bytes, size);
	__builtin___clear_cache((char *)code, (char *)code + size);
	memcpy(&function, &code, sizeof(function));
	found.n = 0;
	catch(SIGUSR1, note, 0);
	call_made(function);
	assert_int_equal(count_in(be_called), 1);
	assert_int_equal(count_between((uintptr_t)code, size), frames);
	assert_int_equal(count_in(call_made), 1);
	assert_int_not_equal(count_in(step_through), 0);
	munmap(code, 4096);
}

static void test_step_through_code_without_tables_goes_by_frame_pointers(void **state)
{
	(void)state;
	step_through(made, sizeof(made), 1);
}

#ifndef __i386__
/*
 * Of an interpreter, which jumps to a function of its own that calls what it is given: so in front of the place where
 * that function returns to there is no call.
 */
#ifdef __x86_64__
static const unsigned char jumping[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0x03, 0, 0, 0, 0x50, 0xeb, 0x02, 0x5d, 0xc3,
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3
};
#else
static const uint32_t jumping[] = {
	0xa9bf7bfd, 0x910003fd, 0x1000005e, 0x14000003, 0xa8c17bfd, 0xd65f03c0,
	0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0
};
#endif

static void test_step_to_a_return_without_a_call_needs_a_chain_that_leads_to_one(void **state)
{
	(void)state;
	step_through(jumping, sizeof(jumping), 2);
}
#endif
#endif

static int setup(void **state)
{
	(void)state;
	tr2p_thread_begin();
	tr2p_unwind_init(0, 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step_in_handlers_agrees_with_libgcc),
		cmocka_unit_test(test_step_over_frames_of_signals_agrees_with_libgcc),
#if defined(__x86_64__) || defined(__i386__)
		cmocka_unit_test(test_step_at_each_instruction_agrees_with_libgcc),
		cmocka_unit_test(test_step_while_a_thread_is_unwound_agrees_with_libgcc),
#endif
		cmocka_unit_test(test_step_in_a_coroutine_finds_its_frames),
#ifdef TR2P_HAS_FRAME_POINTERS
		cmocka_unit_test(test_step_through_code_without_tables_goes_by_frame_pointers),
#ifndef __i386__
		cmocka_unit_test(test_step_to_a_return_without_a_call_needs_a_chain_that_leads_to_one),
#endif
#endif
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
#endif

/* SPDX-License-Identifier: MIT */
/*
 * The walk through code that no table knows, made at run time or written in assembler: at each of its instructions the
 * caller is found (x86), and a stack of more functions than it may have says so.
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
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "prof/tr2p_guard.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

static volatile unsigned sink;

#if defined(__x86_64__) || defined(__i386__)
/* Of a compiler at run time: it keeps a frame pointer, and calls what it is given. */
#ifdef __x86_64__
static const unsigned char made[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
enum { INSTRUCTIONS = 5 };
#else
static const unsigned char made[] = { 0x55, 0x89, 0xe5, 0x83, 0xec, 0x08, 0xff, 0x55, 0x08, 0xc9, 0xc3 };
enum { INSTRUCTIONS = 6 };
#endif

typedef void call(void (*)(void));

static struct {
	uintptr_t code, caller;
	size_t bytes;
	unsigned n, without_caller;           /* stacks that begin there; those that miss who has called it */
} stepped;

static __attribute__((noinline)) void be_called(void)
{
	sink++;
}

static __attribute__((noinline)) void call_made(call *code)
{
	code(be_called);
	sink++;
}

/* Its table needs the frame pointer, for its stack has no fixed size. */
static __attribute__((noinline)) void call_by_frame(call *code)
{
	volatile char *room = __builtin_alloca(sink % 64 + 16);

	*room = 1;
	code(be_called);
	sink++;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	enum { FUNCTION = 128 };              /* bytes of a caller at most */
	static struct tr2p_stack stack;

	(void)signal, (void)info;
	tr2p_unwind_either(&stack, context, NULL);
	if (!stack.n || stack.at[0] - stepped.code >= stepped.bytes)
		return;
	stepped.n++;
	stepped.without_caller += stack.n < 3 || stack.at[1] - stepped.caller >= FUNCTION ||
				  stack.at[2] == stack.at[1];
}

static void test_made_code_has_its_caller_at_each_instruction(void **state)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int some = 1;
	call *function;
	int copy = 0;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	if (!tr2p_guard_copy(&copy, (uintptr_t)&some, sizeof(copy)))
		skip();                       /* qemu-user cannot copy memory */
	memcpy(code, made, sizeof(made));
	memcpy(&function, &code, sizeof(function));
	stepped.code = (uintptr_t)code;
	stepped.caller = (uintptr_t)call_made;
	stepped.bytes = sizeof(made);
	stepped.n = stepped.without_caller = 0;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	traps_set(1);
	call_made(function);
	traps_set(0);
	assert_int_equal(stepped.n, INSTRUCTIONS);
	assert_int_equal(stepped.without_caller, 0);
	munmap(code, 4096);
}

#ifdef __x86_64__
/*
 * As codecs have it: without directives for unwind tables.  It saves registers, uses the frame pointer for data, and
 * has a variable with an address of code in it, to which nothing returns.
 */
__asm__(".pushsection .text\n"
	".type untabled, @function\n"
	"untabled:\n"
	"	pushq %rbx\n"
	"	pushq %rbp\n"
	"	subq $24, %rsp\n"
	"	leaq untabled(%rip), %rbx\n"
	"	movq %rbx, 8(%rsp)\n"
	"	leaq 16(%rsp), %rbp\n"
	"	movl $1, %ebp\n"
	"	addq $24, %rsp\n"
	"	popq %rbp\n"
	"	popq %rbx\n"
	"	ret\n"
	"untabled_end:\n"
	".size untabled, . - untabled\n"
	".popsection\n");
enum { UNTABLED_INSTRUCTIONS = 11 };
void untabled(void (*)(void));
extern const unsigned char untabled_end[];

static void step_through_untabled(void (*caller)(call *))
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	stepped.caller = (uintptr_t)caller;
	stepped.code = (uintptr_t)untabled;
	stepped.bytes = (uintptr_t)untabled_end - stepped.code;
	stepped.n = stepped.without_caller = 0;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	traps_set(1);
	caller(untabled);
	traps_set(0);
	assert_int_equal(stepped.n, UNTABLED_INSTRUCTIONS);
	assert_int_equal(stepped.without_caller, 0);
}

static void test_untabled_code_of_a_module_has_its_caller_at_each_instruction(void **state)
{
	(void)state;
	step_through_untabled(call_made);
}

static void test_untabled_code_has_its_caller_though_that_needs_the_frame_pointer(void **state)
{
	(void)state;
	step_through_untabled(call_by_frame);
}
#endif
#endif

/* ---- how deep ----------------------------------------------------------------------------------- */

static struct tr2p_stack taken;

static __attribute__((noinline)) void go_down(unsigned n)
{
	if (n)
		go_down(n - 1);
	else
		tr2p_unwind(&taken, 0);
	sink++;
}

/* Return  where the walk is cut; UINT_MAX: nowhere */
static unsigned cut_at(unsigned frames, unsigned deep)
{
	unsigned i = 0;

	tr2p_unwind_init(TR2P_BY_BOTH, frames);
	go_down(deep);
	while (i < taken.n && taken.at[i] != TR2P_CUT)
		i++;
	return i < taken.n ? i : ~0u;
}

static void test_made_stack_of_too_many_functions_ends_with_the_mark(void **state)
{
	unsigned whole;

	(void)state;
	assert_int_equal(cut_at(TR2P_FRAMES_MAX, 5), ~0u);
	whole = taken.n;
	assert_int_equal(cut_at(whole, 5), ~0u);
	assert_int_equal(taken.n, whole);
	assert_int_equal(cut_at(whole - 1, 5), whole - 1);
	assert_int_equal(taken.n, whole);
	assert_int_equal(cut_at(1, 5), 1);
	assert_int_equal(cut_at(TR2P_FRAMES_MAX, 500), TR2P_FRAMES_MAX);
	assert_int_equal(taken.n, TR2P_STACK_MAX);
}

static void test_made_stack_from_a_caller_keeps_its_mark(void **state)
{
	struct tr2p_stack stack;

	(void)state;
	tr2p_unwind_init(TR2P_BY_BOTH, 2);
	tr2p_unwind_from(&stack, __builtin_return_address(0));
	assert_true(stack.n >= 2 && stack.n <= 3);
	assert_int_equal(stack.at[stack.n - 1], TR2P_CUT);
	assert_int_equal(stack.at[0], tr2p_call_of(__builtin_return_address(0)));
}

static int setup(void **state)
{
	(void)state;
	tr2p_thread_begin();
	tr2p_unwind_init(TR2P_BY_BOTH, 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__) || defined(__i386__)
		cmocka_unit_test(test_made_code_has_its_caller_at_each_instruction),
#endif
#ifdef __x86_64__
		cmocka_unit_test(test_untabled_code_of_a_module_has_its_caller_at_each_instruction),
		cmocka_unit_test(test_untabled_code_has_its_caller_though_that_needs_the_frame_pointer),
#endif
		cmocka_unit_test(test_made_stack_of_too_many_functions_ends_with_the_mark),
		cmocka_unit_test(test_made_stack_from_a_caller_keeps_its_mark),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
#endif

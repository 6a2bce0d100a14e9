/* SPDX-License-Identifier: MIT */
/* Stacks that are damaged, of nobody, or without an end are walked without a fault, and in bounded steps. */
#include "t2test.h"

#ifdef __arm__
int main(void)
{
	return 77;   /* libgcc walks there, without a guard */
}
#else
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "prof/tr2p_guard.h"
#include "prof/tr2p_regs.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

enum { PAGE = 4096, ROUNDS = 20000, WORDS = 200 };

/* Not raise() itself, of which compilers know that it changes nothing here. */
static int (*const volatile send)(int) = raise;

/* Three pages, that in the middle can be used. */
static char *island;

static uint32_t random_state = 1;

static uint32_t draw(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

/* What a register or a word of a stack should not be. */
static uintptr_t draw_nonsense(uintptr_t near)
{
	switch (draw(12)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return UINTPTR_MAX - draw(16);
	case 3: return (uintptr_t)island + PAGE + draw(PAGE);
	case 4: return (uintptr_t)island + draw(PAGE);
	case 5: return (uintptr_t)island + 2 * PAGE - draw(64);
	case 6: return (uintptr_t)UINT64_C(0x8000000000000000) >> draw(20);
	case 7: return tr2p_g_thread.stack_high - draw(64);
	case 8: return tr2p_g_thread.stack_low + draw(64);
	case 9: return near - draw(4096);
	case 10: return near + draw(4096) / sizeof(near) * sizeof(near);
	default: return (uintptr_t)draw_nonsense + draw(256);   /* in code */
	}
}

/* ---- registers in a context ------------------------------------------------------------------------- */

static void set_registers(ucontext_t *context, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	mcontext_t *m = &context->uc_mcontext;

#if defined(__x86_64__)
	m->gregs[REG_RIP] = (greg_t)pc;
	m->gregs[REG_RSP] = (greg_t)sp;
	m->gregs[REG_RBP] = (greg_t)fp;
#elif defined(__i386__)
	m->gregs[REG_EIP] = (greg_t)pc;
	m->gregs[REG_ESP] = (greg_t)sp;
	m->gregs[REG_EBP] = (greg_t)fp;
#elif defined(__aarch64__)
	m->pc = pc;
	m->sp = sp;
	m->regs[29] = m->regs[30] = fp;
#elif defined(__s390x__)
	m->psw.addr = pc;
	m->gregs[15] = sp;
	m->gregs[11] = m->gregs[14] = fp;
#endif
}

/* ---- damage --------------------------------------------------------------------------------------- */

static unsigned walks, frames;

static void walk(const ucontext_t *context)
{
	static struct tr2p_stack stack;

	tr2p_unwind_either(&stack, context, NULL);
	walks++;
	frames += stack.n;
	if (stack.n > TR2P_FRAMES)
		_exit(3);
}

/* Some words above the stack pointer, for as long as they are walked; a sanitizer may have its own there. */
__attribute__((no_sanitize("address"))) static void walk_damaged(const ucontext_t *context, uintptr_t sp)
{
	volatile uintptr_t *words = (volatile uintptr_t *)sp;
	uintptr_t before[WORDS];

	for (unsigned i = 0; i < WORDS; i++)
		before[i] = words[i];
	for (unsigned i = draw(20); i; i--)
		words[draw(WORDS)] = draw_nonsense(sp);
	walk(context);
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = before[i];
}

static void damage(int signal, siginfo_t *info, void *data)
{
	ucontext_t context = *(ucontext_t *)data;
	struct tr2p_regs regs;

	(void)signal, (void)info;
	tr2p_regs_of_context(&regs, data);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uintptr_t sp = regs.at[TR2P_SP];
		if (draw(2))
			walk_damaged(data, sp);
		set_registers(&context, draw(3) ? regs.pc : draw_nonsense(regs.pc), draw(3) ? sp : draw_nonsense(sp),
			      draw(3) ? regs.at[TR2P_FP] : draw_nonsense(sp));
		walk_damaged(&context, sp);
	}
}

static __attribute__((noinline)) unsigned descend(unsigned n)
{
	volatile char some[40];

	some[n % 40] = (char)n;
	if (!n)
		send(SIGUSR1);
	return n ? descend(n - 1) + (unsigned)some[0] : 0;
}

static void try_all(void)
{
	struct sigaction action = { .sa_sigaction = damage, .sa_flags = SA_SIGINFO };

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	walks = frames = 0;
	alarm(300);
	descend(30);
	alarm(0);
	assert_true(walks >= ROUNDS);
	assert_true(frames > walks / 2);
}

static void test_damaged_stack_is_walked_without_a_fault(void **state)
{
	(void)state;
	try_all();
}

/* Nothing may be read directly, then. */
static void test_damaged_stack_without_known_bounds_is_walked_without_a_fault(void **state)
{
	const uintptr_t high = tr2p_g_thread.stack_high;

	(void)state;
	tr2p_g_thread.stack_high = 0;
	try_all();
	tr2p_g_thread.stack_high = high;
}

static void test_damaged_frame_pointers_are_followed_without_a_fault(void **state)
{
	(void)state;
	tr2p_unwind_init(1, 0);
	try_all();
	tr2p_unwind_init(0, 0);
}

#ifdef TR2P_HAS_FRAME_POINTERS
static void test_frames_in_a_circle_end(void **state)
{
	volatile uintptr_t frame[4] = {
		(uintptr_t)&frame[2], (uintptr_t)try_all, (uintptr_t)&frame[0], (uintptr_t)try_all
	};
	struct tr2p_stack stack;
	ucontext_t context;

	(void)state;
	memset(&context, 0, sizeof(context));
	set_registers(&context, (uintptr_t)try_all, (uintptr_t)&frame[0], (uintptr_t)&frame[0]);
	tr2p_unwind_init(1, 0);
	tr2p_unwind_either(&stack, &context, NULL);
	tr2p_unwind_init(0, 0);
	assert_int_equal(stack.n, 3);
}
#endif

/* ---- the guard ------------------------------------------------------------------------------------ */

static void test_guard_reads_what_is_there_and_nothing_else(void **state)
{
	uintptr_t own = 77, word = 0, *last = (uintptr_t *)(void *)(island + 2 * PAGE - sizeof(word));
	struct tr2p_guard guard;

	(void)state;
	tr2p_guard_begin(&guard, (uintptr_t)&own);
	assert_true(tr2p_guard_word(&guard, (uintptr_t)&own, &word));
	assert_int_equal(word, 77);
	if (!tr2p_guard_copy(&word, (uintptr_t)&own, sizeof(word)))
		skip();   /* qemu-user has no such call */
	*last = 78;
	assert_true(tr2p_guard_word(&guard, (uintptr_t)last, &word));
	assert_int_equal(word, 78);
	assert_true(tr2p_guard_word(&guard, (uintptr_t)(last - 3), &word));
	assert_false(tr2p_guard_word(&guard, (uintptr_t)last + 1, &word));
	assert_false(tr2p_guard_word(&guard, (uintptr_t)(last + 1), &word));
	assert_false(tr2p_guard_word(&guard, (uintptr_t)(island + PAGE) - sizeof(word), &word));
	assert_true(tr2p_guard_word(&guard, (uintptr_t)(island + PAGE), &word));
	assert_false(tr2p_guard_word(&guard, 0, &word));
	assert_false(tr2p_guard_word(&guard, UINTPTR_MAX - sizeof(word) + 1, &word));
	assert_false(tr2p_guard_is_own(&guard, tr2p_g_thread.stack_high));
}

static int setup(void **state)
{
	(void)state;
	tr2p_thread_begin();
	tr2p_unwind_init(0, 0);
	island = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return island == MAP_FAILED || mprotect(island + PAGE, PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_stack_is_walked_without_a_fault),
		cmocka_unit_test(test_damaged_stack_without_known_bounds_is_walked_without_a_fault),
		cmocka_unit_test(test_damaged_frame_pointers_are_followed_without_a_fault),
#ifdef TR2P_HAS_FRAME_POINTERS
		cmocka_unit_test(test_frames_in_a_circle_end),
#endif
		cmocka_unit_test(test_guard_reads_what_is_there_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
#endif

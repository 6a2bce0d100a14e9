/* SPDX-License-Identifier: MIT */
/*
 * Stacks where a sandbox refuses to copy memory (process_vm_readv()): coroutines and made code are walked all the same,
 * and nothing is read that could be gone.
 */
#include "t2test.h"

#include "trace2.h"

#if !(defined(__x86_64__) || defined(__aarch64__)) || defined(TRACE2_HAS_TSAN_)
int main(void)
{
	return 77;   /* other machines' code is not at hand here; the sanitizer keeps signals back */
}
#else
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "refusing.h"
#include "prof/tr2p_guard.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

enum { PAGE = 65536, FUNCTION = 128 };    /* a page on any machine; bytes of a function here at most */

static volatile unsigned sink;
static struct tr2p_stack found;
static ucontext_t outside, inside;

/* n pages; those of the bits in holes cannot be read */
static char *make_pages(unsigned n, unsigned holes, int prot)
{
	char *pages = mmap(NULL, n * (size_t)PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	for (unsigned i = 0; i < n; i++)
		if (holes >> i & 1)
			assert_int_equal(mprotect(pages + i * (size_t)PAGE, PAGE, PROT_NONE), 0);
	return pages;
}

/* ---- what is read -------------------------------------------------------------------------------- */

static void test_refused_guard_reads_a_stack_up_to_its_first_hole(void **state)
{
	char *pages = make_pages(4, 1 << 2, PROT_READ | PROT_WRITE);
	const uintptr_t at = (uintptr_t)pages;
	struct tr2p_guard guard;
	uintptr_t word = 1;

	(void)state;
	tr2p_guard_begin(&guard, at + 64);
	assert_int_equal(tr2p_guard_word(&guard, at + 64, &word), 1);
	assert_int_equal(word, 0);
	assert_int_equal(tr2p_guard_word(&guard, at + 2 * PAGE - sizeof(word), &word), 1);
	assert_int_equal(tr2p_guard_word(&guard, at + 2 * PAGE, &word), 0);
	assert_int_equal(tr2p_guard_word(&guard, at + 3 * PAGE, &word), 0);
	assert_int_equal(tr2p_guard_word(&guard, at + 56, &word), 0);
	assert_int_equal(tr2p_guard_word(&guard, at + 65, &word), 0);
	assert_int_equal(tr2p_guard_word(&guard, UINTPTR_MAX - 7, &word), 0);
	/* a stack pointer that points nowhere */
	tr2p_guard_begin(&guard, at + 2 * PAGE + 64);
	assert_int_equal(tr2p_guard_word(&guard, at + 2 * PAGE + 64, &word), 0);
	assert_int_equal(tr2p_guard_word(&guard, at + 3 * PAGE, &word), 0);
	/* and the stack of another thread, which may end */
	tr2p_guard_begin_other(&guard);
	assert_int_equal(tr2p_guard_word(&guard, at + 64, &word), 0);
	munmap(pages, 4 * (size_t)PAGE);
}

static void test_refused_guard_asks_for_pages_and_keeps_errno(void **state)
{
	char *pages = make_pages(2, 1 << 1, PROT_READ | PROT_WRITE);
	sigset_t before, after;               /* the kernel fills in 8 bytes of them */

	(void)state;
	sigprocmask(SIG_SETMASK, NULL, &before);
	memset(pages, 0xff, PAGE);                           /* a set of all signals: it must not become the mask */
	errno = 7;
	assert_int_equal(tr2p_guard_is_there((uintptr_t)pages), 1);
	assert_int_equal(tr2p_guard_is_there((uintptr_t)pages + PAGE - 1), 1);
	assert_int_equal(tr2p_guard_is_there((uintptr_t)pages + PAGE), 0);
	{
		const uintptr_t down[] = { (uintptr_t)pages + 9, (uintptr_t)pages, (uintptr_t)pages + PAGE,
					   (uintptr_t)pages };
		assert_int_equal(tr2p_guard_reach(down, 2), 2);
		assert_int_equal(tr2p_guard_reach(down, 4), 2);
	}
	assert_int_equal(tr2p_guard_is_there(0), 0);
	assert_int_equal(tr2p_guard_is_there(UINTPTR_MAX), 0);
	assert_int_equal(errno, 7);
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&before, &after, 8);
	munmap(pages, 2 * (size_t)PAGE);
}

static void test_refused_guard_copies_code_of_modules_only(void **state)
{
	char *pages = make_pages(1, 0, PROT_READ | PROT_WRITE);
	unsigned char code[8];

	(void)state;
	assert_int_equal(tr2p_guard_copy(code, (uintptr_t)make_pages, sizeof(code)), 1);
	assert_memory_equal(code, (const void *)(uintptr_t)make_pages, sizeof(code));
	assert_int_equal(tr2p_guard_copy(code, (uintptr_t)pages, sizeof(code)), 0);
	assert_int_equal(tr2p_guard_copy(code, 16, sizeof(code)), 0);
	assert_int_equal(tr2p_guard_copy(code, UINTPTR_MAX - 2, sizeof(code)), 0);
	munmap(pages, PAGE);
}

/* ---- walks --------------------------------------------------------------------------------------- */

/* Of a compiler at run time: it keeps a frame pointer, and calls what it is given. */
#ifdef __x86_64__
static const unsigned char made[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
static const uint32_t made[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#endif
typedef void call(void (*)(void));
static call *function;

static void note(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	tr2p_unwind_either(&found, context, NULL);
}

static __attribute__((noinline)) void be_called(void)
{
	raise(SIGUSR1);
	sink++;
}

static __attribute__((noinline)) void call_made(void)
{
	function(be_called);
	sink++;
}

static void be_coroutine(void)
{
	call_made();
	sink++;
}

static int has(const void *code, size_t bytes)
{
	for (unsigned i = 0; i < found.n; i++)
		if (found.at[i] - (uintptr_t)code < bytes)
			return 1;
	return 0;
}

static int has_function(void (*code)(void))
{
	return has((const void *)(uintptr_t)code, FUNCTION);
}

static void make_function(void)
{
	char *code = make_pages(1, 0, PROT_READ | PROT_WRITE | PROT_EXEC);

	memcpy(code, made, sizeof(made));
	__builtin___clear_cache(code, code + sizeof(made));
	memcpy(&function, &code, sizeof(function));
}

static void test_refused_walk_goes_through_made_code(void **state)
{
	(void)state;
	found.n = 0;
	call_made();
	assert_true(has_function(be_called));
	assert_true(has((const void *)(uintptr_t)function, sizeof(made)));
	assert_true(has_function(call_made));
	assert_true(has((const void *)(uintptr_t)test_refused_walk_goes_through_made_code, 512));
}

static void test_refused_walk_goes_through_a_coroutine(void **state)
{
	char *pages = make_pages(3, 1 | 1 << 2, PROT_READ | PROT_WRITE);

	(void)state;
#ifdef TR2_IS_SANITIZED   /* sanitizers do not know of stacks that a program makes */
	skip();
#endif
	found.n = 0;
	assert_int_equal(getcontext(&inside), 0);
	inside.uc_stack.ss_sp = pages + PAGE;
	inside.uc_stack.ss_size = PAGE;
	inside.uc_link = &outside;
	makecontext(&inside, be_coroutine, 0);
	assert_int_equal(swapcontext(&outside, &inside), 0);
	assert_true(has_function(be_called));
	assert_true(has((const void *)(uintptr_t)function, sizeof(made)));
	assert_true(has_function(call_made));
	assert_true(has_function(be_coroutine));
	munmap(pages, 3 * (size_t)PAGE);
}

static int setup(void **state)
{
	struct sigaction action = { .sa_sigaction = note, .sa_flags = SA_SIGINFO };
	unsigned char byte;

	(void)state;
	tr2p_thread_begin();
	tr2p_unwind_init(TR2P_BY_BOTH, TR2P_FRAMES_MAX);
	make_function();
	tr2p_guard_copy(&byte, (uintptr_t)function, 1);      /* it is refused here, once for all */
	return !tr2p_guard_is_refused() || sigaction(SIGUSR1, &action, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_guard_reads_a_stack_up_to_its_first_hole),
		cmocka_unit_test(test_refused_guard_asks_for_pages_and_keeps_errno),
		cmocka_unit_test(test_refused_guard_copies_code_of_modules_only),
		cmocka_unit_test(test_refused_walk_goes_through_made_code),
		cmocka_unit_test(test_refused_walk_goes_through_a_coroutine),
	};

	if (!refuse_call(SYS_process_vm_readv))
		return 77;
	return cmocka_run_group_tests(tests, setup, NULL);
}
#endif

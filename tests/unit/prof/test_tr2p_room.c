/* SPDX-License-Identifier: MIT */
/* How much room a handler has: on a signal stack, on the thread's own, on one that nobody knows. */
#include "t2test.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "prof/tr2p_guard.h"
#include "prof/tr2p_room.h"
#include "prof/tr2p_thread.h"

enum { PAGE = 4096, BYTES = 32 * PAGE, OURS = 1500 };

/* Not raise() itself, of which compilers know that it changes nothing here. */
static int (*const volatile send)(int) = raise;

static unsigned seen[3], wrong;
static char *stack;

static void judge(enum tr2p_room room, size_t left)
{
	const enum tr2p_room right = left < TR2P_DEEPEST ? TR2P_ROOM_NONE :
				     left < 2 * TR2P_DEEPEST ? TR2P_ROOM_LITTLE : TR2P_ROOM_ENOUGH;

	seen[room]++;
	wrong += room != right;
}

static void assert_all_seen(void)
{
	assert_int_equal(wrong, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_not_equal(seen[i], 0);
	memset(seen, 0, sizeof(seen));
}

/* As if the stack, whose bounds are known, began so far below. */
static void look_at_bounds(int signal, siginfo_t *info, void *data)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	const struct tr2p_thread before = *thread;
	ucontext_t *context = data;
	const stack_t other = context->uc_stack;

	(void)signal, (void)info;
	for (size_t left = 0; left < 3 * TR2P_DEEPEST; left += 64) {
		thread->stack_low = (uintptr_t)context - left;
		thread->stack_high = (uintptr_t)context + 65536;
		judge(tr2p_room(context), left);
		thread->stack_high = 0;
		context->uc_stack.ss_sp = (char *)context - left;
		context->uc_stack.ss_size = left + 65536;
		judge(tr2p_room(context), left);
		context->uc_stack = other;
	}
	*thread = before;
}

/* As if a page that cannot be read were there, or, each second time, the next one. */
static void look_at_pages(int signal, siginfo_t *info, void *context)
{
	static unsigned times;
	const uintptr_t end = ((uintptr_t)context - OURS - times++ % 2 * PAGE) & ~(uintptr_t)(PAGE - 1);

	(void)signal, (void)info;
	if (mprotect(stack, end - (uintptr_t)stack, PROT_NONE))
		return;
	judge(tr2p_room(context), (uintptr_t)context - end);
	mprotect(stack, end - (uintptr_t)stack, PROT_READ | PROT_WRITE);
}

static void catch(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

static void test_room_of_a_known_stack_is_what_is_left_of_it(void **state)
{
	(void)state;
	catch(look_at_bounds);
	send(SIGUSR1);
	assert_all_seen();
}

static ucontext_t outside, inside;

static void send_from(size_t n)
{
	volatile char *some = __builtin_alloca(n);

	some[0] = 1;
	send(SIGUSR1);
	some[n - 1] = 1;
}

static void be_coroutine(void)
{
	for (size_t n = 64; n < 2 * PAGE; n += 128)
		send_from(n);
}

static void test_room_of_an_unknown_stack_ends_at_a_page_that_is_not_there(void **state)
{
	const int some = 1;
	int copy;

	(void)state;
#ifdef TR2_IS_SANITIZED   /* sanitizers do not know of stacks that a program makes */
	skip();
#endif
	if (!tr2p_guard_copy(&copy, (uintptr_t)&some, sizeof(copy)))
		skip();   /* qemu-user has no such call */
	catch(look_at_pages);
	stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(stack, MAP_FAILED);
	assert_int_equal(getcontext(&inside), 0);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, be_coroutine, 0);
	assert_int_equal(swapcontext(&outside, &inside), 0);
	munmap(stack, BYTES);
	assert_all_seen();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_of_a_known_stack_is_what_is_left_of_it),
		cmocka_unit_test(test_room_of_an_unknown_stack_ends_at_a_page_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

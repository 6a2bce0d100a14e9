/* SPDX-License-Identifier: MIT */
/* Stacks beside code that the program has made itself, whose frames libgcc keeps under a lock. */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand in front of malloc() themselves */
}
#else
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include "trace2_prof.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

#ifndef __arm__   /* its libgcc has no such registry */
extern void __register_frame(void *frames);
extern void __deregister_frame(void *frames);

/* As a compiler at run time makes them: a CIE, an FDE of 16 bytes of code, the end. */
static struct frames {
	uint32_t cie_length, cie_id;
	unsigned char cie[8];         /* version 1, no augmentation, factors 1 and -8, return address in 16 */
	uint32_t length, cie_distance;
	uintptr_t start, bytes;
	uint32_t end;
} frames = { 12, 0, { 1, 0, 1, 0x78, 16 }, 4 + 2 * sizeof(uintptr_t), 20, 0x1000, 16, 0 };

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *data)
{
	(void)context;
	++*(int *)data;
	return _URC_NO_REASON;
}

/* libgcc looks at them under its lock when it unwinds next, and allocates: a sample there does not wait. */
static void test_unwind_within_libgcc_does_not_wait(void **state)
{
	int n = 0;

	(void)state;
	alarm(300);
	trace2_prof_set_heap_rate(1);
	__register_frame(&frames);
	_Unwind_Backtrace(count_frame, &n);
	trace2_prof_set_heap_rate(0);
	__deregister_frame(&frames);
	assert_int_not_equal(n, 0);
	assert_false(tr2p_is_unwinding());
	alarm(0);
}
#endif

static __attribute__((noinline)) const void *here(void)
{
	return __builtin_return_address(0);
}

static __attribute__((noinline)) void take_from_caller(struct tr2p_stack *stack, const void **caller)
{
	*caller = __builtin_return_address(0);
	tr2p_unwind_from(stack, *caller);
}

static void test_unwind_from_begins_where_the_caller_returns_to(void **state)
{
	struct tr2p_stack stack;
	const void *caller;

	(void)state;
	take_from_caller(&stack, &caller);
	assert_int_not_equal(stack.n, 0);
	assert_int_equal(stack.at[0], tr2p_call_of(caller));
	assert_false(tr2p_is_unwinding());
}

static void test_unwind_from_elsewhere_has_the_caller_in_front(void **state)
{
	struct tr2p_stack stack;
	const void *elsewhere = (const char *)here() + 1;

	(void)state;
	tr2p_unwind_from(&stack, elsewhere);
	assert_true(stack.n > 1);
	assert_int_equal(stack.at[0], tr2p_call_of(elsewhere));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef __arm__
		cmocka_unit_test(test_unwind_within_libgcc_does_not_wait),
#endif
		cmocka_unit_test(test_unwind_from_begins_where_the_caller_returns_to),
		cmocka_unit_test(test_unwind_from_elsewhere_has_the_caller_in_front),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

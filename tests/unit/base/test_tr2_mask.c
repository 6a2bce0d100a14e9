/* SPDX-License-Identifier: MIT */
/* Which code may be a signal handler, as far as can be known. */
#include "t2test.h"

#include <signal.h>
#include <string.h>

#include "base/tr2_mask.h"

static int said;          /* what tr2_mask_may_be_handler() said in the handler */
static int said_own;      /* what tr2_mask_is_on_own_stack() did */

static int may_run_here(void)
{
	return tr2_mask_may_be_handler(tr2_mask_now());
}

static void ask(int signal)
{
	(void)signal;
	said = may_run_here();
	said_own = tr2_mask_is_on_own_stack();
}

static struct sigaction before;
static int installed;

/* Install ask() for a signal; more: a signal that it blocks besides, 0 none. */
static void install(int signal, unsigned flags, int more)
{
	struct sigaction action = { .sa_handler = ask, .sa_flags = (int)flags };

	sigemptyset(&action.sa_mask);
	if (more)
		sigaddset(&action.sa_mask, more);
	assert_int_equal(sigaction(signal, &action, installed ? NULL : &before), 0);
	installed = signal;
	said = -1;
}

static int restore(void **state)
{
	(void)state;
	if (installed)
		sigaction(installed, &before, NULL);
	installed = 0;
	return 0;
}

static void test_handler_that_blocks_its_signal_is_not_taken_for_ordinary_code(void **state)
{
	(void)state;
	assert_int_equal(may_run_here(), 0);
	install(SIGUSR1, 0, 0);
	assert_int_equal(may_run_here(), 0);
	raise(SIGUSR1);
	assert_int_equal(said, 1);
}

static void test_handler_that_may_nest_may_always_run(void **state)
{
	(void)state;
	install(SIGUSR1, SA_NODEFER, 0);
	assert_int_equal(may_run_here(), 1);
	raise(SIGUSR1);
	assert_int_equal(said, 1);
}

static void test_handler_that_may_nest_is_known_by_what_else_it_blocks(void **state)
{
	(void)state;
	install(SIGUSR1, SA_NODEFER, SIGUSR2);
	assert_int_equal(may_run_here(), 0);
	raise(SIGUSR1);
	assert_int_equal(said, 1);
}

static void test_handler_that_may_nest_is_known_by_its_stack(void **state)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, none = { .ss_flags = SS_DISABLE }, had;

	(void)state;
	assert_int_equal(sigaltstack(&none, &had), 0);   /* a sanitizer's */
	install(SIGUSR1, SA_NODEFER | SA_ONSTACK, 0);
	assert_int_equal(may_run_here(), 1);
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(may_run_here(), 0);
	assert_int_equal(tr2_mask_is_on_own_stack(), 0);
	raise(SIGUSR1);
	assert_int_equal(said, 1);
	assert_int_equal(said_own, 1);
	assert_int_equal(sigaltstack(&had, NULL), 0);
}

/* What it was before it began tells; one of SysV's kind installs itself again, so that being there is no sign. */
static void test_handler_that_is_gone_when_it_begins_is_known_by_having_been_there(void **state)
{
	(void)state;
	install(SIGSEGV, SA_NODEFER | SA_RESETHAND, 0);
	assert_int_equal(may_run_here(), 0);
	raise(SIGSEGV);
	assert_int_equal(said, 1);
	restore(NULL);
	install(SIGUSR1, SA_NODEFER | SA_RESETHAND, 0);
	assert_int_equal(may_run_here(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_handler_that_blocks_its_signal_is_not_taken_for_ordinary_code, restore),
		cmocka_unit_test_teardown(test_handler_that_may_nest_may_always_run, restore),
		cmocka_unit_test_teardown(test_handler_that_may_nest_is_known_by_what_else_it_blocks, restore),
		cmocka_unit_test_teardown(test_handler_that_may_nest_is_known_by_its_stack, restore),
		/* the last: that it was there is never forgotten */
		cmocka_unit_test_teardown(test_handler_that_is_gone_when_it_begins_is_known_by_having_been_there,
					  restore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

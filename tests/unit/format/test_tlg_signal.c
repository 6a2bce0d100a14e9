/* SPDX-License-Identifier: MIT */
/* Signals by name and number. */
#include "t2test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tlg_signal.h"

static void test_signal_names_and_numbers_are_signals(void **state)
{
	char number[16];

	(void)state;
	assert_int_equal(tlg_signal_parse("USR1"), SIGUSR1);
	assert_int_equal(tlg_signal_parse("sigterm"), SIGTERM);
	assert_int_equal(tlg_signal_parse("9"), SIGKILL);
	assert_int_equal(tlg_signal_parse("RTMIN"), SIGRTMIN);
	assert_int_equal(tlg_signal_parse("rtmin+3"), SIGRTMIN + 3);
	assert_int_equal(tlg_signal_parse("SIGRTMAX"), SIGRTMAX);
	assert_int_equal(tlg_signal_parse("SIGRTMAX-12"), SIGRTMAX - 12);
	snprintf(number, sizeof(number), "%d", SIGRTMIN + 3);
	assert_int_equal(tlg_signal_parse(number), SIGRTMIN + 3);
}

static void test_signal_that_is_none_is_0(void **state)
{
	static const char *const wrong[] = {
		"", "SIG", "0", "-1", "x", "USR", "USR22", "32", "33", "65", "99", "010x", "0010", "RTMIN+", "RTMIN-1",
		"RTMAX+1", "RTMIN+1x", "RTMIN+ 1", "RTMIN+31", "RTMAX-99", "RTMIN+99999999999999999999",
		"99999999999999999999", "SIGSIGUSR1", " USR1", "4294967306"
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(tlg_signal_parse(wrong[i]), 0);
}

static void test_signal_has_the_name_that_it_is_parsed_by(void **state)
{
	char name[TLG_SIGNAL_NAME];

	(void)state;
	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		tlg_signal_name(signo, name);
		assert_int_equal(tlg_signal_parse(name), signo < 32 || signo >= SIGRTMIN ? signo : 0);
	}
	tlg_signal_name(SIGUSR1, name);
	assert_string_equal(name, "SIGUSR1");
	tlg_signal_name(SIGRTMIN + 12, name);
	assert_string_equal(name, "SIGRTMIN+12");
	tlg_signal_name(-1, name);
	assert_string_equal(name, "SIG?");
}

/* As the shell and kill(1) have them */
static void test_signal_names_are_those_of_libc(void **state)
{
	char name[TLG_SIGNAL_NAME];

	(void)state;
	for (int signo = 1; signo < 32; signo++) {
		tlg_signal_name(signo, name);
		assert_memory_equal(name, "SIG", 3);
#ifdef __GLIBC__
		assert_string_equal(name + 3, sigabbrev_np(signo));
#endif
	}
}

static void test_signal_that_ends_programs_may_not_ask(void **state)
{
	(void)state;
	assert_int_equal(tlg_signal_may_ask(SIGUSR2), 1);
	assert_int_equal(tlg_signal_may_ask(SIGRTMIN), 1);
	assert_int_equal(tlg_signal_may_ask(SIGRTMAX), 1);
	for (int signo = -1; signo < SIGRTMIN; signo++)
		if (signo != SIGUSR1 && signo != SIGUSR2 && signo != SIGQUIT && signo != SIGURG && signo != SIGIO)
			assert_int_equal(tlg_signal_may_ask(signo), 0);
	assert_int_equal(tlg_signal_may_ask(SIGRTMAX + 1), 0);
	assert_int_equal(tlg_signal_may_ask(1 << 30), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal_names_and_numbers_are_signals),
		cmocka_unit_test(test_signal_that_is_none_is_0),
		cmocka_unit_test(test_signal_has_the_name_that_it_is_parsed_by),
		cmocka_unit_test(test_signal_names_are_those_of_libc),
		cmocka_unit_test(test_signal_that_ends_programs_may_not_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

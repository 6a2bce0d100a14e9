/* SPDX-License-Identifier: MIT */
/* The profiler's signals where there are fewer than SIGRTMAX says: an emulator whose host lacks the last two. */
#include "t2test.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "prof/tr2p_ask.h"

enum { MISSING = 2 };

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);

/* The emulator takes any set, and forgets of it what the host has not. */
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	int error = __real_pthread_sigmask(how, set, before);

	for (int i = 0; before && i < MISSING; i++)
		sigdelset(before, SIGRTMAX - i);
	return error;
}

/* As the kernel says it, in front of which nobody stands. */
static uint64_t with_handlers(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long long caught = 0;
	char line[256];

	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "SigCgt: %llx", &caught);
	fclose(status);
	return caught;
}

static void test_ask_takes_the_last_signal_that_can_be_sent(void **state)
{
	const uint64_t before = with_handlers();

	(void)state;
	if (getenv("T2_EMULATED"))
		skip();   /* these signals are missing without us, and the kernel knows them by other numbers */
	assert_int_equal(tr2p_ask_init(), 0);
	assert_true(tr2p_ask_is_ready());
	assert_int_equal(with_handlers() & ~before, UINT64_C(1) << (SIGRTMAX - MISSING - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ask_takes_the_last_signal_that_can_be_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Filters of seccomp(2): run as the kernel runs them, and judged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prof/tr2p_filter.h"

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define IF(op, value, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, (value), (yes), (no))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define FILTER(...) \
	{ (unsigned short)(sizeof((struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter)), \
	  (struct sock_filter[]){ __VA_ARGS__ } }

enum { NUMBER = 1000000 };   /* of no system call: the kernel answers ENOSYS if the filter lets it */

enum { KILLED = -1 };

/* What the kernel answers: an error number; ENOSYS: allowed; or KILLED. */
static int ask_kernel(const struct sock_fprog *filter, const unsigned long *args)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter))
			_exit(255);
		syscall(NUMBER, args[0], args[1], args[2], args[3], args[4], args[5]);
		_exit(errno);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return KILLED;
	assert_true(WIFEXITED(status));
	assert_int_not_equal(WEXITSTATUS(status), 255);
	return WEXITSTATUS(status);
}

/* An emulator may have none; and a sanitizer makes calls of its own, for ever if they are refused. */
static int has_filters(void)
{
#ifdef TR2_IS_SANITIZED
	return 0;
#else
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
#endif
}

static int ask_us(const struct sock_fprog *filter, const unsigned long *args)
{
	struct seccomp_data call = { .nr = NUMBER };
	uint32_t answer;

	for (unsigned i = 0; i < 6; i++)
		call.args[i] = args[i];
	answer = tr2p_filter_run(filter, &call);
	if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW)
		return ENOSYS;
	if (answer == SECCOMP_RET_KILL_PROCESS)
		return KILLED;
	assert_int_equal(answer & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	return (int)(answer & SECCOMP_RET_DATA);
}

/* Each goes on to `return' if the call is not the one that it is tried with, which all the filter's own calls are. */
#define ONLY_ARGUMENT(...) \
	FILTER(LOAD(nr), IF(BPF_JEQ, NUMBER, 1, 0), RETURN(SECCOMP_RET_ALLOW), LOAD(args[0]), __VA_ARGS__, \
	       IF(BPF_JEQ, 6, 0, 1), RETURN(REFUSE(41)), IF(BPF_JGT, 50, 0, 1), RETURN(REFUSE(42)), \
	       IF(BPF_JGE, 20, 0, 1), RETURN(REFUSE(43)), IF(BPF_JSET, 1, 0, 1), RETURN(REFUSE(44)), \
	       RETURN(SECCOMP_RET_ALLOW))
#define ALU(op, value) BPF_STMT(BPF_ALU | (op) | BPF_K, (value))
#define ALU_X(op) BPF_STMT(BPF_ALU | (op) | BPF_X, 0)
#define X(value) BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, (value))

static void test_filter_each_instruction_does_as_in_the_kernel(void **state)
{
	const struct sock_fprog filters[] = {
		ONLY_ARGUMENT(ALU(BPF_ADD, 3)), ONLY_ARGUMENT(ALU(BPF_SUB, 3)), ONLY_ARGUMENT(ALU(BPF_MUL, 3)),
		ONLY_ARGUMENT(ALU(BPF_DIV, 3)), ONLY_ARGUMENT(ALU(BPF_AND, 14)), ONLY_ARGUMENT(ALU(BPF_OR, 6)),
		ONLY_ARGUMENT(ALU(BPF_XOR, 5)), ONLY_ARGUMENT(ALU(BPF_LSH, 2)), ONLY_ARGUMENT(ALU(BPF_RSH, 1)),
		ONLY_ARGUMENT(ALU(BPF_NEG, 0)), ONLY_ARGUMENT(X(4), ALU_X(BPF_ADD)),
		ONLY_ARGUMENT(X(0), ALU_X(BPF_DIV)),
		ONLY_ARGUMENT(X(3), ALU_X(BPF_LSH)), ONLY_ARGUMENT(X(9), BPF_STMT(BPF_MISC | BPF_TXA, 0)),
		ONLY_ARGUMENT(BPF_STMT(BPF_MISC | BPF_TAX, 0), ALU_X(BPF_ADD)),
		ONLY_ARGUMENT(BPF_STMT(BPF_ST, 7), BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 7), ALU_X(BPF_MUL)),
		ONLY_ARGUMENT(X(5), BPF_STMT(BPF_STX, 15), BPF_STMT(BPF_LD | BPF_MEM, 15)),
		ONLY_ARGUMENT(BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0)),
		ONLY_ARGUMENT(BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0)), ONLY_ARGUMENT(BPF_STMT(BPF_LD | BPF_IMM, 20)),
		ONLY_ARGUMENT(BPF_STMT(BPF_JMP | BPF_JA, 1), ALU(BPF_ADD, 9)),
		ONLY_ARGUMENT(X(3), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_X, 0, 0, 1), ALU(BPF_ADD, 1)),
		FILTER(LOAD(nr), IF(BPF_JEQ, NUMBER, 1, 0), RETURN(SECCOMP_RET_ALLOW), LOAD(args[1]),
		       ALU(BPF_OR, SECCOMP_RET_ERRNO), BPF_STMT(BPF_RET | BPF_A, 0)),
	};

	(void)state;
	if (!has_filters())
		skip();
	for (unsigned i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		for (unsigned long value = 0; value < 60; value += value < 8 ? 1 : 11) {
			const unsigned long args[6] = { value, 17 };
			assert_int_equal(ask_us(&filters[i], args), ask_kernel(&filters[i], args));
		}
}

static void test_filter_that_the_kernel_refuses_is_harmful(void **state)
{
	const struct sock_fprog filters[] = {
		FILTER(LOAD(nr)), FILTER(LOAD(nr), IF(BPF_JEQ, 1, 200, 200), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0xffffffff), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_ST, 16), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN(SECCOMP_RET_ALLOW)),
		FILTER(BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), RETURN(SECCOMP_RET_ALLOW)),
	};
	const struct sock_fprog none = { 0, NULL };

	(void)state;
	for (unsigned i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		assert_false(tr2p_filter_is_harmless(&filters[i]));
	assert_false(tr2p_filter_is_harmless(&none));
}

static void test_filter_is_harmless_if_it_ends_nobody_for_our_calls(void **state)
{
	const struct sock_fprog harmless[] = {
		FILTER(RETURN(SECCOMP_RET_ALLOW)), FILTER(RETURN(REFUSE(EPERM))), FILTER(RETURN(SECCOMP_RET_LOG)),
		FILTER(LOAD(nr), IF(BPF_JEQ, NUMBER, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
		       RETURN(SECCOMP_RET_ALLOW)),
	};
	const struct sock_fprog harmful[] = {
		FILTER(RETURN(SECCOMP_RET_KILL_PROCESS)), FILTER(RETURN(SECCOMP_RET_KILL_THREAD)),
		FILTER(RETURN(SECCOMP_RET_TRAP)), FILTER(RETURN(SECCOMP_RET_TRACE)),
		FILTER(RETURN(SECCOMP_RET_USER_NOTIF)),
		FILTER(LOAD(nr), IF(BPF_JEQ, SYS_timer_create, 0, 1), RETURN(SECCOMP_RET_TRAP),
		       RETURN(SECCOMP_RET_ALLOW)),
		FILTER(LOAD(nr), IF(BPF_JEQ, SYS_sigaltstack, 0, 1), RETURN(SECCOMP_RET_TRAP),
		       RETURN(REFUSE(EPERM))),
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		assert_true(tr2p_filter_is_harmless(&harmless[i]));
	for (unsigned i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		assert_false(tr2p_filter_is_harmless(&harmful[i]));
}

/* A filter for programs of one machine: it kills those of all others. */
static void test_filter_knows_this_machine(void **state)
{
	const unsigned long none[6] = { 0 };
	struct sock_fprog filter = FILTER(LOAD(arch), IF(BPF_JEQ, 0, 0, 1), RETURN(SECCOMP_RET_ALLOW),
					  RETURN(SECCOMP_RET_KILL_PROCESS));

	(void)state;
	assert_false(tr2p_filter_is_harmless(&filter));
#ifdef __x86_64__
	filter.filter[1].k = 0xc000003e;
	assert_true(tr2p_filter_is_harmless(&filter));
	if (has_filters())
		assert_int_equal(ask_kernel(&filter, none), ENOSYS);
#else
	(void)none;
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter_each_instruction_does_as_in_the_kernel),
		cmocka_unit_test(test_filter_that_the_kernel_refuses_is_harmful),
		cmocka_unit_test(test_filter_is_harmless_if_it_ends_nobody_for_our_calls),
		cmocka_unit_test(test_filter_knows_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

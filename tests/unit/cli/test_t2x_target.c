/* SPDX-License-Identifier: MIT */
/* Which process gets a signal, and which one does not. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/t2x_target.h"

enum { HANDLED = 7, REUSES = 200 };

static void end_here(int signo)
{
	(void)signo;
	_exit(HANDLED);
}

/* A memory file of a name, as somebody may send it. */
static int open_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1), 0);
	return fd;
}

enum { SHARED, UNTOUCHED, READ, READABLE, WRITTEN };

/* What libtrace2-prof makes is WRITTEN. */
static void map(const char *name, int how)
{
	int fd = open_memory(name), is_private = how != SHARED;
	int access = is_private ? PROT_READ | PROT_WRITE : PROT_READ;
	volatile char *at = mmap(NULL, 1, access, is_private ? MAP_PRIVATE : MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	if (how == READ && at[0])
		abort();
	if (how == WRITTEN || how == READABLE)
		at[0] = 1;
	if (how != READABLE)
		assert_int_equal(mprotect((void *)(uintptr_t)at, 1, PROT_NONE), 0);
	close(fd);
}

/* A child that ends by any signal that it gets, and has that mapping. */
static pid_t start(const char *name, int how)
{
	int fds[2];
	char byte = 0;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		for (int signo = 1; signo <= SIGRTMAX; signo++)
			signal(signo, end_here);
		if (name)
			map(name, how);
		if (write(fds[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return child;
}

static void end(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, WNOHANG), 0);   /* it lives */
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
}

static int mark_of(pid_t pid)
{
	struct t2x_target process;
	const char *why;
	int signo;

	assert_null(t2x_target_open(&process, (uint32_t)pid));
	signo = t2x_target_mark(&process, &why);
	assert_null(why);
	t2x_target_close(&process);
	return signo;
}

static void test_target_mark_is_one_that_the_process_has_made_itself(void **state)
{
	char name[32];
	pid_t child;

	(void)state;
	snprintf(name, sizeof(name), "trace2-threads-%d", SIGUSR2);
	for (int how = SHARED; how <= WRITTEN; how++) {
		child = start(name, how);
		assert_int_equal(mark_of(child), how == WRITTEN ? SIGUSR2 : 0);
		end(child);
	}
}

static void test_target_mark_of_another_name_is_none(void **state)
{
	static const char *const names[] = {
		"trace2-threads-", "trace2-threads-x", "trace2-threads-012", "trace2-threads-12x", "trace2-threads-32",
		"trace2-threads-12 trace2-threads-12", "xtrace2-threads-12", "trace2-threads-12\n---p"
	};
	pid_t child;

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		child = start(names[i], WRITTEN);
		assert_int_equal(mark_of(child), 0);
		end(child);
	}
}

static void test_target_is_asked_by_signals_that_may_ask_only(void **state)
{
	struct t2x_target process;
	pid_t child = start(NULL, 0);
	int status;

	(void)state;
	assert_null(t2x_target_open(&process, (uint32_t)child));
	for (int signo = -1; signo <= SIGRTMAX + 2; signo++)
		if (signo < SIGRTMIN && signo != SIGUSR1 && signo != SIGUSR2 && signo != SIGQUIT && signo != SIGURG &&
		    signo != SIGIO)
			assert_non_null(t2x_target_ask(&process, signo));
	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	assert_null(t2x_target_ask(&process, SIGUSR1));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == HANDLED);
	t2x_target_close(&process);
}

static void test_target_that_does_not_handle_the_signal_gets_none(void **state)
{
	struct t2x_target process;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child)
		for (;;)
			pause();
	assert_null(t2x_target_open(&process, (uint32_t)child));
	assert_non_null(t2x_target_ask(&process, SIGUSR1));
	t2x_target_close(&process);
	end(child);
}

/* The next process has this id, if the superuser says so and nobody is quicker. */
static pid_t start_with_id(pid_t pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY), is_set;
	char digits[16];
	ssize_t n = snprintf(digits, sizeof(digits), "%d", (int)pid - 1);

	if (fd < 0)
		return 0;
	is_set = write(fd, digits, (size_t)n) == n;
	close(fd);
	return is_set ? start(NULL, 0) : 0;
}

static void test_target_that_has_ended_passes_no_signal_to_who_has_its_id(void **state)
{
	struct t2x_target process;
	pid_t first, second = 0;

	(void)state;
	for (int i = 0; i < REUSES; i++) {
		first = start(NULL, 0);
		assert_null(t2x_target_open(&process, (uint32_t)first));
		end(first);
		second = start_with_id(first);
		assert_string_equal(t2x_target_ask(&process, SIGUSR1), "there is no such process");
		assert_non_null(t2x_target_ask(&process, SIGKILL));
		t2x_target_close(&process);
		if (second)
			end(second);
		if (!second || second == first)
			return;
	}
}

static void test_target_that_is_none_is_not_opened(void **state)
{
	struct t2x_target process;

	(void)state;
	assert_string_equal(t2x_target_open(&process, 4194305), "there is no such process");
	assert_string_equal(t2x_target_open(&process, UINT32_MAX), "there is no such process");
	assert_int_equal(process.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target_mark_is_one_that_the_process_has_made_itself),
		cmocka_unit_test(test_target_mark_of_another_name_is_none),
		cmocka_unit_test(test_target_is_asked_by_signals_that_may_ask_only),
		cmocka_unit_test(test_target_that_does_not_handle_the_signal_gets_none),
		cmocka_unit_test(test_target_that_has_ended_passes_no_signal_to_who_has_its_id),
		cmocka_unit_test(test_target_that_is_none_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

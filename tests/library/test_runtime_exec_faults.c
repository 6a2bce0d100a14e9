/* SPDX-License-Identifier: MIT */
/*
 * exec() that fails while the system refuses what its ring file needs to come back; SIGKILL in front of each call by
 * which the file goes and comes back, and at any time; a sandbox.
 */
#include "t2test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "numbered.h"
#include "trace2.h"
#include "traced.h"
#include "base/tr2_sys.h"
#include "ring/tr2_detach.h"
#include "ring/tr2_shm.h"

enum { FEW = 5, MANY = 10000, ROUNDS = 100, LONGEST_US = 4000, TMPFS = 0x01021994 };

/* ---- faults ------------------------------------------------------------------------------------- */

static int fault_at, kill_at;   /* which of the calls below fails, which is not reached; from 1 on, 0: none */
static int calls;               /* so far */

/* The process may die here. */
static void count_call(void)
{
	if (kill_at && ++calls == kill_at)
		raise(SIGKILL);
}

/* Return  1: the call is to fail */
static int is_faulty(int error)
{
	count_call();
	if (!fault_at || !tr2_is_detached() || ++calls != fault_at)
		return 0;
	errno = error;
	return 1;
}

int __wrap_tr2_sys_open(const char *path, int flags, mode_t mode);
int __real_tr2_sys_open(const char *path, int flags, mode_t mode);
int __wrap_tr2_sys_ftruncate(int fd, off_t bytes);
int __real_tr2_sys_ftruncate(int fd, off_t bytes);
void *__wrap_tr2_sys_map(size_t bytes, int protection, int flags, int fd);
void *__real_tr2_sys_map(size_t bytes, int protection, int flags, int fd);
int __wrap_tr2_sys_protect(void *address, size_t bytes, int protection);
int __real_tr2_sys_protect(void *address, size_t bytes, int protection);
int __wrap_tr2_sys_move(void *address, size_t bytes, void *to);
int __real_tr2_sys_move(void *address, size_t bytes, void *to);
int __wrap_tr2_sys_advise(void *address, size_t bytes, int advice);
int __real_tr2_sys_advise(void *address, size_t bytes, int advice);
int __wrap_tr2_sys_unlink(const char *path);
int __real_tr2_sys_unlink(const char *path);
int __wrap_tr2_sys_close(int fd);
int __real_tr2_sys_close(int fd);

int __wrap_tr2_sys_open(const char *path, int flags, mode_t mode)
{
	return is_faulty(EACCES) ? -1 : __real_tr2_sys_open(path, flags, mode);
}

int __wrap_tr2_sys_ftruncate(int fd, off_t bytes)
{
	return is_faulty(EFBIG) ? -1 : __real_tr2_sys_ftruncate(fd, bytes);
}

void *__wrap_tr2_sys_map(size_t bytes, int protection, int flags, int fd)
{
	return is_faulty(ENOMEM) ? NULL : __real_tr2_sys_map(bytes, protection, flags, fd);
}

int __wrap_tr2_sys_protect(void *address, size_t bytes, int protection)
{
	return is_faulty(ENOMEM) ? -1 : __real_tr2_sys_protect(address, bytes, protection);
}

int __wrap_tr2_sys_move(void *address, size_t bytes, void *to)
{
	return is_faulty(ENOMEM) ? -1 : __real_tr2_sys_move(address, bytes, to);
}

/* That memory stays out of core dumps is no condition. */
int __wrap_tr2_sys_advise(void *address, size_t bytes, int advice)
{
	return advice != MADV_DONTDUMP && is_faulty(EFAULT) ? -1 : __real_tr2_sys_advise(address, bytes, advice);
}

int __wrap_tr2_sys_unlink(const char *path)
{
	count_call();
	return __real_tr2_sys_unlink(path);
}

int __wrap_tr2_sys_close(int fd)
{
	count_call();
	return __real_tr2_sys_close(fd);
}

/* ---- programs ----------------------------------------------------------------------------------- */

/* Return  1: the ring file has lost its name */
static int fail_exec(void)
{
	const char path[] = "/nonexistent/program";
	const char *const argv[] = { path, NULL };

	trace2_exec(path, argv);
	if (!tr2_is_detached() || *tr2_shm_path())
		return 0;
	execl(path, path, NULL);
	return errno == ENOENT;
}

/* at  the call that fails */
static int meets_a_fault(void *at)
{
	fault_at = *(int *)at;
	trace2_initialize();
	numbered_record(FEW);
	if (!fail_exec())
		return 1;
	numbered_record(MANY);
	if (calls < fault_at)
		return TRACED;   /* there are no more */
	return *tr2_shm_path() || numbered_ring_files() ? 2 : 0;
}

/* at  the call that it does not reach */
static int meets_its_end(void *at)
{
	trace2_initialize();
	numbered_record(FEW);
	kill_at = *(int *)at;
	if (!fail_exec())
		return 1;
	numbered_record(1);
	return TRACED;   /* there are no more */
}

/* Shared with the test, so that it outlives the program: how many numbers it has recorded; 0: it has not begun. */
static volatile unsigned *returned;

/* A process of its own kills the program, so many us after that has begun. */
static void be_killed_after(unsigned us)
{
	const struct timespec delay = { 0, (long)us * 1000 };
	const pid_t victim = getpid();

	if (fork())
		return;
	while (!*returned)
		sched_yield();
	nanosleep(&delay, NULL);
	kill(victim, SIGKILL);
	_exit(0);
}

/* us  until it is killed */
static int fails_until_it_is_killed(void *us)
{
	const char path[] = "/nonexistent/program";
	const char *const argv[] = { path, NULL };

	be_killed_after(*(unsigned *)us);
	trace2_initialize();
	for (int id = 0; numbered_next < 1 << 15; id++) {
		for (int i = 0; i < id % 4; i++) {
			numbered_record(1);
			*returned = (unsigned)numbered_next;
		}
		trace2_exec(path, argv);
		execl(path, path, NULL);
		if (id % 2)
			trace2_exec_result(id, errno);
	}
	return 1;
}

/* From here on the kernel ends the process by SIGSYS for the calls by which a ring file goes and comes back. */
static int lock_in(void)
{
#define KILL(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(SYS_statfs), KILL(SYS_lseek), KILL(SYS_openat), KILL(SYS_mremap), KILL(SYS_ftruncate),
		KILL(SYS_unlinkat),
#ifdef SYS_newfstatat
		KILL(SYS_newfstatat),
#else   /* 32 bits */
		KILL(SYS_fstatat64), KILL(SYS_statfs64), KILL(SYS__llseek), KILL(SYS_ftruncate64),
#endif
#ifdef SYS_unlink
		KILL(SYS_unlink), KILL(SYS_open), KILL(SYS_stat),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* late  the sandbox begins between trace2_exec() and the exec that fails, and not before */
static int is_locked_in(void *late)
{
	const char path[] = "/nonexistent/program";
	const char *const argv[] = { path, NULL };

	trace2_initialize();
	numbered_record(FEW);
	if (!late && lock_in())
		return 1;
	trace2_exec(path, argv);
	if (tr2_is_detached() != (late != NULL) || (late && lock_in()))
		return 2;
	execl(path, path, NULL);
	numbered_record(FEW);
	trace2_flush();
	_exit(tr2_is_detached() ? 3 : 0);
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* A sanitizer's thread is one that we do not know, so its programs keep their ring files. */
static void need_lone_programs(void)
{
	struct statfs system;

#ifdef __SANITIZE_THREAD__
	skip();
#endif
	if (tr2_sys_statfs(t.dir, &system) || (unsigned long)system.f_type != TMPFS)
		skip();   /* not a tmpfs */
	if (getenv("T2_EMULATED"))
		skip();   /* qemu-user has threads of its own */
	if (prctl(PR_GET_SECCOMP) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
		skip();   /* a further sandbox would not show */
}

/* Without a ring file the trace goes on; a line says so to whoever has asked for such lines. */
static void test_exec_that_fails_without_a_new_file_goes_on(void **state)
{
	int at = 0, has_met = 1;

	(void)state;
	need_lone_programs();
	while (has_met) {
		at++;
		unlink(t.raw);
		traced_run(&t, meets_a_fault, &at, (const char *const[]){ "TRACE2_DST_DEBUG=1", NULL });
		assert_true(WIFEXITED(t.status));
		has_met = WEXITSTATUS(t.status) != TRACED;
		assert_int_equal(WEXITSTATUS(t.status), has_met ? 0 : TRACED);
		assert_int_equal(traced_count("no ring file after a failed exec"), has_met);
		numbered_assert_written(FEW + MANY);
	}
	assert_in_range(at, 8, 20);   /* a file, its length, addresses, access, its ranges, two moves */
}

static void kill_at_each_call(const char *setting)
{
	int at = 0, is_killed = 1;

	while (is_killed) {
		at++;
		unlink(t.raw);
		traced_run(&t, meets_its_end, &at, (const char *const[]){ setting, NULL });
		is_killed = WIFSIGNALED(t.status) && WTERMSIG(t.status) == SIGKILL;
		assert_true(is_killed || (WIFEXITED(t.status) && WEXITSTATUS(t.status) == TRACED));
		numbered_assert_left(FEW, FEW + 1);
	}
	assert_in_range(at, 14, 60);
}

static void test_exec_kill_at_each_call_loses_nothing(void **state)
{
	(void)state;
	need_lone_programs();
	kill_at_each_call("TRACE2_RAW_THREAD=auto");
	kill_at_each_call("TRACE2_RAW_THREAD=late");
	kill_at_each_call("TRACE2_RAW_THREAD=off");
}

static void test_exec_kill_at_any_time_loses_nothing(void **state)
{
	(void)state;
	need_lone_programs();
	returned = traced_shared(sizeof(*returned));
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned us = i * 7919 % LONGEST_US;
		*returned = 0;
		unlink(t.raw);
		traced_run(&t, fails_until_it_is_killed, &us, (const char *const[]){
			i % 2 ? "TRACE2_RAW_THREAD=auto" : "TRACE2_RAW_THREAD=off", NULL });
		assert_true(WIFSIGNALED(t.status) && WTERMSIG(t.status) == SIGKILL);
		numbered_assert_left(*returned, *returned + 1);
	}
}

static void test_exec_in_a_sandbox_makes_no_new_calls(void **state)
{
	char ring[256];

	(void)state;
	need_lone_programs();
#ifdef __SANITIZE_ADDRESS__
	skip();   /* it makes such calls itself */
#endif
	traced_run(&t, is_locked_in, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(collect_find(0, ring, sizeof(ring)), 1);
	unlink(ring);
	numbered_assert_written(2 * FEW);
	unlink(t.raw);
	traced_run(&t, is_locked_in, (void *)1, NULL);
	assert_int_equal(t.status, 0);
	numbered_assert_written(2 * FEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, numbered_setup, traced_teardown)
		TEST(test_exec_that_fails_without_a_new_file_goes_on),
		TEST(test_exec_kill_at_each_call_loses_nothing),
		TEST(test_exec_kill_at_any_time_loses_nothing),
		TEST(test_exec_in_a_sandbox_makes_no_new_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

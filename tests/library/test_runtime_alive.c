/* SPDX-License-Identifier: MIT */
/* Whether the process of a ring file lives: as the kernel says, whatever its id may be by now, and where. */
#include "t2test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "collect.h"
#include "trace2.h"
#include "traced.h"
#include "recover/t2x_alive.h"

/* What the next pause of t2x_alive() unmaps. */
static void *held;

int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	if (!held)
		return __real_nanosleep(pause, left);
	munmap(held, 4096);
	held = NULL;
	return 0;
}

static int killed(void *unused)
{
	(void)unused;
	trace2_initialize();
	trace2_data_intmax("t", NULL, "n", 1);
	raise(SIGKILL);
	return 1;
}

static int killed_when_full(void *unused)
{
	(void)unused;
	trace2_initialize();
	for (int i = 0; i < 200000; i++)
		trace2_data_intmax("t", NULL, "n", i);
	raise(SIGKILL);
	return 1;
}

/* The child goes on until nobody has the other end of the pipe any more, and records nothing. */
static int killed_with_a_child(void *hold)
{
	int *ends = hold;
	char byte;

	trace2_initialize();
	trace2_data_intmax("t", NULL, "n", 1);
	if (!fork()) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	raise(SIGKILL);
	return 1;
}

static int setup(void **state)
{
	int error = traced_setup(state);

	if (!error)
		error = setenv("XDG_RUNTIME_DIR", t.dir, 1);
	return error;
}

/* In an overlay nothing is known but by ids. */
static void run_killed(int (*program)(void *), void *data, char ring[256])
{
	struct statfs system;

	if (statfs(t.dir, &system) || system.f_type == OVERLAYFS_SUPER_MAGIC)
		skip();
	traced_run(&t, program, data, NULL);
	assert_true(WIFSIGNALED(t.status));
	assert_true(collect_find(0, ring, 256));
}

/* As if the ring file were that of this process id, in this PID namespace; pid 0: as it is. */
static void forge(const char *ring, uint32_t pid, uint64_t space)
{
	int fd = open(ring, O_RDWR | O_CLOEXEC);

	if (pid)
		assert_int_equal(pwrite(fd, &pid, sizeof(pid), offsetof(struct tlg_ring_file, pid)), sizeof(pid));
	assert_int_equal(pwrite(fd, &space, sizeof(space), offsetof(struct tlg_ring_file, pid_space)), sizeof(space));
	close(fd);
}

static uint64_t own_space(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	return st.st_ino;
}

static enum t2x_alive alive(const char *path)
{
	struct t2x_ring ring;
	enum t2x_alive alive;

	assert_null(t2x_ring_open(&ring, path, 0));
	alive = t2x_alive(&ring);
	t2x_ring_close(&ring);
	return alive;
}

static void test_alive_ring_nobody_maps_for_writing_is_dead_whatever_its_pid(void **state)
{
	char ring[256];
	void *map;
	int fd;

	(void)state;
	run_killed(killed, NULL, ring);
	assert_int_equal(alive(ring), T2X_DEAD);
	fd = open(ring, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(map != MAP_FAILED);
	forge(ring, (uint32_t)getpid(), own_space());
	assert_int_equal(alive(ring), T2X_DEAD);
	forge(ring, (uint32_t)getpid(), own_space() + 1);
	assert_int_equal(alive(ring), T2X_DEAD);
	munmap(map, 4096);
}

/* Its id, too, has to be dead, in a namespace in which that can be seen. */
static void test_alive_ring_only_a_child_maps_is_dead_if_the_pid_is_of_our_namespace(void **state)
{
	char ring[256];
	int hold[2];

	(void)state;
	assert_int_equal(pipe(hold), 0);
	run_killed(killed_with_a_child, hold, ring);
	forge(ring, 0, own_space());
	assert_int_equal(alive(ring), T2X_DEAD);
	forge(ring, (uint32_t)getpid(), own_space());
	assert_int_equal(alive(ring), T2X_DEAD);
	forge(ring, 0, own_space() + 1);
	assert_int_equal(alive(ring), T2X_ALIVE_ELSEWHERE);
	forge(ring, 0, 0);
	assert_int_equal(alive(ring), T2X_ALIVE_ELSEWHERE);
	close(hold[0]);
	close(hold[1]);
}

/* It has forked before its drain had a reason to start. */
static void test_alive_ring_only_a_child_maps_is_dead_if_there_was_no_drain(void **state)
{
	char ring[256];
	int hold[2];

	(void)state;
	assert_int_equal(pipe(hold), 0);
	setenv("TRACE2_RAW_THREAD", "late", 1);
	run_killed(killed_with_a_child, hold, ring);
	unsetenv("TRACE2_RAW_THREAD");
	assert_int_equal(alive(ring), T2X_DEAD);
	close(hold[0]);
	close(hold[1]);
}

/* Our own, to have one that lives: as the file of a process of this id, and of another one. */
static void test_alive_ring_mapped_by_its_process_is_alive(void **state)
{
	char ring[256];
	void *map;
	int fd;

	(void)state;
	run_killed(killed, NULL, ring);
	fd = open(ring, O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(map != MAP_FAILED);
	forge(ring, (uint32_t)getpid(), own_space());
	assert_int_equal(alive(ring), T2X_ALIVE);
	forge(ring, (uint32_t)getpid(), own_space() + 1);
	assert_int_equal(alive(ring), T2X_ALIVE);
	forge(ring, (uint32_t)getppid(), own_space() + 1);
	assert_int_equal(alive(ring), T2X_ALIVE_ELSEWHERE);
	forge(ring, (uint32_t)getppid(), own_space());
	assert_int_equal(alive(ring), T2X_DEAD);
	munmap(map, 4096);
	assert_int_equal(alive(ring), T2X_DEAD);
}

static void test_alive_ring_drained_without_a_thread_says_its_namespace(void **state)
{
	struct t2x_ring ring;
	char path[256];

	(void)state;
	traced_run(&t, killed_when_full, NULL,
		   (const char *const[]){ "TRACE2_RAW_THREAD=off", "TRACE2_RAW_RING=256k", NULL });
	assert_true(WIFSIGNALED(t.status));
	assert_true(collect_find(0, path, sizeof(path)));
	assert_null(t2x_ring_open(&ring, path, 0));
	assert_int_equal(ring.head.pid_space, own_space());
	t2x_ring_close(&ring);
}

/* As ps(1) may while the process dies: its id says nothing without its namespace. */
static void test_alive_ring_mapped_a_moment_longer_than_its_process_lives_is_dead(void **state)
{
	char ring[256];
	int fd;

	(void)state;
	run_killed(killed, NULL, ring);
	forge(ring, 0, 0);
	fd = open(ring, O_RDWR | O_CLOEXEC);
	held = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(held != MAP_FAILED);
	assert_int_equal(alive(ring), T2X_DEAD);
	assert_null(held);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, traced_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_alive_ring_nobody_maps_for_writing_is_dead_whatever_its_pid),
		TEST(test_alive_ring_only_a_child_maps_is_dead_if_the_pid_is_of_our_namespace),
		TEST(test_alive_ring_only_a_child_maps_is_dead_if_there_was_no_drain),
		TEST(test_alive_ring_mapped_by_its_process_is_alive),
		TEST(test_alive_ring_drained_without_a_thread_says_its_namespace),
		TEST(test_alive_ring_mapped_a_moment_longer_than_its_process_lives_is_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

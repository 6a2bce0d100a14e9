/* SPDX-License-Identifier: MIT */
/* tr2p_tasks.c - /proc/self/task by bare system calls, for no thread is to be cancelled here. */
#include "tr2p_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_look.h"
#include "tr2p_wall.h"

/* clone() by the name in front of which nobody is, as sanitizers are of the other one. */
int __clone(int (*run)(void *), void *stack, int flags, void *data, ...);

enum { COMM = 16, CHILD_STACK = 32 << 10 };

/* libtrace2's thread, and those of the wall clock: they block signals, and are not the program's */
static const char *const ours[] = { "trace2-drain", TR2P_WALL_COMM, TR2P_LOOK_COMM };

static int g_has_child;                       /* tr2p_tasks_init() has seen one */

/* In the child all numbers may be taken, but none is needed. */
static int open_proc(const char *path, int flags)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == EMFILE && tr2_load_rlx(&g_has_child)) { /* relaxed: a flag by itself */
		syscall(SYS_close, STDIN_FILENO);
		fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_RDONLY | O_CLOEXEC);
	}
	return (int)fd;
}

/* A file of the thread's.  Return  -1: the thread has ended */
static int open_file(pid_t tid, const char *name)
{
	char path[64] = "/proc/", digits[16];
	size_t n = strlen(path), i = sizeof(digits);
	unsigned number = (unsigned)tid;

	do
		digits[--i] = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(path + n, digits + i, sizeof(digits) - i);
	n += sizeof(digits) - i;
	path[n++] = '/';
	memcpy(path + n, name, strlen(name) + 1);
	return open_proc(path, 0);
}

static void read_name(pid_t tid, char *name, size_t size)
{
	int fd = open_file(tid, "comm");
	long n = fd < 0 ? 0 : syscall(SYS_read, fd, name, size - 1);

	if (fd >= 0)
		syscall(SYS_close, fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

void tr2p_tasks_name(pid_t tid, char *name, size_t size)
{
	if (tid == (pid_t)syscall(SYS_gettid) && size >= COMM)
		prctl(PR_GET_NAME, name);
	else
		read_name(tid, name, size);
}

/* ---- those that cannot answer ------------------------------------------------------------------------ */

/* The value of a line of the file "status", if it is this one; else NULL. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 ? line + n : NULL;
}

static uint64_t parse_hex(const char *text)
{
	uint64_t value = 0;

	for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
		value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static int says_that_it_cannot(const char *line, int signal)
{
	const char *state = value_of(line, "State:\t"), *blocked = value_of(line, "SigBlk:\t");

	return (state && *state == 'Z') || (blocked && parse_hex(blocked) >> (signal - 1) & 1);
}

int tr2p_tasks_cannot_answer(pid_t tid, int signal)
{
	char bytes[256], line[40] = "";
	int fd = open_file(tid, "status"), cannot = 0;
	size_t length = 0;
	long n;

	while (fd >= 0 && !cannot && (n = syscall(SYS_read, fd, bytes, sizeof(bytes))) > 0)
		for (long i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				line[length] = bytes[i];
				length += length < sizeof(line) - 1;
				continue;
			}
			line[length] = '\0';
			cannot |= says_that_it_cannot(line, signal);
			length = 0;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return cannot;
}

int tr2p_tasks_is_ours(const char *name)
{
	for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(name, ours[i]))
			return 1;
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* Return  0: it is no number */
static pid_t parse_tid(const char *text)
{
	pid_t tid = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		tid = tid * 10 + (*text - '0');
	return *text ? 0 : tid;
}

static int visit_one(const char *entry, int visit(pid_t tid, void *data), void *data)
{
	pid_t tid = parse_tid(entry);
	char name[COMM + 2] = "";

	if (tid > 0)
		read_name(tid, name, sizeof(name));
	return tid > 0 && !tr2p_tasks_is_ours(name) ? visit(tid, data) : 0;
}

struct walk {
	char tasks[64];               /* /proc/PID/task */
	int (*visit)(pid_t tid, void *data);
	void *data;
	int result;
};

static int walk(void *data)
{
	_Alignas(struct dirent64) char entries[512];
	struct walk *walk = data;
	int fd = open_proc(walk->tasks, O_DIRECTORY);
	long n;

	walk->result = fd < 0 ? errno : 0;
	while (!walk->result && (n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; !walk->result && at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(void *)(entries + at);
			walk->result = visit_one(entry->d_name, walk->visit, walk->data);
			at += entry->d_reclen;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return 0;
}

/* ---- the child ------------------------------------------------------------------------------------- */

/*
 * Its end sends no signal; nor does a debugger or tracer stop it.  What a terminal sends to all of its group
 * waits: a handler of the program's would run in the child, with the program's memory.
 * Return  0 or an error number
 */
static int run_in_child(int run(void *), void *data)
{
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_UNTRACED;
	char *stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, before;
	int error = 0;
	pid_t child;

	if (stack == MAP_FAILED)
		return errno;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	child = __clone(run, stack + CHILD_STACK, flags, data);
	if (child < 0)
		error = errno;
	else
		while (syscall(SYS_wait4, child, NULL, __WALL, NULL) < 0 && errno == EINTR)
			continue;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	munmap(stack, CHILD_STACK);
	return error;
}

static int set_flag(void *data)
{
	*(volatile int *)data = 1;
	return 0;
}

void tr2p_tasks_init(void)
{
	volatile int is_shared = 0;

	run_in_child(set_flag, (void *)(uintptr_t)&is_shared);
	tr2_store_rlx(&g_has_child, is_shared); /* relaxed: a flag by itself */
}

int tr2p_tasks_in_child(int run(void *), void *data)
{
	return tr2_load_rlx(&g_has_child) ? run_in_child(run, data) : ENOTSUP; /* relaxed: as above */
}

int tr2p_tasks_each(int visit(pid_t tid, void *data), void *data)
{
	struct walk what = { .tasks = "/proc/", .visit = visit, .data = data };
	const size_t n = strlen(what.tasks);
	/* the process's number in /proc, which may be that of another namespace */
	ssize_t length = readlink("/proc/self", what.tasks + n, sizeof(what.tasks) - n - sizeof("/task"));
	int error = 0;

	if (length < 0)
		return errno;
	memcpy(what.tasks + n + length, "/task", sizeof("/task"));
	if (tr2_load_rlx(&g_has_child)) /* relaxed: as above */
		error = run_in_child(walk, &what);
	else
		walk(&what);
	return error ? error : what.result;
}

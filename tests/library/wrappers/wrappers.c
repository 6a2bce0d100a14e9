/* SPDX-License-Identifier: MIT */
/*
 * wrappers.c - a library for LD_PRELOAD that stands in front of functions of libc and records each call, as shims for
 * memory and I/O do.  What it records of the program's calls is for check_wrappers.sh to count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <trace2.h>

static int is_on;

__attribute__((constructor)) static void begin(void)
{
	static const char *const argv[] = { "wrapped", NULL };

	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	is_on = 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A call of the next definition, in a region of its name. */
#define WRAPPED(type, name, ...) \
	do { \
		static __typeof__(&name) next; \
		type result; \
		int error; \
		if (!next) \
			next = NEXT(name); \
		if (!is_on) \
			return next(__VA_ARGS__); \
		trace2_region_enter("libc", #name, NULL); \
		result = next(__VA_ARGS__); \
		error = errno; \
		trace2_region_leave("libc", #name, NULL); \
		errno = error; \
		return result; \
	} while (0)

ssize_t write(int fd, const void *data, size_t bytes)
{
	WRAPPED(ssize_t, write, fd, data, bytes);
}

ssize_t read(int fd, void *data, size_t bytes)
{
	WRAPPED(ssize_t, read, fd, data, bytes);
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
	WRAPPED(ssize_t, send, fd, data, bytes, flags);
}

int close(int fd)
{
	WRAPPED(int, close, fd);
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	WRAPPED(int, poll, fds, n, ms);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	WRAPPED(void *, mmap, address, bytes, protection, flags, fd, offset);
}

int munmap(void *address, size_t bytes)
{
	WRAPPED(int, munmap, address, bytes);
}

int madvise(void *address, size_t bytes, int advice)
{
	WRAPPED(int, madvise, address, bytes, advice);
}

int mprotect(void *address, size_t bytes, int protection)
{
	WRAPPED(int, mprotect, address, bytes, protection);
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	WRAPPED(int, nanosleep, time, rest);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	WRAPPED(int, clock_gettime, clock, now);
}

pid_t getpid(void)
{
	WRAPPED(pid_t, getpid);
}

/* In the threads of the program, too, each of which is to have a name. */
struct start {
	void *(*run)(void *);
	void *data;
};

static void *run_named(void *data)
{
	const struct start start = *(const struct start *)data;

	if (is_on)
		trace2_thread_start("wrapped");
	return start.run(start.data);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
	static struct start starts[64];
	static unsigned n;
	struct start *start = &starts[__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 64];

	*start = (struct start){ run, data };
	return NEXT(pthread_create)(thread, attributes, run_named, start);
}

/* SPDX-License-Identifier: MIT */
/*
 * shim.c - stands in front of calls of libc in a program that nobody has changed, by LD_PRELOAD, and records them: what
 * LTTng-UST's helpers do, or somebody's own.  The library's calls go through it, too, where it uses libc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "trace2.h"

static ssize_t (*next_read)(int, void *, size_t);
static ssize_t (*next_write)(int, const void *, size_t);
static int (*next_close)(int);
static pid_t (*next_fork)(void);
static int is_on;

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Constructors of other libraries may call us before ours has run. */
static void find_all(void)
{
	*(void **)(void *)&next_read = find("read");
	*(void **)(void *)&next_write = find("write");
	*(void **)(void *)&next_fork = find("fork");
	*(void **)(void *)&next_close = find("close");
}

__attribute__((constructor)) static void start(void)
{
	const char *argv[] = { "shimmed", NULL };

	find_all();
	trace2_initialize();
	trace2_cmd_start(argv);
	is_on = 1;
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
	ssize_t n;
	int error;

	if (!next_read)
		find_all();
	if (is_on)
		trace2_region_enter("io", "read", NULL);
	n = next_read(fd, buffer, bytes);
	error = errno;
	if (is_on) {
		trace2_region_leave("io", "read", NULL);
		trace2_data_intmax("io", NULL, "bytes", n);
	}
	errno = error;
	return n;
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
	ssize_t n;
	int error;

	if (!next_write)
		find_all();
	if (is_on)
		trace2_region_enter_printf("io", "write", NULL, "%d %zu", fd, bytes);
	n = next_write(fd, buffer, bytes);
	error = errno;
	if (is_on)
		trace2_region_leave("io", "write", NULL);
	errno = error;
	return n;
}

int close(int fd)
{
	if (!next_close)
		find_all();
	if (is_on)
		trace2_data_intmax("io", NULL, "close", fd);
	return next_close(fd);
}

pid_t fork(void)
{
	pid_t pid;
	int error;

	if (!next_fork)
		find_all();
	if (is_on)
		trace2_region_enter("process", "fork", NULL);
	pid = next_fork();
	error = errno;
	if (is_on)
		trace2_region_leave("process", "fork", NULL);
	errno = error;
	return pid;
}

/* SPDX-License-Identifier: MIT */
/*
 * capabilities.c - a program of root that keeps capabilities while it becomes another user, as daemons do with libcap.
 *
 * Capabilities belong to a thread.  glibc has all threads execute setresgid(), and aborts the program if they are not
 * all allowed it, or all refused.
 *
 * usage: capabilities libc | syscall      by which functions it changes them
 * Exit status 0: each call did what it does in a program of one thread.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, LOOKS_US = 30000 };

int capset(void *header, const void *data);

static int by_syscall;

static int keep(void)
{
	return by_syscall ? (int)syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0) : prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
}

static int set(unsigned capabilities)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .effective = capabilities, .permitted = capabilities } };

	return by_syscall ? (int)syscall(SYS_capset, &header, data) : capset(&header, data);
}

static int refused(int result)
{
	return result == -1;
}

int main(int argc, char **argv)
{
	by_syscall = argc > 1 && !strcmp(argv[1], "syscall");
	usleep(LOOKS_US);                 /* meanwhile a profiler's threads start */
	if (keep() || setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	usleep(LOOKS_US);
	if (!refused(setresgid(NOBODY, NOBODY, NOBODY)))
		return 2;
	if (set(1u << CAP_SETGID))
		return 3;
	usleep(LOOKS_US);
	if (setresgid(NOBODY, NOBODY, NOBODY))
		return 4;
	if (set(0) || !refused(setresgid(0, 0, 0)))
		return 5;
	usleep(LOOKS_US);
	puts("done");
	return 0;
}

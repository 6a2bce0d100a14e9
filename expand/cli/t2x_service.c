/* SPDX-License-Identifier: MIT */
/* t2x_service.c - see t2x_service.h. */
#include "t2x_service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t2x_attach.h"
#include "t2x_window.h"

enum { MAX_DESCRIPTORS = 65536 };         /* where the kernel does not close a range, before Linux 5.9 */

int t2x_service_is_main(void)
{
	const char *value = getenv("SYSTEMD_EXEC_PID");
	char own[32];

	snprintf(own, sizeof(own), "%ld", (long)getpid());
	return value && !strcmp(value, own);
}

/* A socket that we kept open would stay bound when the program has closed it; stderr is for what we report. */
static int close_others(int keep)
{
	int fd = fcntl(keep, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), limit = (int)sysconf(_SC_OPEN_MAX);

	if (fd < 0)
		return keep;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	for (int other = STDERR_FILENO + 1; other < fd; other++)
		close(other);
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0U))
		return fd;
#endif
	for (int other = fd + 1; other < limit && other < MAX_DESCRIPTORS; other++)
		close(other);
	return fd;
}

/* What stops the service is for the program, and not for us. */
static void collect(const struct t2x_collecting *collecting, int process)
{
	struct pollfd ends = { .fd = close_others(process), .events = POLLIN };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (collecting->window)
		t2x_window_run(collecting->window, ends.fd);
	while (poll(&ends, 1, -1) < 0 && errno == EINTR)
		continue;
	if (ends.revents & POLLIN) {
		t2x_collect(collecting);
		t2x_attach(collecting);
	}
}

int t2x_service_collect_later(const struct t2x_collecting *collecting)
{
	int process = -1, error;
	pid_t child;

#ifdef SYS_pidfd_open
	process = (int)syscall(SYS_pidfd_open, getpid(), 0U);
#else
	errno = ENOSYS;
#endif
	child = process >= 0 ? fork() : -1;
	error = child < 0 ? -errno : 0;
	if (!child) {
		/* Its own child is nobody's, so that no wait() of the program returns it. */
		if (setsid() >= 0 && !fork())
			collect(collecting, process);
		_exit(0);
	}
	if (process >= 0)
		close(process);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	return error;
}

/* SPDX-License-Identifier: MIT */
/*
 * bench_cost - what a command costs.
 *
 * usage: bench_cost COMMAND [ARGUMENT...]
 *
 * Run the command and print "wall_us processor_us peak_kib" to descriptor 3, or to stderr when 3 is closed.
 * Exit status: the command's; 128 + signal; 127 when it cannot be run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

enum { REPORT_FD = 3, CANNOT_RUN = 127 };

static int64_t to_us(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int main(int argc, char **argv)
{
	int report_fd = fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) ? STDERR_FILENO : REPORT_FD;
	struct rusage used;
	uint64_t start_ns;
	int status, error;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: bench_cost COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	start_ns = bench_now_ns();
	error = posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ);
	if (error) {
		fprintf(stderr, "bench_cost: %s: %s\n", argv[1], strerror(error));
		return CANNOT_RUN;
	}
	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			bench_fail("wait4");
	dprintf(report_fd, "%" PRIu64 " %" PRId64 " %ld\n", (bench_now_ns() - start_ns) / 1000,
		to_us(used.ru_utime) + to_us(used.ru_stime), used.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

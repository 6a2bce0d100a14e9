/* SPDX-License-Identifier: MIT */
/* t2x_worker.c - see t2x_worker.h. */
#include "t2x_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_MS = 10000, SLICE_MS = 20, LOOK_MS = 100, SAID = 2048 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned running;

/* ---- how many -------------------------------------------------------------------------------------- */

static int try_to_enter(void)
{
	int is_free;

	pthread_mutex_lock(&lock);
	is_free = running < T2X_WORKERS;
	running += (unsigned)is_free;
	pthread_mutex_unlock(&lock);
	return is_free;
}

static void leave(void)
{
	pthread_mutex_lock(&lock);
	running--;
	pthread_mutex_unlock(&lock);
}

/* Return  1; 0: it takes too long; -1: the client has gone */
static int enter(const struct t2x_gate *gate)
{
	for (unsigned ms = 0; ms < QUEUE_MS; ms += SLICE_MS) {
		if (try_to_enter())
			return 1;
		if (!t2x_gate_wait(gate, SLICE_MS))
			return -1;
	}
	return 0;
}

/* ---- the child --------------------------------------------------------------------------------------- */

int t2x_worker_file(const char *directory)
{
	char path[4096];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	if (snprintf(path, sizeof(path), "%s/answer-XXXXXX", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

/* A macro, for libcs have different types for a resource. */
#define LIMIT(resource, value) \
	do { \
		struct rlimit now; \
		const rlim_t most = (value); \
		if (!getrlimit(resource, &now) && (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most)) \
			setrlimit(resource, &(struct rlimit){ most, now.rlim_max }); \
	} while (0)

static void set_limits(void)
{
#ifndef TR2_IS_SANITIZED   /* which map terabytes */
	LIMIT(RLIMIT_AS, (rlim_t)T2X_WORKER_MEMORY_MB << 20);
#endif
	LIMIT(RLIMIT_CPU, T2X_WORKER_CPU_S);
	LIMIT(RLIMIT_CORE, 0);
	/* A third of the program's share.  With less, Go's clients give up where processors are busy. */
	setpriority(PRIO_PROCESS, 0, 5);
}

/* Between fork and exec: only what is safe in a signal handler, for other threads may have had locks. */
static _Noreturn void become(const struct t2x_worker *worker, char *const *argv, int output, int said, pid_t parent)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (getppid() != parent)
		_exit(127);
	sigaction(SIGPIPE, &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Above all targets, so that no dup2() closes what a later one copies. */
	output = fcntl(output, F_DUPFD_CLOEXEC, 10);
	said = fcntl(said, F_DUPFD_CLOEXEC, 10);
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	if (worker->input >= 0 && dup2(fcntl(worker->input, F_DUPFD_CLOEXEC, 10), T2X_WORKER_INPUT) < 0)
		_exit(127);
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0)
		_exit(127);
	set_limits();
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* Return  its id; -1: there is none */
static pid_t start(const struct t2x_worker *worker, int output, int said)
{
	char *argv[T2X_WORKER_ARGUMENTS + 2] = { (char[]){ "t2" } };
	const pid_t parent = getpid();
	pid_t pid;

	for (unsigned i = 0; i < T2X_WORKER_ARGUMENTS && worker->arguments[i]; i++)
		argv[i + 1] = (char *)(uintptr_t)worker->arguments[i];
	pid = fork();
	if (!pid)
		become(worker, argv, output, said, parent);
	return pid;
}

/* RLIMIT_FSIZE would hold for copies of rings, too, which are long and hollow. */
static int is_too_large(int output)
{
	struct stat st;

	return fstat(output, &st) || st.st_size > (off_t)T2X_WORKER_OUTPUT_MB << 20;
}

/*
 * What it says on standard error, until that is closed.
 * Return  1: it has ended; 0: the client has gone; -1: it takes too long, or writes too much
 */
static int listen_to(const struct t2x_worker *worker, int fd, int output, char said[SAID])
{
	const uint64_t until = t2x_gate_clock() + T2X_WORKER_MS;
	size_t n = 0;

	for (;;) {
		int is_ready = t2x_gate_wait_for(worker->gate, fd, LOOK_MS);
		char rest[256];
		ssize_t got;

		if (is_ready < 0 && t2x_gate_clock() < until && !is_too_large(output))
			continue;
		if (is_ready <= 0)
			return is_ready;
		got = n + 1 < SAID ? read(fd, said + n, SAID - 1 - n) : read(fd, rest, sizeof(rest));
		if (got <= 0)
			return 1;
		n += n + 1 < SAID ? (size_t)got : 0;
		said[n] = '\0';
	}
}

/* The last line that it has said. */
static void explain(char *why, unsigned long size, char said[SAID])
{
	size_t n = strlen(said);
	const char *line;

	while (n && said[n - 1] == '\n')
		said[--n] = '\0';
	line = strrchr(said, '\n');
	snprintf(why, size, "%s", n ? line ? line + 1 : said : "the trace could not be read");
}

/* Return  0: it has failed, and why says why */
static int run(const struct t2x_worker *worker, int output, char *why, unsigned long size)
{
	char said[SAID] = "";
	int fds[2], status = 0, how;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		snprintf(why, size, "%s", strerror(errno));
		return 0;
	}
	pid = start(worker, output, fds[1]);
	close(fds[1]);
	how = pid < 0 ? 1 : listen_to(worker, fds[0], output, said);
	close(fds[0]);
	if (pid < 0) {
		snprintf(why, size, "no process could be made for it");
		return 0;
	}
	if (how <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	/* 3: parts are damaged, the rest is there */
	if (how > 0 && is_too_large(output))
		how = -1;
	if (how > 0 && WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == 3))
		return 1;
	if (how > 0 && WIFSIGNALED(status))
		snprintf(why, size, "it takes too much memory or time to read the trace");
	else if (how > 0)
		explain(why, size, said);
	else
		snprintf(why, size, "%s", how ? "it takes too long to read the trace, or the answer is too large" : "");
	return 0;
}

int t2x_worker_run(const struct t2x_worker *worker, char *why, unsigned long size)
{
	int may = enter(worker->gate), output, is_done;

	*why = '\0';
	if (may <= 0) {
		snprintf(why, size, "%s", may ? "" : "other requests are being answered: try again");
		return -1;
	}
	output = t2x_worker_file(worker->directory);
	if (output < 0)
		snprintf(why, size, "%s", strerror(-output));
	is_done = output >= 0 && run(worker, output, why, size);
	leave();
	if (!is_done && output >= 0)
		close(output);
	return is_done ? output : -1;
}

/* SPDX-License-Identifier: MIT */
/*
 * faults.c - the program into which harness_faults.sh injects faults.
 *
 * usage: faults EVENTS [TROUBLE]
 *   Two threads record half of EVENTS, then two others the other half.  Prints the number of checkpoints in all.  Exit
 *   status 7; 9 if a call has changed errno, 8 if a descriptor 0 to 2 is open that should not be.
 *   TROUBLE is what the program does to itself, before it is traced or while it is: see the table below.
 *   The variable FAULT injects a fault into the library:
 *     FAULT=N         its writes to descriptors from 3 on write at most N bytes, or random numbers below if N < 0
 *     FAULT=thread    the thread of the drain, which has a small stack, cannot be created
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"

enum { FINE = 7, OPENED = 8, ERRNO_CHANGED = 9, UNUSUAL_ERRNO = 4242 };

static long events, flush_each;             /* flush_each: so many events of a thread; 0: never */
static _Atomic long by_signals;
static _Atomic int has_changed;

/* ---- troubles ------------------------------------------------------------------------------------- */

static void close_standard(void)
{
	for (int fd = 0; fd < 3; fd++)
		close(fd);
}

static void close_others(void)
{
	closefrom(3);
}

/* Limit the descriptors to those that are open now and a few more. */
static void limit_descriptors(int some)
{
	int next = dup(STDIN_FILENO);
	const struct rlimit limit = { (rlim_t)(next + some), (rlim_t)(next + some) };

	close(next);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void leave_no_descriptor(void)
{
	limit_descriptors(0);
}

static void leave_one_descriptor(void)
{
	limit_descriptors(1);
}

static void leave_few_descriptors(void)
{
	limit_descriptors(3);
}

static void rotate_without_descriptor(void)
{
	leave_no_descriptor();
	trace2_rotate();
}

/* Limit the file to GROWTH bytes more than it has. */
static void limit_file(void)
{
	const char *growth = getenv("GROWTH");
	struct stat st = { .st_size = 0 };
	struct rlimit limit;

	if (stat(getenv("TRACE2_RAW"), &st))
		fstat(atoi(getenv("TRACE2_RAW")), &st);   /* a descriptor */
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = (rlim_t)st.st_size + (growth ? strtoul(growth, NULL, 10) : 5000);
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* Remove that limit, so that the library can report its losses. */
static void unlimit_file(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* Remove the file, the rings and their directories; only another name of the file remains. */
static void remove_directory(void)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf \"${TRACE2_RAW%%/*}\" \"$XDG_RUNTIME_DIR\"");
	if (system(command))
		_exit(1);
	trace2_rotate();
}

/* Open a file of the program's own on the descriptor that the trace would use. */
static void use_descriptor_nine(void)
{
	int fd = open(getenv("OWN"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (dup2(fd, 9) != 9)
		_exit(1);
}

static void check_nine(void)
{
	trace2_flush();
	if (lseek(9, 0, SEEK_END))
		_exit(1);
}

static void record_signal(int signo)
{
	by_signals += trace2_is_enabled();
	trace2_data_intmax("faults", NULL, "signal", signo);
}

/* Start a timer that interrupts every call that can be interrupted. */
static void begin_storm(void)
{
	const struct sigaction action = { .sa_handler = record_signal };   /* no SA_RESTART */
	const struct itimerval timer = { { 0, 150 }, { 0, 150 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Wait for the first signals: a timer may begin late. */
static void flush_amid_storm(void)
{
	for (int i = 0; i < 300 || by_signals < 10; i++)
		trace2_flush();
}

static void end_storm(void)
{
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	trace2_flush();
	setitimer(ITIMER_REAL, &none, NULL);
}

static void flush_often(void)
{
	flush_each = events / 40 + 1;
}

/* Wait for the drain's thread, which has its name only after it has run. */
static void stop_for_a_while(void)
{
	if (system("until grep -qx trace2-drain /proc/$PPID/task/*/comm; do sleep 0.01; done"))
		_exit(1);
	raise(SIGSTOP);
}

static const struct trouble {
	const char *name;
	void (*before)(void), (*amid)(void), (*after)(void);   /* it is traced; at half of the events; at the end */
} troubles[] = {
	{ "none", NULL, NULL, NULL },
	{ "closed", close_standard, NULL, NULL },
	{ "closefrom", NULL, close_others, NULL },
	{ "no-descriptor", leave_no_descriptor, NULL, NULL },
	{ "one-descriptor", leave_one_descriptor, NULL, NULL },
	{ "few-descriptors", leave_few_descriptors, NULL, NULL },
	{ "no-rotation", NULL, rotate_without_descriptor, NULL },
	{ "file-limit", NULL, limit_file, unlimit_file },
	{ "removed", NULL, remove_directory, NULL },
	{ "nine", NULL, use_descriptor_nine, check_nine },
	{ "storm", begin_storm, flush_amid_storm, end_storm },
	{ "stop", NULL, stop_for_a_while, NULL },
	{ "flush", flush_often, NULL, NULL },
};

static const struct trouble *find_trouble(const char *name)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
		if (!strcmp(troubles[i].name, name))
			return &troubles[i];
	return NULL;
}

/* ---- the program ---------------------------------------------------------------------------------- */

static void *record(void *unused)
{
	const struct timespec pause = { 0, 2000000 };

	trace2_thread_start("faults");
	for (long i = 0; i < events / 2; i++) {
		errno = UNUSUAL_ERRNO;
		trace2_data_intmax("faults", NULL, "i", i);
		if (errno != UNUSUAL_ERRNO)
			has_changed = 1;
		if (flush_each && i % flush_each == 0)
			trace2_flush();
		if (i % 2000 == 0)
			nanosleep(&pause, NULL);
	}
	trace2_thread_exit();
	return unused;
}

static int run_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, record, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* By the thread's start and exit four more each; version and atexit. */
static void tell(int is_closed)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%ld\n", 4 * (events / 2 + 2) + 2 + by_signals);

	if (!is_closed && write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

int main(int argc, char **argv)
{
	const struct trouble *trouble = find_trouble(argc == 3 ? argv[2] : "none");
	int is_closed;

	events = argc >= 2 ? atol(argv[1]) : 0;
	if (!trouble || !events)
		return 2;
	if (trouble->before)
		trouble->before();
	is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	trace2_initialize();
	if (run_threads())
		return 1;
	if (trouble->amid)
		trouble->amid();
	if (run_threads())
		return 1;
	if (trouble->after)
		trouble->after();
	tell(is_closed);
	for (int fd = 0; is_closed && fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return OPENED;
	return has_changed ? ERRNO_CHANGED : FINE;
}

/* ---- what the library calls ------------------------------------------------------------------------- */

enum { DRAIN_STACK = 256 * 1024 };

typedef void *run_function(void *);

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __real_tr2_sys_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_tr2_sys_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __real_tr2_sys_send(int fd, const void *data, size_t bytes, int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_function *run, void *data);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_function *run, void *data);

static size_t cut(int fd, size_t bytes)
{
	static _Atomic unsigned state = 1;
	const char *fault = getenv("FAULT");
	long most = fault ? atol(fault) : 0;

	if (most < 0) {
		state = state * 1103515245 + 12345;
		most = state / 65536 % -most + 1;
	}
	return fd < 3 || !most || bytes < (size_t)most ? bytes : (size_t)most;
}

ssize_t __wrap_tr2_sys_write(int fd, const void *data, size_t bytes)
{
	return __real_tr2_sys_write(fd, data, cut(fd, bytes));
}

ssize_t __wrap_tr2_sys_send(int fd, const void *data, size_t bytes, int flags)
{
	return __real_tr2_sys_send(fd, data, cut(fd, bytes), flags);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_function *run, void *data)
{
	const char *fault = getenv("FAULT");
	size_t stack = 0;

	if (attributes)
		pthread_attr_getstacksize(attributes, &stack);
	return fault && !strcmp(fault, "thread") && stack == DRAIN_STACK ?
		       EAGAIN : __real_pthread_create(thread, attributes, run, data);
}

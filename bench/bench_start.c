/* SPDX-License-Identifier: MIT */
/*
 * bench_start - what tracing adds to a short process, from its start to its end.
 *
 * usage: bench_start DIRECTORY ROUNDS
 *
 * Starts, in turn:
 *   - bench_bare, the same program without the library; the same with an empty library; the same with only the files
 *     that tracing needs; the same with all system calls of tracing
 *   - itself, linked with the library: without any call; with tracing off; with tracing on and ten events, into
 *     DIRECTORY/trace.tlg
 *   - `git version`, with and without GIT_TRACE2_EVENT
 * Measurements: bench.h, in us of CPU time.  bench_start_static is the same, linked with the static library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "trace2.h"

enum {
	EVENTS = 10, RUNS_A_ROUND = 8, CANNOT_RUN = 127,
	RING_BYTES = 512 << 20, RING_PAGES = 4, PAGE = 4096, TRACE_BYTES = 662,   /* of a process with ten events */
	TABLE_BYTES = 24 << 20, TABLE_PAGES = 8, THREAD_BYTES = 256 << 10, VARIABLE_PAGES = 4, HIGH_NUMBER = 200,
};

extern char **environ;

static char self[PATH_MAX], bare[PATH_MAX];
static char files[PATH_MAX], kernel[PATH_MAX];               /* the arguments that ask for be_files(), be_kernel() */
static char raw_setting[PATH_MAX], git_setting[PATH_MAX];    /* NAME=value */
static char found_setting[PATH_MAX];                         /* the library is found at once */
static char empty_setting[] = "LD_PRELOAD=libdl.so.2";       /* since glibc 2.34 there is nothing in it */
static char **plain_environment;                             /* without any setting */
static posix_spawn_file_actions_t silent;                    /* stdout to /dev/null */

static void be_child(void)
{
	trace2_initialize();
	for (int i = 0; i < EVENTS; i++)
		trace2_data_intmax("bench", NULL, "start", i);
}

static void touch_pages(volatile char *memory, unsigned pages)
{
	for (unsigned i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
}

/* Make a file in memory, in which events would outlive the process, whatever kills it.  Return  0: not possible */
static char *make_ring(char *path, size_t size)
{
	char *ring;
	int fd;

	snprintf(path, size, "/dev/shm/bench-%d", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0 || ftruncate(fd, RING_BYTES))
		return NULL;
	ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED || close(fd))
		return NULL;
	touch_pages(ring, RING_PAGES);
	return ring;
}

/*
 * Use the two files that any tracer needs whose events outlive the process: the file in memory, and the trace.  Use
 * only as much of both as ten events need, without making or reading events.
 */
static int be_files(const char *trace)
{
	static const char text[TRACE_BYTES];
	char path[64];
	int fd;

	if (!make_ring(path, sizeof(path)))
		return CANNOT_RUN;
	fd = open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, TRACE_BYTES) != TRACE_BYTES || close(fd))
		return CANNOT_RUN;
	return unlink(path) ? CANNOT_RUN : 0;
}

/* Ask for the kernel's clock source, the user, the host, and the time. */
static void ask_kernel(void)
{
	char answer[256];
	struct utsname host;
	struct timespec now;
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	int allowed;

	if (fd < 0 || read(fd, answer, sizeof(answer)) < 0 || close(fd) || prctl(PR_GET_TSC, &allowed) ||
	    readlink("/etc/localtime", answer, sizeof(answer)) < 0 || uname(&host) ||
	    clock_gettime(CLOCK_REALTIME, &now) || getrandom(answer, 8, GRND_NONBLOCK) < 0 ||
	    setenv("BENCH_SESSION", host.nodename, 1))
		errno = 0;   /* a call that fails does not matter */
}

/* Open the trace on a high descriptor, which programs do not expect to be free, and read its beginning. */
static int open_trace(const char *trace)
{
	char begin[4];
	struct stat st;
	int fd = open(trace, O_WRONLY | O_CREAT | O_NOCTTY | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666), moved;

	if (fd < 0 || fstat(fd, &st) || fcntl(fd, F_SETFL, O_APPEND))
		return -1;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_NUMBER);
	if (moved < 0 || close(fd) || !st.st_size)
		return moved;
	fd = open(trace, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 || read(fd, begin, sizeof(begin)) < 0 || close(fd) ? -1 : moved;
}

/* Use memory as the library does: large tables that are mostly empty, memory that a fork wipes, variables. */
static int use_memory(void)
{
	static char variables[VARIABLE_PAGES * PAGE];
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *tables = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	char *thread = mmap(NULL, THREAD_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (tables == MAP_FAILED || thread == MAP_FAILED || madvise(thread, THREAD_BYTES, MADV_WIPEONFORK))
		return -1;
	for (unsigned i = 0; i < TABLE_PAGES; i++)
		touch_pages(tables + i * (TABLE_BYTES / TABLE_PAGES), 1);
	touch_pages(thread, 1);
	touch_pages(variables, VARIABLE_PAGES);
	return 0;
}

/* Use a robust mutex, signal handlers and masks, and limits. */
static void set_up_signals(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t owner;
	struct sigaction action;
	struct rlimit limit;
	sigset_t all, old;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&owner, &attributes);
	pthread_mutex_trylock(&owner);
	getrlimit(RLIMIT_FSIZE, &limit);
	getrlimit(RLIMIT_AS, &limit);
	sigaction(SIGPIPE, NULL, &action);
	sigaction(SIGPIPE, &action, NULL);
	sigfillset(&all);
	for (int i = 0; i < 3; i++) {
		sigprocmask(SIG_SETMASK, &all, &old);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	sigpending(&old);
}

/* Make all system calls of the library once, and touch the pages that it touches, but without the library. */
static int be_kernel(const char *trace)
{
	static const char text[TRACE_BYTES];
	struct stat st;
	char path[64];
	int fd;

	ask_kernel();
	fd = open_trace(trace);
	if (fd < 0 || !make_ring(path, sizeof(path)) || use_memory())
		return CANNOT_RUN;
	set_up_signals();
	if (fstat(fd, &st) || write(fd, text, TRACE_BYTES) != TRACE_BYTES || close(fd))
		return CANNOT_RUN;
	return unlink(path) ? CANNOT_RUN : 0;
}

/* Run a program, with one more setting unless it is NULL.  Return  its exit status */
static int run(const char *program, const char *argument, char *setting)
{
	char *argv[] = { (char *)program, (char *)argument, NULL };
	size_t count = 0;
	int status, error;
	pid_t pid;

	while (plain_environment[count])
		count++;
	plain_environment[count] = setting;   /* there is room for two */
	if (program == self && *found_setting)
		plain_environment[count + (setting != NULL)] = found_setting;
	error = posix_spawnp(&pid, program, &silent, NULL, argv, plain_environment);
	plain_environment[count] = plain_environment[count + 1] = NULL;
	if (error)
		return CANNOT_RUN;
	if (waitpid(pid, &status, 0) != pid)
		bench_fail("wait");
	return status;
}

static void run_all(const char *program, const char *argument, char *setting, unsigned ops)
{
	for (unsigned i = 0; i < ops; i++) {
		int status = run(program, argument, setting);

		if (status) {
			fprintf(stderr, "bench: %s failed: %d\n", program, status);
			exit(1);
		}
	}
}

#define RUN_PROGRAM(name, program, argument, setting) \
	static void name(unsigned thread, unsigned ops) \
	{ \
		(void)thread; \
		run_all(program, argument, setting, ops); \
	}

RUN_PROGRAM(run_bare, bare, "idle", NULL)
RUN_PROGRAM(run_empty, bare, "idle", empty_setting)
RUN_PROGRAM(run_files, bare, files, NULL)
RUN_PROGRAM(run_kernel, bare, kernel, NULL)
RUN_PROGRAM(run_idle, self, "idle", NULL)
RUN_PROGRAM(run_off, self, "child", NULL)
RUN_PROGRAM(run_on, self, "child", raw_setting)
RUN_PROGRAM(run_git, "git", "version", NULL)
RUN_PROGRAM(run_git_on, "git", "version", git_setting)

enum { ON = 6, WITHOUT_GIT = 7 };
static struct bench_case cases[] = {
	{ .name = "a process without the library", .run = run_bare, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "with an empty library", .run = run_empty, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "the files alone", .run = run_files, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "the kernel's part alone", .run = run_kernel, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "linked, no call", .run = run_idle, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "initialized, tracing off", .run = run_off, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "tracing on, ten events", .run = run_on, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "git version", .run = run_git, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
	{ .name = "git version, event target", .run = run_git_on, .ops = RUNS_A_ROUND, .alone = 1, .children = 1 },
};

/* Make an environment without settings that turn tracing on, and with space for two settings. */
static void copy_environment(void)
{
	size_t count = 0, kept = 0;

	while (environ[count])
		count++;
	plain_environment = calloc(count + 3, sizeof(*plain_environment));
	if (!plain_environment)
		bench_fail("memory");
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "TRACE2", 6) && strncmp(environ[i], "GIT_TRACE2", 10))
			plain_environment[kept++] = environ[i];
}

/*
 * The loader finds an installed library in its cache.  It would search for this one in a dozen directories first, which
 * takes 30 us.  So a setting gives the loader its path.
 */
static void set_loader_path(void)
{
	Dl_info library;

	if (dladdr((void *)(uintptr_t)trace2_initialize_fl, &library) && strstr(library.dli_fname, ".so"))
		snprintf(found_setting, sizeof(found_setting), "LD_PRELOAD=%s", library.dli_fname);
}

static void set_up(const char *directory)
{
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = length > 0 ? strrchr(self, '/') : NULL;

	if (!slash || snprintf(bare, sizeof(bare), "%.*s/bench_bare", (int)(slash - self), self) >= (int)sizeof(bare))
		bench_fail("/proc/self/exe");
	if (snprintf(raw_setting, sizeof(raw_setting), "TRACE2_RAW=%s/trace.tlg", directory) >=
		    (int)sizeof(raw_setting) ||
	    snprintf(git_setting, sizeof(git_setting), "GIT_TRACE2_EVENT=%s/git", directory) >=
		    (int)sizeof(git_setting) ||
	    snprintf(files, sizeof(files), "files=%s/files", directory) >= (int)sizeof(files) ||
	    snprintf(kernel, sizeof(kernel), "kernel=%s/kernel", directory) >= (int)sizeof(kernel))
		bench_fail(directory);
	copy_environment();
	set_loader_path();
	if ((errno = posix_spawn_file_actions_init(&silent)) != 0 ||
	    (errno = posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)) != 0)
		bench_fail("spawn");
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;
	unsigned count = sizeof(cases) / sizeof(*cases);

	if (argc == 2 && !strcmp(argv[1], "child")) {
		be_child();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "idle"))
		return 0;
	if (argc == 2 && !strncmp(argv[1], "files=", 6))
		return be_files(argv[1] + 6);
	if (argc == 2 && !strncmp(argv[1], "kernel=", 7))
		return be_kernel(argv[1] + 7);
	if (!rounds) {
		fprintf(stderr, "usage: bench_start DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	set_up(argv[1]);
	if (run("git", "version", NULL) != 0) {
		puts("git is not here to compare with");
		count = WITHOUT_GIT;
	}
	bench_start();
	bench_measure(cases, count, rounds, NULL);
	bench_stop();
	for (unsigned i = 0; i < count; i++) {
		for (unsigned r = 0; r < rounds; r++)
			cases[i].ns[0][r] /= 1000;
		bench_print_values(cases[i].name, 1, "us", cases[i].ns[0], rounds);
	}
	printf("recorded %" PRIu64 "\n", cases[ON].done * EVENTS);
	return 0;
}

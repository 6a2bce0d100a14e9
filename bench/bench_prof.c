/* SPDX-License-Identifier: MIT */
/*
 * bench_prof - work whose profile is known, which prof.sh runs with preloaded profilers.
 *
 * usage: bench_prof malloc|lock|tick N
 *        bench_prof hogs MILLISECONDS
 *        bench_prof sites
 *
 *   malloc  free() and malloc() of 16 to 527 bytes, N times: prints the ns of CPU time of one such pair
 *   lock    lock and unlock a mutex without contention, N times: the same
 *   tick    a SIGPROF to itself, 13 calls deep, N times: the same; without a profiler an empty handler gets it
 *   hogs    two threads, each that long in a function of its own, hog_one() and hog_two(): prints the CPU time of each
 *   sites   10^6 allocations in three functions: prints of each the bytes that it allocated, and those still in use
 *
 * It is linked at a fixed address, so that an address in a profile is the one of the symbol table, and not with
 * libtrace2.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BARRIER() __asm__ volatile("" : : : "memory")

/* Functions that a profile must name; not static, so that the compiler neither clones nor removes one. */
void hog_one(uint64_t ns);
void hog_two(uint64_t ns);
void site_small(unsigned n);
void site_medium(unsigned n);
void site_large(unsigned n);

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* CPU time of this thread. */
static uint64_t used_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- single calls ---------------------------------------------------------------------------------- */

static void *sleep_on(void *data)
{
	pause();
	return data;
}

/* A second thread: libc's locks are cheaper while there is none, and a traced program has one. */
static void begin_second(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_on, NULL))
		fail("pthread_create");
}

enum { SLOTS = 64 };
static void *volatile slots[SLOTS];

static void run_malloc(unsigned n)
{
	uint32_t random = 1;

	for (unsigned i = 0; i < n; i++) {
		random = random * 1664525 + 1013904223;
		free(slots[i % SLOTS]);
		slots[i % SLOTS] = malloc(16 + (random >> 23));
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void run_lock(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		BARRIER();
		pthread_mutex_unlock(&lock);
	}
}

/* ---- ticks ----------------------------------------------------------------------------------------- */

static void *cookie;              /* of libtrace2-prof's timer: what its handler knows its ticks by */

/* Replaces libc's function: it stores the cookie, and makes the timer. */
__attribute__((visibility("default")))
int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
	int (*next)(clockid_t, struct sigevent *, timer_t *);

	*(void **)(void *)&next = dlsym(RTLD_NEXT, "timer_create");
	if (event && event->sigev_signo == SIGPROF)
		cookie = event->sigev_value.sival_ptr;
	return next(clock, event, timer);
}

static void ignore(int signo)
{
	(void)signo;
}

static void send_ticks(unsigned n)
{
	pid_t pid = getpid(), tid = gettid();
	siginfo_t info;

	for (unsigned i = 0; i < n; i++) {
		memset(&info, 0, sizeof(info));
		info.si_signo = SIGPROF;
		info.si_code = SI_TIMER;
		info.si_value.sival_ptr = cookie;
		if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGPROF, &info))
			fail("rt_tgsigqueueinfo");
	}
}

/* main(), this function so often, send_ticks() and syscall() are on the stack. */
static __attribute__((noinline)) void descend(unsigned depth, unsigned n)
{
	if (depth)
		descend(depth - 1, n);
	else
		send_ticks(n);
	BARRIER();        /* not a tail call */
}

static void run_tick(unsigned n)
{
	enum { DEPTH = 10 };
	struct sigaction now;

	if (syscall(SYS_rt_sigaction, SIGPROF, NULL, &now, 8))
		fail("rt_sigaction");
	if (now.sa_handler == SIG_DFL)
		signal(SIGPROF, ignore);
	descend(DEPTH, n);
}

/* ---- hogs ------------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) void hog(uint64_t ns)
{
	uint64_t end = used_ns() + ns;

	do
		for (volatile unsigned i = 0; i < 200000; i++)
			BARRIER();
	while (used_ns() < end);
}

__attribute__((noinline)) void hog_one(uint64_t ns)
{
	hog(ns);
}

__attribute__((noinline)) void hog_two(uint64_t ns)
{
	hog(ns);
}

static const struct hog {
	const char *name;
	void (*run)(uint64_t ns);
} hogs[] = { { "hog_one", hog_one }, { "hog_two", hog_two } };

static uint64_t hog_ns;

static void *run_hog(void *data)
{
	const struct hog *mine = data;
	uint64_t start = used_ns();

	mine->run(hog_ns);
	printf("%s %llu\n", mine->name, (unsigned long long)(used_ns() - start));
	return NULL;
}

static void run_hogs(unsigned ms)
{
	pthread_t threads[2];

	hog_ns = ms * UINT64_C(1000000);
	for (unsigned i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_hog, (void *)(uintptr_t)&hogs[i]))
			fail("pthread_create");
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- sites ----------------------------------------------------------------------------------------- */

enum { SMALL = 2048, MEDIUM = 4096, LARGE = 8192, KEPT_OF = 16, PARTS = 625 };
static void *volatile kept[1000000 / KEPT_OF];
static unsigned kept_count;

/* One in KEPT_OF stays. */
static inline __attribute__((always_inline)) void allocate(unsigned n, size_t size)
{
	for (unsigned i = 0; i < n; i++) {
		void *volatile memory = malloc(size);

		if (!memory)
			fail("malloc");
		if (i % KEPT_OF)
			free(memory);
		else
			kept[kept_count++] = memory;
	}
}

__attribute__((noinline)) void site_small(unsigned n)
{
	allocate(n, SMALL);
}

__attribute__((noinline)) void site_medium(unsigned n)
{
	allocate(n, MEDIUM);
}

__attribute__((noinline)) void site_large(unsigned n)
{
	allocate(n, LARGE);
}

static void run_sites(unsigned unused)
{
	/* of 1600 allocations; multiples of KEPT_OF */
	const struct site {
		const char *name;
		void (*run)(unsigned n);
		unsigned n, size;
	} sites[] = { { "site_small", site_small, 800, SMALL }, { "site_medium", site_medium, 480, MEDIUM },
		      { "site_large", site_large, 320, LARGE } };

	(void)unused;
	for (unsigned part = 0; part < PARTS; part++)
		for (unsigned i = 0; i < 3; i++)
			sites[i].run(sites[i].n);
	for (unsigned i = 0; i < 3; i++) {
		unsigned long long bytes = (unsigned long long)sites[i].n * sites[i].size * PARTS;
		printf("%s %llu %llu\n", sites[i].name, bytes, bytes / KEPT_OF);
	}
}

int main(int argc, char **argv)
{
	static const struct work {
		const char *name;
		void (*run)(unsigned n);
		int is_timed;
	} works[] = { { "malloc", run_malloc, 1 }, { "lock", run_lock, 1 }, { "tick", run_tick, 1 },
		      { "hogs", run_hogs, 0 }, { "sites", run_sites, 0 } };
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
	uint64_t start;

	for (unsigned i = 0; argc > 1 && n && i < sizeof(works) / sizeof(works[0]); i++) {
		if (strcmp(argv[1], works[i].name))
			continue;
		if (works[i].is_timed) {
			begin_second();
			works[i].run(n / 10 + 1);       /* memory, caches */
		}
		start = used_ns();
		works[i].run(n);
		if (works[i].is_timed)
			printf("%.3f\n", (double)(used_ns() - start) / n);
		return 0;
	}
	fputs("usage: bench_prof malloc|lock|tick N, hogs MILLISECONDS, sites\n", stderr);
	return 2;
}

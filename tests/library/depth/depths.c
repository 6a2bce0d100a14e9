/* SPDX-License-Identifier: MIT */
/*
 * depths.c - how deep handlers go: each path on a signal stack of its own, painted before and looked at afterwards, in
 * a thread of its own that has neither recorded nor been sampled before.
 *
 *   depths NAME      prints one number, the bytes below what the kernel has put there; NAME is a path, see g_paths
 *   depths small N   burns CPU time beside a signal stack that has N bytes below what the kernel puts there, and then a
 *                    page that nobody may touch
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <trace2.h>
#include <trace2_prof.h>

enum { BYTES = 1 << 16, PAINT = 0xa5, THREADS = 16 };

static volatile unsigned long sink;
static volatile int is_over;
static char *volatile beneath_kernel;     /* where a handler's own frame begins */

/* ---- work ----------------------------------------------------------------------------------------- */

static int order(const void *a, const void *b)
{
	sink++;
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) unsigned long recurse(unsigned n)
{
	int numbers[] = { 5, 3, 9, 1, 7, (int)n };

	qsort(numbers, 6, sizeof(numbers[0]), order);
	return n ? recurse(n - 1) + (unsigned long)numbers[0] : sink;
}

static __attribute__((noinline)) void burn(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		recurse(60);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 40);
}

/* ---- paths ---------------------------------------------------------------------------------------- */

static void tick(void)
{
	trace2_prof_start_cpu(500);
	burn();
}

/* Mostly in the kernel, whose functions are in front of samples then. */
static void tick_in_calls(void)
{
	struct timespec begin, now;

	trace2_prof_start_cpu(500);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (unsigned i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 200);
}

#ifdef __x86_64__
/* For the time of a few ticks; no unwind table knows it. */
__asm__(".pushsection .text\n"
	".type untabled, @function\n"
	"untabled:\n"
	"	pushq %rbx\n"
	"	movl $100000000, %ecx\n"
	"1:	decl %ecx\n"
	"	jnz 1b\n"
	"	popq %rbx\n"
	"	ret\n"
	".size untabled, . - untabled\n"
	".popsection\n");
void untabled(void);
#else
static void untabled(void)
{
	burn();
}
#endif

static void tick_in_assembler(void)
{
	trace2_prof_start_cpu(500);
	untabled();
	sink++;                           /* it does not become a jump */
}

static void tick_wall(void)
{
	trace2_prof_start_wall(500);
	burn();
}

static void wait_for_answer(void)
{
	for (unsigned i = 0; i < 50; i++)
		usleep(1000);
}

static void ask(void)
{
	raise(SIGUSR2);
	wait_for_answer();
}

static void on_record(int signal)
{
	(void)signal;
	trace2_region_enter("depth", "handler", NULL);
	trace2_data_string("depth", NULL, "key", "value");
	trace2_data_intmax("depth", NULL, "number", 42);
	trace2_region_leave("depth", "handler", NULL);
}

static void record(void)
{
	struct sigaction action = { .sa_handler = on_record, .sa_flags = SA_ONSTACK };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static const struct path {
	const char *name;
	void (*take)(void);
} g_paths[] = {
	{ "cpu", tick }, { "calls", tick_in_calls }, { "assembler", tick_in_assembler }, { "wall", tick_wall },
	{ "threads", ask }, { "record", record }
};

/* ---- measuring ------------------------------------------------------------------------------------ */

static void note_frame(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	beneath_kernel = context;
}

static void learn_frame(void)
{
	struct sigaction action = { .sa_sigaction = note_frame, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaction(SIGURG, &action, NULL);
	raise(SIGURG);
}

static void *measure(void *data)
{
	const struct path *path = data;
	char *low = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = low, .ss_size = BYTES };
	size_t clean = 0;

	if (low == MAP_FAILED || sigaltstack(&stack, NULL))
		exit(1);
	learn_frame();
	memset(low, PAINT, (size_t)(beneath_kernel - low) - 64);
	path->take();
	while (clean < BYTES && (unsigned char)low[clean] == PAINT)
		clean++;
	return (void *)(beneath_kernel - low - (ptrdiff_t)clean);
}

/* The stack, with such a page in front. */
static int burn_beside(size_t bytes)
{
	char *low = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = low + BYTES, .ss_size = BYTES };

	if (low == MAP_FAILED || mprotect(low, BYTES, PROT_NONE) || sigaltstack(&stack, NULL))
		return 1;
	learn_frame();
	stack.ss_size = (size_t)(low + 2 * BYTES - beneath_kernel) + bytes;
	if (sigaltstack(&stack, NULL))
		return 1;
	for (unsigned i = 0; i < 8; i++)
		burn();
	return 0;
}

int main(int argc, char **argv)
{
	size_t deepest = 0;

	if (argc == 3)
		return burn_beside(strtoul(argv[2], NULL, 10));

	trace2_initialize();
	trace2_cmd_start((const char *const *)argv);
	for (size_t i = 0; argc == 2 && i < sizeof(g_paths) / sizeof(g_paths[0]); i++)
		for (unsigned n = 0; n < THREADS && !strcmp(g_paths[i].name, argv[1]); n++) {
			void *depth;
			pthread_t thread;
			if (pthread_create(&thread, NULL, measure, (void *)(uintptr_t)&g_paths[i]))
				return 1;
			pthread_join(thread, &depth);
			if ((size_t)depth > deepest)
				deepest = (size_t)depth;
		}
	printf("%zu\n", deepest);
	return !deepest;
}

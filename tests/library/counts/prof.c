/* SPDX-License-Identifier: MIT */
/*
 * prof.c - repeats what a profiler is in front of, for check_instructions.sh to count the instructions of.
 *
 * usage: prof malloc|lock|tick N
 *
 * What is counted is all that count_malloc(), ... does.  A tick of CPU time is a call of the profiler's handler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

void count_malloc(int n);
void count_lock(int n);
void count_tick(int n);

static void *volatile kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *cookie;

/* In place of libc's: no timer, for this program makes the ticks, and has to know what they carry. */
int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
	(void)clock;
	cookie = event->sigev_value.sival_ptr;
	memset(timer, 0, sizeof(*timer));
	return 0;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict times, struct itimerspec *restrict old)
{
	(void)timer;
	(void)flags;
	(void)times;
	(void)old;
	return 0;
}

int timer_delete(timer_t timer)
{
	(void)timer;
	return 0;
}

void __attribute__((noinline)) count_malloc(int n)
{
	for (int i = 0; i < n; i++) {
		kept = malloc(100);
		free(kept);
	}
}

void __attribute__((noinline)) count_lock(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
}

/* The handler as the kernel has it, called: valgrind's count does not go on in handlers of signals. */
void __attribute__((noinline)) count_tick(int n)
{
	struct {
		void (*handler)(int signo, siginfo_t *info, void *context);
		unsigned long rest[3];
	} now;
	siginfo_t info;
	ucontext_t context;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGPROF;
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = cookie;
	if (getcontext(&context) || syscall(SYS_rt_sigaction, SIGPROF, NULL, &now, 8) || !now.handler)
		abort();
	for (int i = 0; i < n; i++)
		now.handler(SIGPROF, &info, &context);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*count)(int n);
	} table[] = { { "malloc", count_malloc }, { "lock", count_lock }, { "tick", count_tick } };

	for (size_t i = 0; argc == 3 && i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(argv[1], table[i].name))
			continue;
		table[i].count(10);
		table[i].count(atoi(argv[2]));
		return 0;
	}
	fputs("usage: prof malloc|lock|tick N\n", stderr);
	return 2;
}

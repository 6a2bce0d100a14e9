/* SPDX-License-Identifier: MIT */
/*
 * hot.c - a program for the preloaded profiler.  Known functions use CPU time, allocate memory that they keep, wait for
 * a lock, and make others wait.
 *
 * usage: hot      prints a line for each of them: profile, function, and the least nanoseconds or bytes of it
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BURN_NS = 1000000000, BLOCKS = 300, BLOCK = 100000, HOLD_NS = 50000000 };
enum { IS_WAITED_FOR = 2 };      /* glibc's lock */

/* Has a stack frame, and makes no tail call */
#define HERE __attribute__((noinline))
#define STAY __asm__ volatile("")

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held;
static void *volatile kept[BLOCKS];

static long long used_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

HERE static long long burn_here(void)
{
	const long long start = used_ns();
	volatile unsigned spun = 0;

	while (used_ns() < start + BURN_NS)
		for (int i = 0; i < 100000; i++)
			spun = spun + 1;
	return used_ns() - start;
}

HERE static void keep_here(void)
{
	for (int i = 0; i < BLOCKS; i++)
		kept[i] = malloc(BLOCK);
	STAY;
}

HERE static void unlock_here(void)
{
	pthread_mutex_unlock(&lock);
	STAY;
}

static void *hold(void *unused)
{
	const struct timespec pause = { 0, HOLD_NS };

	pthread_mutex_lock(&lock);
	sem_post(&is_held);
	while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_RELAXED) != IS_WAITED_FOR)
		sched_yield();
	while (nanosleep(&pause, NULL))
		continue;   /* ticks interrupt it */
	unlock_here();
	return unused;
}

HERE static void wait_here(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	STAY;
}

int main(void)
{
	pthread_t holder;

	sem_init(&is_held, 0, 0);
	if (pthread_create(&holder, NULL, hold, NULL))
		return 1;
	while (sem_wait(&is_held) && errno == EINTR)
		continue;
	wait_here();
	pthread_join(holder, NULL);
	keep_here();
	printf("cpu burn_here %lld\n", burn_here() / 2);   /* ticks come in groups, and late */
	printf("heap keep_here %lld\n", (long long)BLOCKS * BLOCK);
	printf("block wait_here %d\nmutex unlock_here %d\n", HOLD_NS, HOLD_NS);
	return 0;
}

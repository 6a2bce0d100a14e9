/* SPDX-License-Identifier: MIT */
/*
 * served.c - a program for `t2 serve': it computes, allocates, waits for a lock, and enters regions, until its input
 * ends.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <trace2.h>

static volatile double number;
static char *volatile memory;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void compute_here(void)
{
	for (int i = 0; i < 1000000; i++)
		number += i * 0.5;
}

__attribute__((noinline)) static void allocate_here(void)
{
	memory = malloc(100000);
	if (memory)
		memory[0] = 1;
	free(memory);
}

__attribute__((noinline)) static void wait_here(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *hold(void *data)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		usleep(2000);
		pthread_mutex_unlock(&lock);
		usleep(500);
	}
	return data;
}

int main(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	pthread_t thread;
	char c;

	trace2_initialize();
	if (pthread_create(&thread, NULL, hold, NULL))
		return 3;
	/* a question for all stacks is a signal, which interrupts poll() */
	while (poll(&input, 1, 1) <= 0 || read(0, &c, 1) > 0) {
		trace2_region_enter("serve", "turn", NULL);
		compute_here();
		allocate_here();
		wait_here();
		trace2_region_leave("serve", "turn", NULL);
	}
	_exit(0);
}

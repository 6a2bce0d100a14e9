/* SPDX-License-Identifier: MIT */
/*
 * waits PREFIX - a program with a contended lock, which knows itself how long its threads wait for it.
 *
 * Prints, in nanoseconds, what all threads have measured around their waits, and writes profiles to PREFIX.block.0 (the
 * message), PREFIX.block.1 (the text), and so on.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"

enum { THREADS = 4, ROUNDS = 40, HELD_NS = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long long read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) long long wait_here(void);
__attribute__((noinline)) void unlock_here(void);

long long wait_here(void)
{
	long long begin = read_clock();

	pthread_mutex_lock(&lock);
	return read_clock() - begin;
}

void unlock_here(void)
{
	pthread_mutex_unlock(&lock);
	__asm__ volatile("");   /* no tail call */
}

static void *work(void *data)
{
	const struct timespec held = { 0, HELD_NS };

	for (unsigned i = 0; i < ROUNDS; i++) {
		*(long long *)data += wait_here();
		nanosleep(&held, NULL);
		unlock_here();
	}
	return NULL;
}

__attribute__((noinline)) int create_here(pthread_t *thread, long long *waited);

int create_here(pthread_t *thread, long long *waited)
{
	int error = pthread_create(thread, NULL, work, waited);

	__asm__ volatile("");
	return error;
}

static int write_profile(const char *prefix, const char *name, int debug)
{
	char path[4096];
	int fd, error;

	snprintf(path, sizeof(path), "%s.%s.%d", prefix, name, debug);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0)
		return 1;
	error = trace2_prof_write_to(trace2_prof_lookup(name), fd, debug);
	return close(fd) || error;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "block", "mutex", "heap", "threadcreate" };
	pthread_t threads[THREADS];
	long long waited[THREADS] = { 0 }, all = 0;

	if (argc != 2)
		return 2;
	trace2_prof_set_block_rate(1);
	trace2_prof_set_mutex_fraction(1);
	for (unsigned i = 0; i < THREADS; i++)
		if (create_here(&threads[i], &waited[i]))
			return 1;
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		all += waited[i];
	}
	printf("%lld\n", all);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (write_profile(argv[1], names[i], 0) || write_profile(argv[1], names[i], 1))
			return 1;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * faults.c - the program that harness_faults.sh lets run into trouble.
 *
 * usage: faults EVENTS            two threads record so many each; prints how many checkpoints that makes in all
 *        faults quiet FILE        works on a file of its own, and records between its system calls
 * Exit status 7.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"

static long events;

static void *record(void *unused)
{
	const struct timespec pause = { 0, 2000000 };

	trace2_thread_start("faults");
	for (long i = 0; i < events; i++) {
		trace2_data_intmax("faults", NULL, "i", i);
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
	printf("%ld\n", 2 * (events + 2) + 2);   /* thread_start and thread_exit; version and atexit */
	return 7;
}

/* One round: what it records, and between, if fd is open, its own work. */
static int work_on(int fd, int round)
{
	int failed;

	trace2_region_enter("faults", "quiet", NULL);
	trace2_printf("round %d", round);
	failed = fd >= 0 && (write(fd, "round", 5) != 5 || lseek(fd, 0, SEEK_SET));
	trace2_region_leave("faults", "quiet", NULL);
	return failed;
}

static int run_quiet(const char *path)
{
	int fd, failed = work_on(-1, 0);   /* the first pass of a call registers it */

	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 40; i++)
		failed |= work_on(fd, i);
	close(fd);
	return failed ? 1 : 7;
}

int main(int argc, char **argv)
{
	trace2_initialize();
	if (argc == 3 && !strcmp(argv[1], "quiet"))
		return run_quiet(argv[2]);
	events = argc == 2 ? atol(argv[1]) : 0;
	return events ? run_threads() : 2;
}

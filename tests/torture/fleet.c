/* SPDX-License-Identifier: MIT */
/*
 * fleet - a program for harness_fleet.sh: two threads record regions and data for some time.
 *
 * usage: fleet MS PAUSE_US NUMBER
 * The texts differ, so that they do not compress to nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"

static uint64_t end_ms;
static useconds_t pause_us;
static unsigned number;

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void *record(void *name)
{
	unsigned seed = number * 7919;

	trace2_thread_start(name);
	for (int i = 0; now_ms() < end_ms; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%08x%08x%08x", rand_r(&seed), rand_r(&seed), rand_r(&seed));
		trace2_region_enter("fleet", "turn", NULL);
		trace2_data_intmax("fleet", NULL, "i", i);
		trace2_data_string("fleet", NULL, "text", text);
		trace2_region_leave("fleet", "turn", NULL);
		usleep(pause_us);
	}
	trace2_thread_exit();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 4)
		return 2;
	end_ms = now_ms() + strtoul(argv[1], NULL, 10);
	pause_us = (useconds_t)strtoul(argv[2], NULL, 10);
	number = (unsigned)strtoul(argv[3], NULL, 10);
	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_cmd_name("fleet");
	if (pthread_create(&thread, NULL, record, "second"))
		return 1;
	for (unsigned i = 0; now_ms() < end_ms; i++) {
		trace2_data_intmax("fleet", NULL, "main", i);
		usleep(pause_us * 3);
	}
	pthread_join(thread, NULL);
	trace2_cmd_exit(0);
	return 0;
}

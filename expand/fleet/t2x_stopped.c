/* SPDX-License-Identifier: MIT */
/* t2x_stopped.c - see t2x_stopped.h. */
#include "t2x_stopped.h"

#include <signal.h>
#include <time.h>

static volatile sig_atomic_t stopped;

static void on_signal(int signo)
{
	(void)signo;
	stopped = 1;
}

void t2x_stopped_catch(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int t2x_stopped(void)
{
	return stopped;
}

uint64_t t2x_stopped_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

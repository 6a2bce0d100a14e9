/* SPDX-License-Identifier: MIT */
/* t2x_window.c - see t2x_window.h. */
#include "t2x_window.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100 };
#define NEVER UINT64_MAX

int t2x_window_open(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0U);
#else
	(void)pid;
	errno = ENOSYS;
	return -1;
#endif
}

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int is_stopped(const struct t2x_window *window)
{
	return window->stop && *window->stop;
}

/* A signal that comes just before the sleep is seen a little later.  Return  1: the process has ended */
static int sleep_until(const struct t2x_window *window, int process, uint64_t until)
{
	struct pollfd ends = { .fd = process, .events = POLLIN };
	uint64_t now;
	int n = 0;

	while (n <= 0 && !is_stopped(window) && (now = clock_ms()) < until)
		n = poll(&ends, 1, (int)(until - now < LOOK_MS ? until - now : LOOK_MS));
	return n > 0;
}

/* Switch again and again, for processes come, until the time or the end of the process.  Return  1: it has ended */
static int keep(struct t2x_window *window, int process, uint64_t until, int (*change)(struct t2x_switch *these))
{
	uint64_t now;
	int has_ended = 0;

	while (!has_ended && !is_stopped(window) && (now = clock_ms()) < until) {
		change(&window->these);
		has_ended = sleep_until(window, process, until - now < LOOK_MS ? until : now + LOOK_MS);
	}
	return has_ended;
}

static uint64_t find_end(const struct t2x_window *window, uint64_t begin)
{
	return window->seconds_ms ? begin + window->seconds_ms : NEVER;
}

void t2x_window_run(struct t2x_window *window, int process)
{
	const uint64_t begin = clock_ms() + window->delay_ms, end = find_end(window, begin);
	int has_ended = sleep_until(window, process, begin);

	if (!has_ended)
		has_ended = window->delay_ms ? keep(window, process, end, t2x_switch_on) :
					       sleep_until(window, process, end);
	if (!has_ended)
		keep(window, process, NEVER, t2x_switch_off);
	t2x_switch_free(&window->these);
}

int t2x_window_attach(struct t2x_window *window, int process, int (*prepare)(void *data), void *data)
{
	int error = 0;

	if (!sleep_until(window, process, clock_ms() + window->delay_ms) && !is_stopped(window)) {
		error = !prepare(data);
		if (!error)
			keep(window, process, find_end(window, clock_ms()), t2x_switch_on);
		/* once more: children may have come while their parent was still on */
		error |= t2x_switch_off(&window->these) || t2x_switch_off(&window->these);
	}
	t2x_switch_free(&window->these);
	return error;
}

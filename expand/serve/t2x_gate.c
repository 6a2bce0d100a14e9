/* SPDX-License-Identifier: MIT */
/* t2x_gate.c - see t2x_gate.h. */
#include "t2x_gate.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

uint64_t t2x_gate_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int t2x_gate_wait_for(const struct t2x_gate *gate, int fd, uint32_t ms)
{
	const uint64_t until = t2x_gate_clock() + ms;
	struct pollfd fds[] = {
		{ .fd = gate->stop, .events = POLLIN }, { .fd = gate->client, .events = POLLRDHUP },
		{ .fd = fd, .events = POLLIN },
	};
	uint64_t now;
	int n;

	do {
		now = t2x_gate_clock();
		n = poll(fds, sizeof(fds) / sizeof(fds[0]), now < until ? (int)(until - now) : 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0 || fds[0].revents || fds[1].revents)
		return 0;
	return fds[2].revents ? 1 : -1;
}

int t2x_gate_wait(const struct t2x_gate *gate, uint32_t ms)
{
	return t2x_gate_wait_for(gate, -1, ms) != 0;
}

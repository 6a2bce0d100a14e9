/* SPDX-License-Identifier: MIT */
/*
 * t2x_gate.h - what ends a wait: the time, the server's end, or the client's.
 *
 * Each request has a thread of its own, which may wait for a profile or a worker.  It never waits for anything else
 * than these three at the same time.
 */
#ifndef T2X_GATE_H
#define T2X_GATE_H

#include <stdint.h>

struct t2x_gate {
	int stop;                         /* an eventfd, readable when the server ends */
	int client;                       /* a socket, -1: there is none */
};

/* Return  1: the time has passed; 0: the server ends, or the client has gone */
int t2x_gate_wait(const struct t2x_gate *gate, uint32_t ms);

/*
 * The same until a descriptor has something to read, or its other end is closed.
 * Return  1: it has; 0: as above; -1: the time has passed
 */
int t2x_gate_wait_for(const struct t2x_gate *gate, int fd, uint32_t ms);

/* Milliseconds of a clock that only goes on. */
uint64_t t2x_gate_clock(void);

#endif

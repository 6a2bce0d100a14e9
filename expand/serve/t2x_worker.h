/* SPDX-License-Identifier: MIT */
/*
 * t2x_worker.h - runs `t2' in a process of its own to read a trace for a request.
 *
 * A trace may be damaged or hostile, and large.  So each one is read by a child: with limits of memory, CPU time and
 * output, at low priority, and killed when the time is over, the client has gone or the server ends.  It gets
 * descriptors, no paths of clients.  At most T2X_WORKERS run at a time.
 */
#ifndef T2X_WORKER_H
#define T2X_WORKER_H

#include "t2x_gate.h"

enum {
	T2X_WORKERS = 4,
	T2X_WORKER_INPUT = 3,             /* the descriptor of the input in the child */
	T2X_WORKER_MS = 60000,
	T2X_WORKER_ARGUMENTS = 16,
};

/* What of the limits a worker may use; megabytes of memory and of output, seconds of CPU time. */
enum { T2X_WORKER_MEMORY_MB = 2048, T2X_WORKER_OUTPUT_MB = 512, T2X_WORKER_CPU_S = 60 };

struct t2x_worker {
	const char *const *arguments;     /* of t2; NULL behind the last */
	int input;                        /* -1: there is none */
	const char *directory;            /* where the output lies, without a name */
	const struct t2x_gate *gate;
};

/*
 * Run it.
 * Return  its output, at offset 0; -1: there is none, and why says why not, in words: "" if the client has gone
 */
int t2x_worker_run(const struct t2x_worker *worker, char *why, unsigned long size);

/* A file in the directory without a name, for one request.  Return  -errno */
int t2x_worker_file(const char *directory);

#endif

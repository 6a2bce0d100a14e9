/* SPDX-License-Identifier: MIT */
/*
 * program.h - what events cost in real work: the frame of bench_sqlite, bench_zstd and bench_server.
 *
 * usage: bench_NAME DIRECTORY ROUNDS MODE
 *
 * Each round measures, in an order that changes, the work without events and the work with events; then, on the same
 * threads, the same events in a loop that does nothing else.  MODE: off, on (the defaults), block, overwrite, live
 * (only the perf text), lttng.  Traces into DIRECTORY/trace.tlg or DIRECTORY/perf.  Prints measurements, bench.h, in ns
 * of the threads' CPU time for an event, and
 *     recorded N         events of category "bench" that the trace must hold
 *     recorded_lttng N   events that the LTTng session must hold
 *     drain NS           CPU time of the thread that writes the trace, and of flushing it between bursts
 */
#ifndef PROGRAM_H
#define PROGRAM_H

enum program_kind { PROGRAM_NONE, PROGRAM_OURS, PROGRAM_LTTNG, PROGRAM_KINDS };

struct program {
	const char *name;
	void (*set_up)(void);
	/* By kind; do as much work as has so many events, or record so many. */
	void (*work[PROGRAM_KINDS])(unsigned thread, unsigned events);
	void (*loop[PROGRAM_KINDS])(unsigned thread, unsigned events);
	unsigned work_events, loop_events;   /* of a burst; those of the loop have room in a ring of LTTng's and ours */
	int alone;                           /* 1: one thread only */
};

/* A program's main().  Return  its exit status */
int program_main(const struct program *program, int argc, char **argv);

/* End the program if what it computed is wrong. */
void program_check(int is_right, const char *what);

#endif

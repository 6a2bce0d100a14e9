/* SPDX-License-Identifier: MIT */
/*
 * bench.h - measures short operations, so that they can be compared.
 *
 * In each round every case runs one burst, in an order that changes, so that a disturbance of the machine affects all
 * cases.  A burst runs on one thread, and then, unless the case says otherwise, on two at the same time.  The two
 * threads live from bench_start() to bench_stop(), each bound to a processor if the system allows it.  Only the main
 * thread calls these functions.  Time is CPU time of the thread: the time of other work does not count.
 *
 * A benchmark prints measurements, one a line, with a tab between the fields,
 *     NAME  THREADS  UNIT  VALUE VALUE ...
 * with a value for each round.  The values of one round were measured right after each other.  table.py calculates
 * everything else: minimum, median, ratios.  Lines without tabs are no measurements: "recorded N" is the number of
 * events of category "bench" that the trace must have.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

enum { BENCH_THREADS = 2, BENCH_ROUNDS_MAX = 400, BENCH_CASES_MAX = 64 };

struct bench_case {
	const char *name;
	void (*run)(unsigned thread, unsigned ops);   /* do it `ops` times; thread: 0 or 1 */
	unsigned ops;                    /* a burst, even */
	int alone;                       /* 1: not measured on two threads */
	int children;                    /* 1: the time is that of the processes it starts and waits for */
	int recorded;                    /* 1: each operation records one checkpoint */
	uint64_t done;                   /* result: operations done, on all threads */
	double ns[BENCH_THREADS][BENCH_ROUNDS_MAX];   /* result: per operation, by threads - 1 and round */
};

/* Keep the compiler from moving or dropping what is before and after. */
#define bench_barrier() __asm__ volatile("" : : : "memory")

/* Define a function for a case: the call, ops times; i counts.  As in a real program, each has to look for itself. */
#define BENCH_CALL(name, call) \
	static void name(unsigned thread, unsigned ops) \
	{ \
		(void)thread; \
		for (unsigned i = 0; i < ops; i++) { \
			call; \
			bench_barrier(); \
		} \
	}

/* Keep the compiler from dropping the computation of a value. */
#define bench_keep(value) __asm__ volatile("" : : "r"(value) : "memory")

/* The raw clock, in ticks: what a traced program reads per event. */
static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
#error "no raw clock is known here"
#endif
}

/* CLOCK_MONOTONIC */
uint64_t bench_now_ns(void);

/* Print to stderr what failed and why (errno), and end the program. */
_Noreturn void bench_fail(const char *what);

/* A number of rounds from the command line, 1 to BENCH_ROUNDS_MAX; 0: it is none. */
unsigned bench_rounds(const char *text);

/* Let the library trace into DIRECTORY/trace.tlg, once it is initialized.  Ends the program if it cannot. */
void bench_trace_into(const char *directory);

/* Start the threads, and end them. */
void bench_start(void);
void bench_stop(void);

/*
 * Measure the cases, 1 to BENCH_CASES_MAX, after one round that does not count.
 * rounds  1 to BENCH_ROUNDS_MAX    after  runs behind each burst, untimed; or NULL
 */
void bench_measure(struct bench_case *cases, unsigned count, unsigned rounds, void (*after)(void));

/* Print the cases as measurements, in ns. */
void bench_print(const struct bench_case *cases, unsigned count, unsigned rounds);

/* Print "recorded N": the checkpoints that the cases have recorded, and `others`. */
void bench_print_recorded(const struct bench_case *cases, unsigned count, uint64_t others);

/* All of a benchmark of traced calls: start, measure with a flush after each burst, print, stop, "recorded N". */
void bench_traced(struct bench_case *cases, unsigned count, unsigned rounds);

/* Print one measurement. */
void bench_print_values(const char *name, unsigned threads, const char *unit, const double *values, unsigned count);

#endif

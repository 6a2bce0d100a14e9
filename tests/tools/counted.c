/* SPDX-License-Identifier: MIT */
/*
 * counted - repeats one operation, so that check_instructions.sh can count its instructions.
 *
 * usage: counted nothing|off|enter|intmax|printf|drain|requests|chunk|pass N FILE
 *
 * Traces into FILE, except with nothing and off.  The check counts the instructions of count_nothing(), ... or
 * count_pass() and of all that it calls; of count_chunk() only those of the slow path, which opens chunks.  There is
 * no thread for the drain (TRACE2_RAW_THREAD=off), so the runtime drains where it must, and all runs do the same work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace2.h"

/* Events recorded beforehand: more than one chunk, because the thread's first chunk may be shorter. */
enum { WARM_UP = 3000, CHUNK_EVENTS = TRACE2_CHUNK_V1_ / TRACE2_EVENT_V1_ };

#define BARRIER() __asm__ volatile("" : : : "memory")

void count_nothing(int n);
void count_off(int n);
void count_enter(int n);
void count_intmax(int n);
void count_printf(int n);
void count_drain(int n);
void count_chunk(int n);
void count_pass(int n);

void __attribute__((noinline)) count_nothing(int n)
{
	for (int i = 0; i < n; i++)
		BARRIER();
}

/* Tracing is off: the library is not initialized. */
void __attribute__((noinline)) count_off(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter("counted", "off", NULL);
		BARRIER();
	}
}

void __attribute__((noinline)) count_enter(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter("counted", "enter", NULL);
		BARRIER();
	}
}

void __attribute__((noinline)) count_intmax(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_data_intmax("counted", NULL, "intmax", i);
		BARRIER();
	}
}

void __attribute__((noinline)) count_printf(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter_printf("counted", "printf", NULL, "%s %d", "a message", i);
		BARRIER();
	}
}

/* Drain n events that wait in the ring. */
void __attribute__((noinline)) count_drain(int n)
{
	(void)n;
	trace2_flush();
}

/* Open n chunks, which have been used before, so their memory is there. */
void __attribute__((noinline)) count_chunk(int n)
{
	for (int i = 0; i < n * CHUNK_EVENTS; i++) {
		trace2_region_enter("counted", "chunk", NULL);
		BARRIER();
	}
}

/* Use chunks, by events whose slow path is not the one that is counted. */
static void use_chunks(int n)
{
	count_intmax(n * CHUNK_EVENTS / 2);
	trace2_flush();
}

/* Make n passes of the drain; each finds one event. */
void __attribute__((noinline)) count_pass(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter("counted", "pass", NULL);
		trace2_flush();
	}
}

static void record_regions(int n)
{
	for (int i = 0; i < n; i += 2) {
		trace2_region_enter("counted", "drain", NULL);
		trace2_region_leave("counted", "drain", NULL);
	}
}

/* n events as a server has them: a region with a message, "%s %d", around each request. */
static void record_requests(int n)
{
	for (int i = 0; i < n; i += 2) {
		trace2_region_enter_printf("counted", "request", NULL, "%s %d", i & 2 ? "GET" : "SET", i);
		trace2_region_leave("counted", "request", NULL);
	}
}

static const struct {
	const char *what;
	void (*count)(int n);
	void (*before)(int n);
	int off;
} table[] = {
	{ "nothing", count_nothing, NULL, 1 },
	{ "off", count_off, NULL, 1 },
	{ "enter", count_enter, NULL, 0 },
	{ "intmax", count_intmax, NULL, 0 },
	{ "printf", count_printf, NULL, 0 },
	{ "drain", count_drain, record_regions, 0 },
	{ "requests", count_drain, record_requests, 0 },
	{ "chunk", count_chunk, use_chunks, 0 },
	{ "pass", count_pass, NULL, 0 },
};

static void start(void)
{
	trace2_initialize();
	for (int i = 0; i < WARM_UP; i++)
		trace2_step("counted", "warm up");
	trace2_flush();
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0;

	if (n <= 0 || setenv("TRACE2_RAW", argv[3], 1) || setenv("TRACE2_RAW_THREAD", "off", 1)) {
		fputs("usage: counted nothing|off|enter|intmax|printf|drain|requests|chunk|pass N FILE\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(argv[1], table[i].what))
			continue;
		if (!table[i].off)
			start();
		if (table[i].before)
			table[i].before(n);
		table[i].count(n);
		return 0;
	}
	fprintf(stderr, "counted: what is \"%s\"?\n", argv[1]);
	return 2;
}

/* SPDX-License-Identifier: MIT */
/*
 * counted - repeats one thing, for check_instructions.sh to count the instructions of.
 *
 * usage: counted enter|intmax|printf|drain N FILE
 *
 * Traces into FILE.  What is counted is all that the function count_enter(), ... or count_drain() does,
 * and nothing outside of it.  There is no thread for the drain: pthread_create() below fails, and the
 * runtime then drains where it must.  So the same work is done in every run.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace2.h"

/* Recorded beforehand: more than one chunk, so that the thread's first, perhaps shorter, is behind it. */
enum { WARM_UP = 3000 };

#define BARRIER() __asm__ volatile("" : : : "memory")

void count_enter(int n);
void count_intmax(int n);
void count_printf(int n);
void count_drain(int n);

/* In place of libc's: the library, which is linked statically, gets this one. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	(void)thread;
	(void)attributes;
	(void)run;
	(void)argument;
	return EAGAIN;
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

/* n events wait in the ring. */
void __attribute__((noinline)) count_drain(int n)
{
	(void)n;
	trace2_flush();
}

static void record_regions(int n)
{
	for (int i = 0; i < n; i += 2) {
		trace2_region_enter("counted", "drain", NULL);
		trace2_region_leave("counted", "drain", NULL);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc == 4 ? argv[1] : "";
	int n = argc == 4 ? atoi(argv[2]) : 0;

	if (n <= 0 || setenv("TRACE2_RAW", argv[3], 1)) {
		fputs("usage: counted enter|intmax|printf|drain N FILE\n", stderr);
		return 2;
	}
	trace2_initialize();
	for (int i = 0; i < WARM_UP; i++)
		trace2_step("counted", "warm up");
	trace2_flush();
	if (!strcmp(what, "enter")) {
		count_enter(n);
	} else if (!strcmp(what, "intmax")) {
		count_intmax(n);
	} else if (!strcmp(what, "printf")) {
		count_printf(n);
	} else if (!strcmp(what, "drain")) {
		record_regions(n);
		count_drain(n);
	} else {
		fprintf(stderr, "counted: what is \"%s\"?\n", what);
		return 2;
	}
	return 0;
}

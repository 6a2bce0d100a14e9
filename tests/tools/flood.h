/* SPDX-License-Identifier: MIT */
/* flood.h - for tests: records many checkpoints, data_intmax of category "test", key "i", on one thread or several. */
#ifndef FLOOD_H
#define FLOOD_H

#include <pthread.h>

/* Record the values from, from + 1, ... to - 1. */
void flood(long from, long to);

/* A thread's function: record its start, the values 0 to (long)n - 1, and its exit. */
void *flood_thread(void *n);

/* Start such threads; wait for their end. */
void flood_begin(pthread_t *threads, int count, long n);
void flood_join(const pthread_t *threads, int count);

/* A program for traced_run(): trace2_initialize(), and two such threads. */
enum { FLOOD_THREADS = 2 };
int flood_program(void *n);

#endif

/* SPDX-License-Identifier: MIT */
/* flood.h - for tests: many checkpoints, from one thread or several: data_intmax of category "test", key "i". */
#ifndef FLOOD_H
#define FLOOD_H

#include <pthread.h>

/* The values from, from + 1, ... to - 1. */
void flood(long from, long to);

/* A thread's function: its start, the values 0 to (long)n - 1, its exit. */
void *flood_thread(void *n);

/* Start such threads; wait for their end. */
void flood_begin(pthread_t *threads, int count, long n);
void flood_join(const pthread_t *threads, int count);

/* A program for traced_run(): trace2_initialize(), and two such threads. */
enum { FLOOD_THREADS = 2 };
int flood_program(void *n);

#endif

/* SPDX-License-Identifier: MIT */
/* t2x_progress.c - see t2x_progress.h. */
#include "t2x_progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "t2x_stderr.h"
#include "base/t2x_out.h"
#include "read/t2x_in.h"

enum { CELLS = 20, LINE_BYTES = 80, NS_PER_S = 1000000000, FIRST_NS = NS_PER_S, STEP_NS = NS_PER_S / 10 };

static const char erase[] = "\r\033[K";

/* There is one terminal. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int is_started, is_stopping;
	uint64_t total, read_before;
	struct timespec start;
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the line ----------------------------------------------------------------------------------- */

/* "3:05", "1:00:00" */
static void put_time(char *to, unsigned size, uint64_t seconds)
{
	unsigned hours = (unsigned)(seconds / 3600), minutes = (unsigned)(seconds / 60 % 60);

	if (hours)
		snprintf(to, size, "%u:%02u:%02u", hours, minutes, (unsigned)(seconds % 60));
	else
		snprintf(to, size, "%u:%02u", minutes, (unsigned)(seconds % 60));
}

char *t2x_progress_put(char *to, unsigned size, uint64_t done, uint64_t total, uint64_t ns)
{
	double rate = ns ? (double)done * NS_PER_S / (double)ns : 0;
	char bar[CELLS + 1] = "", left[32];
	unsigned cells;

	if (!total) {
		snprintf(to, size, "%.1f MB read, %.1f MB/s", (double)done / 1e6, rate / 1e6);
		return to;
	}
	if (done > total)
		done = total;
	cells = (unsigned)((double)done / (double)total * CELLS);
	memset(bar, '#', cells);
	put_time(left, sizeof(left), rate > 0 ? (uint64_t)((double)(total - done) / rate + 0.5) : 0);
	snprintf(to, size, "[%-*s] %3u %%, %.1f MB/s, %s left", (int)CELLS, bar,
		 (unsigned)((double)done / (double)total * 100), rate / 1e6, left);
	return to;
}

static uint64_t ns_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(now.tv_sec - start->tv_sec) * NS_PER_S + (uint64_t)now.tv_nsec - (uint64_t)start->tv_nsec;
}

static void draw(void)
{
	char line[LINE_BYTES], text[LINE_BYTES + sizeof(erase)];
	int n;

	t2x_progress_put(line, sizeof(line), t2x_in_bytes_read() - progress.read_before, progress.total,
			 ns_since(&progress.start));
	n = snprintf(text, sizeof(text), "%s%s", erase, line);
	t2x_out_write_all(t2x_stderr_fd(), text, (size_t)n);
}

/* ---- the thread --------------------------------------------------------------------------------- */

static void add_ns(struct timespec *time, uint64_t ns)
{
	time->tv_nsec += (long)ns;
	if (time->tv_nsec >= NS_PER_S) {
		time->tv_nsec -= NS_PER_S;
		time->tv_sec++;
	}
}

static void *run(void *unused)
{
	struct timespec next = progress.start;
	int is_drawn = 0;

	next.tv_sec += FIRST_NS / NS_PER_S;
	pthread_mutex_lock(&progress.lock);
	while (!progress.is_stopping) {
		if (!pthread_cond_timedwait(&progress.changed, &progress.lock, &next))
			continue;
		draw();
		is_drawn = 1;
		clock_gettime(CLOCK_MONOTONIC, &next);
		add_ns(&next, STEP_NS);
	}
	if (is_drawn)
		t2x_out_write_all(t2x_stderr_fd(), erase, sizeof(erase) - 1);
	pthread_mutex_unlock(&progress.lock);
	return unused;
}

static int erase_at_signal(int signo)
{
	(void)signo;
	t2x_out_write_all(t2x_stderr_fd(), erase, sizeof(erase) - 1);
	return -1;
}

/* Signals are for the other threads.  Return  0 or an errno */
static int start_thread(void)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	int error;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&progress.thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void t2x_progress_start(uint64_t total)
{
	const char *term = getenv("TERM");

	if (!isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return;
	progress.total = total;
	/* of files the beginning is read twice, of a pipe that is all there is */
	progress.read_before = total ? t2x_in_bytes_read() : 0;
	progress.is_stopping = 0;
	clock_gettime(CLOCK_MONOTONIC, &progress.start);
	t2x_stderr_hold(erase_at_signal);
	progress.is_started = !start_thread();
	if (progress.is_started)
		return;
	pthread_cond_destroy(&progress.changed);
	t2x_stderr_release();
}

void t2x_progress_stop(void)
{
	if (!progress.is_started)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.is_stopping = 1;
	pthread_cond_signal(&progress.changed);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	pthread_cond_destroy(&progress.changed);
	progress.is_started = 0;
	t2x_stderr_release();
}

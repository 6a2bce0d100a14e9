/* SPDX-License-Identifier: MIT */
/*
 * idx_reader.h - a thread that takes paths from the queue, reads the files and counts.
 */
#ifndef IDX_READER_H
#define IDX_READER_H

#include <pthread.h>
#include <stdint.h>

#include "idx_queue.h"
#include "idx_words.h"
#include "trace2.h"

enum { IDX_READERS_MAX = 64 };

/* What all readers share.  Filled in before the first one starts, then only read, but for the queue. */
struct idx_job {
	struct idx_queue queue;
	struct trace2_repository tree;       /* the directory, as the trace knows it */
	int wait_timer, read_timer;          /* trace2_timer_define() */
	int files_counter, bytes_counter;    /* trace2_counter_define() */
};

struct idx_totals {
	uint64_t files, bytes, lines, unreadable;
};

/* One reader.  words and totals are its own until it was joined. */
struct idx_reader {
	struct idx_job *job;
	pthread_t thread;
	struct idx_words words;
	struct idx_totals totals;
};

/* Start a reader whose job is set and whose counts are zero.  Return 0, or an errno value. */
int idx_reader_start(struct idx_reader *reader);

/* Wait until the queue is closed and empty and the reader is done. */
void idx_reader_join(struct idx_reader *reader);

#endif

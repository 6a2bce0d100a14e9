/* SPDX-License-Identifier: MIT */
/*
 * t2x_html_data.h - the events of a page: columns of varints for each thread, written as chunks while they fill.
 *
 * expand/page/src/reader.mjs reads them, and says there what they look like.  Memory is that of one chunk, whatever the
 * size of the trace, and of a name for each process, thread, site, function and stack, of which there are only so
 * many: the events of further threads are left out, and counted.  Processes, threads and sites together have
 * T2X_HTML_NAME_BYTES; where they take much of it, chunks are smaller.
 */
#ifndef T2X_HTML_DATA_H
#define T2X_HTML_DATA_H

#include "t2x_html_block.h"
#include "t2x_html_sites.h"
#include "t2x_html_stacks.h"

enum t2x_html_code { T2X_HTML_LEAVE, T2X_HTML_CLOCK, T2X_HTML_DEPTH, T2X_HTML_FIRST_SITE };
enum {
	T2X_HTML_VERSION = 3,
	T2X_HTML_SCALE = 1 << 20,                 /* parts of one, in which scales are written */
	T2X_HTML_THREADS = 48 * 1024,             /* of all processes */
	T2X_HTML_SID_BYTES = 8 * 1024 * 1024,     /* of all session ids */
};

struct t2x_html_column {
	unsigned char *bytes;
	size_t length, room;
};

struct t2x_html_process {
	uint32_t pid, index;
	uint64_t number;                  /* under which it was last seen */
	char *sid;
	uint64_t start_ticks;
	struct t2x_map threads;           /* by thread id */
};

struct t2x_html_thread {
	struct t2x_html_process *process;
	uint32_t tid, index;
	uint64_t number;                  /* under which it was last seen */
	char name[25];
	unsigned depth;                   /* open regions, as the page counts them */
	uint64_t named;                   /* a bit for each of them, up to 64: its enter had a message */
	uint64_t clock_ns;                /* of its last event ... */
	uint64_t base_ns;                 /* ... and of the last one of its last chunk */
	uint32_t events;                  /* in the chunk ... */
	uint64_t all_events;              /* ... and before it */
	struct t2x_html_column operations, times, values, texts;
};

struct t2x_html_data {
	struct t2x_html_block *block;
	const char *source;               /* what the input is called; NULL: nobody knows */
	struct t2x_html_sites sites;
	struct t2x_html_stacks stacks;
	struct t2x_map processes;         /* by stream id */
	struct t2x_html_process **by_index;
	uint32_t process_count;
	struct t2x_html_thread **threads;
	uint32_t thread_count;
	struct t2x_html_thread *last;     /* of the last event: most come in runs */
	uint64_t epoch_ns;                /* of the first event of all */
	int32_t utcoff;
	size_t bytes;                     /* that the columns take */
	size_t sid_bytes;
	size_t held;                      /* of memory, for processes and threads */
	uint64_t left_out;                /* events */
	int error;                        /* -ENOMEM, once there was no memory */
};

/* The thread of an event.  Return  NULL: it is left out, or no memory */
struct t2x_html_thread *t2x_html_thread(struct t2x_html_data *data, const struct t2x_thread *thread, uint64_t ns);

/*
 * An event: at a site (code is T2X_HTML_FIRST_SITE and its number), or a leave.  With text, unless that is NULL.
 */
void t2x_html_event(struct t2x_html_data *data, struct t2x_html_thread *thread, uint64_t ns, uint64_t code,
		    const char *text, size_t length);

/* Behind t2x_html_event(): a number that an event of its kind has. */
void t2x_html_value(struct t2x_html_data *data, struct t2x_html_thread *thread, int64_t value);
void t2x_html_length(struct t2x_html_data *data, struct t2x_html_thread *thread, uint64_t ns);
/* How many a sample stands for, 1 or more. */
void t2x_html_scale(struct t2x_html_data *data, struct t2x_html_thread *thread, double scale);

/* So many regions are open now, whatever was said before. */
void t2x_html_depth(struct t2x_html_data *data, struct t2x_html_thread *thread, unsigned depth);

/* Write the rest of the events, and what all are about.  Then free everything. */
void t2x_html_finish(struct t2x_html_data *data);
void t2x_html_free(struct t2x_html_data *data);

#endif

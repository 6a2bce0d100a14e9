/* SPDX-License-Identifier: MIT */
/*
 * t2x_raw_stream.h - writes the stream of one process: blocks with their context, cycles, LZ4 frames.
 *
 * The raw clock counts microseconds since 1970.  The caller appends the events of a thread in their order; those of
 * several threads may be mixed.  A new cycle begins after T2X_RAW_CYCLE_BYTES, and repeats what its events need.
 */
#ifndef T2X_RAW_STREAM_H
#define T2X_RAW_STREAM_H

#include "t2x_git_line.h"
#include "t2x_raw_trace.h"

enum { T2X_RAW_CYCLE_BYTES = 1024 * 1024 };   /* of events */

struct t2x_raw_stream;

/*
 * trace     outlives the stream.  Before another stream of it is used, mark(), flush() or end() is called
 * number    distinguishes streams that have all else in common
 * start_us  the zero of t_abs
 * Return    NULL: no memory
 */
struct t2x_raw_stream *t2x_raw_stream_new(struct t2x_raw_trace *trace, const char *sid, size_t sid_bytes, uint32_t pid,
					  uint64_t number, uint64_t start_us);

/* A thread that is not known yet.  Return  its id; TLG_NO_THREAD: no memory */
uint32_t t2x_raw_stream_thread(struct t2x_raw_stream *stream, const char *name, size_t n, uint64_t start_us);

/*
 * Append a checkpoint.
 * shift_us   what the time of day that texts show is later than `us'
 * start_us   of the child, for the argument that line->start_arg names
 * Return     0 or -ENOMEM
 */
int t2x_raw_stream_append(struct t2x_raw_stream *stream, uint32_t tid, const struct t2x_git_line *line, uint64_t us,
			  int64_t shift_us, uint64_t start_us);

/* Nothing that is appended later is older. */
void t2x_raw_stream_mark(struct t2x_raw_stream *stream, uint64_t us);

/* Write all that has been appended, and free the memory for it. */
void t2x_raw_stream_flush(struct t2x_raw_stream *stream);

/* Write what is left; then END, if the process has ended.  Frees the stream. */
void t2x_raw_stream_end(struct t2x_raw_stream *stream, int has_ended);

#endif

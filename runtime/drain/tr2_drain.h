/* SPDX-License-Identifier: MIT */
/*
 * tr2_drain.h - the drain: the consumer of all rings.  It is a thread of its own, the consumer thread (tr2_wake.h), or
 * whoever flushes.
 *
 * A pass visits every ring once, moves committed events into blocks, and writes these when there are enough.  Chunks
 * go back to their threads only after the write that holds their events has returned.  A pass holds the drain's lock,
 * blocks all signals and allocates nothing.
 */
#ifndef TR2_DRAIN_H
#define TR2_DRAIN_H

#include <stdint.h>

#include "ring/tr2_thread.h"

/* Allocate what passes need and begin the stream.  After tr2_thread_init().  0 or -errno.  Signal unsafe */
int tr2_drain_init(uint32_t stream);

/*
 * Around fork(), in tr2_drain_fork.c: bring what the drain knows of the calling thread up to date, and hold its lock
 * until the child has a copy.  Blocks  at most 10 ms
 */
void tr2_drain_before_fork(void);
void tr2_drain_after_fork_parent(void);
void tr2_drain_after_fork_child(void);

/*
 * In a forked child, by the thread that forked, once: when its open regions were entered, outermost first.
 * Return  how many
 */
unsigned tr2_drain_open_regions(const struct tr2_thread *parent, uint64_t enters[TR2_REPEATED_REGIONS]);

/* In a forked child: forget the parent's state, but for the open destinations. */
void tr2_drain_reset(void);

/*
 * One pass of the drain's thread.  It writes when there is enough, or something older than age_ms or 50 ms.
 * Return  MOVED: there was something to do; BEHIND: more than a pass may take; OVER: the trace has ended
 */
enum tr2_drain { TR2_DRAIN_IDLE, TR2_DRAIN_MOVED, TR2_DRAIN_BEHIND, TR2_DRAIN_OVER };
enum tr2_drain tr2_drain_pass(unsigned age_ms);

/*
 * If the drain's thread has found that the program closed our files: open them again, in this thread of the program.
 * Signals masked.  Signal safe    Blocks never    Cost  nothing as a rule
 */
void tr2_drain_open_files(void);

/* The same, whether it has found that or not: it is about to be asked to write.  Blocks  at most 10 ms */
void tr2_drain_open_files_now(void);

/*
 * A ring is full and the drain's thread does not run: make a pass here, unless another one is under way.
 * may_be_handler  1: not with live text outputs, which take more stack than a handler may have
 * Return  1 if a pass was made    Signals masked
 */
int tr2_drain_instead(int may_be_handler);

/*
 * The drain's thread is missing and something recorded is old: move what is committed and write it, unless somebody
 * else is about to, or the destination would block.  It waits for nothing.
 * may_be_handler  as above    Signals masked
 */
void tr2_drain_in_passing(int may_be_handler);

/* 1: the trace has ended. */
int tr2_drain_is_over(void);

/* 1: waiting for chunks to be freed makes sense.  Another thread than this one may make a pass. */
int tr2_drain_may_come(void);

/*
 * Write all that was recorded so far.
 * Blocks  for another pass and for the write: while they make progress, else for a second    Signal unsafe
 */
void tr2_drain_flush(void);

/* Begin a new cycle, at once or with the next pass. */
void tr2_drain_next_cycle(void);

/*
 * Rotate: go on in a new file.  Finish: write END and close; whatever is recorded afterwards is not written.  Without
 * texts: where live text outputs cannot be written, for they allocate memory, they are given up.
 * Blocks  as tr2_drain_flush(); on a timeout what was not written stays in the ring file
 */
void tr2_drain_rotate(void);
void tr2_drain_finish(unsigned reason);
void tr2_drain_finish_without_texts(unsigned reason);

/* Leave one of these to the next pass of the drain's thread, or to the next flush.  Signal safe    Blocks never */
enum tr2_drain_task { TR2_DRAIN_NEXT_CYCLE, TR2_DRAIN_FLUSH, TR2_DRAIN_ROTATE, TR2_DRAIN_TASKS };
void tr2_drain_leave(enum tr2_drain_task task);

#endif

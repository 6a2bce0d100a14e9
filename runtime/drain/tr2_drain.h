/* SPDX-License-Identifier: MIT */
/*
 * tr2_drain.h - the drain: the consumer of all rings.  The consumer thread (tr2_wake.h) runs it, or a thread that
 * flushes.
 *
 * A pass visits every ring once, moves committed events into blocks, and writes these when there are enough.  Chunks
 * go back to their threads only after the write that holds their events has returned.  A pass holds the drain's lock,
 * blocks all signals and allocates nothing.
 */
#ifndef TR2_DRAIN_H
#define TR2_DRAIN_H

#include <stdint.h>

#include "ring/tr2_thread.h"

enum { TR2_DRAIN_TIMEOUT_US = 10000 };   /* with an unfinished event, before going around it */

/* Allocate what passes need and begin the stream.  After tr2_thread_init().  0 or -errno.  Signal unsafe */
int tr2_drain_init(uint32_t stream);

/*
 * Around fork(), in tr2_drain_fork.c: read the calling thread's ring to its end, or look ahead in it, and hold the
 * drain's lock until the child has a copy of what is known then.  Blocks  at most 10 ms
 */
void tr2_drain_before_fork(void);
void tr2_drain_after_fork_parent(void);
void tr2_drain_after_fork_child(void);

/*
 * In a forked child, by the thread that forked, once: when its open regions were entered, outermost first.
 * Return  how many
 */
unsigned tr2_drain_open_regions(const struct tr2_thread *parent, uint64_t enters[TR2_REPEATED_REGIONS]);

/* In a forked child: forget the parent's state, and keep the open destinations. */
void tr2_drain_reset(void);

/*
 * One pass of the consumer thread.  It writes if there is enough, or if something is older than age_ms or 50 ms.
 * Return  MOVED: it has read events; BEHIND: a ring had more than a pass may read; OVER: the trace has ended
 */
enum tr2_drain { TR2_DRAIN_IDLE, TR2_DRAIN_MOVED, TR2_DRAIN_BEHIND, TR2_DRAIN_OVER };
enum tr2_drain tr2_drain_pass(unsigned age_ms);

/*
 * Open files again that the program has closed, if the consumer thread has found that: the calling thread is one of the
 * program.  Signals masked.  Signal safe    Blocks never    Cost  a load as a rule
 */
void tr2_drain_open_files(void);

/* The same, whether it has found that or not: the caller asks it to write next.  Blocks  at most 10 ms */
void tr2_drain_open_files_now(void);

/*
 * With the lock: move and write all that was recorded until now; of a flight recorder only what was asked for.
 * Signals masked
 */
void tr2_drain_all(void);

/*
 * A ring is full and the consumer thread does not run: make a pass here, unless another thread makes one.
 * may_be_handler  1: not with live text outputs, which take more stack than a handler may have
 * Return  1 if a pass was made    Signals masked    File  tr2_drain_here.c
 */
int tr2_drain_instead(int may_be_handler);

/*
 * The consumer thread is missing and something recorded is old: move what is committed and write it, unless another
 * thread makes a pass, or the destination would block.  This function waits for nothing.
 * may_be_handler  as above    Signals masked
 */
void tr2_drain_in_passing(int may_be_handler);

/* 1: the trace has ended. */
int tr2_drain_is_over(void);

/*
 * With the lock: whether the calling thread can write.  A thread of the program opens again what the program closed.
 * Return  0: it cannot, now: no pass must be made, so that the events stay in the rings.  A daemon that has closed all
 *         descriptors and become another user may not open its trace: readers find the events in its ring file, as many
 *         as there is memory for
 * Cost    0.2 us
 */
int tr2_drain_may_write(void);

/* 1: waiting for chunks makes sense, for another thread may make a pass and release some. */
int tr2_drain_may_come(void);

/*
 * Write all that was recorded so far.
 * Return  1; 0: not all of it is written: the drain does not move, or a file is missing or full
 * Blocks  for another pass and for the write: while they make progress, else for a second    Signal unsafe
 */
int tr2_drain_flush(void);

/*
 * The session has paused: any number of checkpoints of each thread was not recorded.  Each thread that has recorded
 * before gets a gap there, and the stream a new cycle.  Blocks  as tr2_drain_flush()
 */
void tr2_drain_note_pause(void);

/* Begin a new cycle, at once or with the next pass. */
void tr2_drain_next_cycle(void);

/*
 * tr2_drain_rotate()  go on in a new file
 * tr2_drain_finish()  write END and close the destinations: later events are not written
 * ..._without_texts() the same where the caller cannot write live text outputs, which allocate memory: close these
 * Blocks  as tr2_drain_flush(); after a timeout the ring file has what was not written
 */
void tr2_drain_rotate(void);
void tr2_drain_finish(unsigned reason);
void tr2_drain_finish_without_texts(unsigned reason);

/* The next pass of the consumer thread, or the next flush, is to do one of these.  Signal safe    Blocks never */
enum tr2_drain_task { TR2_DRAIN_NEXT_CYCLE, TR2_DRAIN_FLUSH, TR2_DRAIN_ROTATE, TR2_DRAIN_TASKS };
void tr2_drain_leave(enum tr2_drain_task task);

/* 1: that has not been done yet; 0 also if it could not be done. */
int tr2_drain_is_left(enum tr2_drain_task task);

#endif

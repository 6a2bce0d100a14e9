/* SPDX-License-Identifier: MIT */
/*
 * tr2_drain.h - the reader of all rings: a thread of its own in a process that lives and records enough to
 * need one, else whoever flushes.
 *
 * One pass goes once through all rings, moves what is committed into blocks and writes these when there is
 * enough.  Chunks go back to their threads only after the write that holds their events has returned.  A pass
 * holds the drain's lock, blocks all signals, allocates nothing.
 */
#ifndef TR2_DRAIN_H
#define TR2_DRAIN_H

#include <stdint.h>

#include "ring/tr2_thread.h"

/* Allocate what passes need and begin the stream.  After tr2_thread_init().  0 or -errno.  Signal unsafe */
int tr2_drain_init(uint32_t stream);

/*
 * Around fork(), in tr2_drain_fork.c: bring what the drain knows of the calling thread up to date and keep passes out,
 * so that the child finds it in order; let them in again.  Blocks  at most 10 ms
 */
void tr2_drain_before_fork(void);
void tr2_drain_after_fork_parent(void);
void tr2_drain_after_fork_child(void);

/*
 * In a forked child, by the thread that forked, once: when its open regions were entered, outermost first.
 * Return  how many
 */
unsigned tr2_drain_open_regions(const struct tr2_thread *parent, uint64_t enters[TR2_KEPT_REGIONS]);

/* In a forked child: forget the parent's state, but for the open destinations. */
void tr2_drain_reset(void);

/*
 * One pass of the drain's thread: writes when there is enough, or when it is older than age_ms, or than 50 ms.
 * Return  whether there was something to do, and whether more of it was there than a pass may take; OVER: the trace has
 *         ended
 */
enum tr2_drain { TR2_DRAIN_IDLE, TR2_DRAIN_MOVED, TR2_DRAIN_BEHIND, TR2_DRAIN_OVER };
enum tr2_drain tr2_drain_pass(unsigned age_ms);

/*
 * If the drain's thread has found that the program has closed our files: open them again, here, in a thread of the
 * program.  Signals masked.  Signal safe    Blocks never    Cost  nothing as a rule
 */
void tr2_drain_open_files(void);

/* The same whether or not it has found that, for the thread is about to be asked to write.  Blocks  at most 10 ms */
void tr2_drain_open_files_now(void);

/*
 * A ring is full and the drain's thread does not run: make a pass here.  Return  1 if one was made.  Signals
 * masked.  Never waits for another pass.
 * may_be_handler  1: nor is one made for live texts, which take more of the stack than a handler may have
 */
int tr2_drain_instead(int may_be_handler);

/* 1: the trace has ended. */
int tr2_drain_is_over(void);

/* 1 if waiting for chunks to be freed makes sense: a pass may come, and it is not the caller itself who makes it. */
int tr2_drain_may_come(void);

/*
 * Write all that was recorded so far.
 * Blocks  for another pass and for the write, while these get on; a second if they do not    Signal unsafe
 */
void tr2_drain_flush(void);

/* Begin a new cycle, at once or with the next pass. */
void tr2_drain_next_cycle(void);

/*
 * Go on in a new file; write END and close, for good, whatever is recorded afterwards.
 * Blocks  as tr2_drain_flush().  If the drain does not move, what is missing at the end stays in the ring file.
 */
void tr2_drain_rotate(void);
void tr2_drain_finish(unsigned reason);

/* Leave one of them to the drain's thread: its next pass does it.  Signal safe    Blocks never */
enum tr2_drain_task { TR2_DRAIN_NEXT_CYCLE, TR2_DRAIN_FLUSH, TR2_DRAIN_ROTATE, TR2_DRAIN_TASKS };
void tr2_drain_leave(enum tr2_drain_task task);

#endif

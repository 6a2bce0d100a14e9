/* SPDX-License-Identifier: MIT */
/*
 * tr2_recovery.h - the recovery point: how much of the rings the .tlg file has.  With it a reader joins ring file and
 * .tlg file when the process is dead.
 *
 * After each write the drain stores in the ring file how long the stream is, and up to which event of each ring.  It
 * does that before any thread may overwrite these events.  Events behind the recovery point are still in the rings.  So
 * a reader uses the blocks of the file up to the point only, and then the rings.
 *
 * Thread  the holder of the drain's lock; tr2_recovery_pid_space() any
 */
#ifndef TR2_RECOVERY_H
#define TR2_RECOVERY_H

struct tr2_thread;

/* A stream begins: store its process and its file.  Nothing of it has been written. */
void tr2_recovery_begin(void);

/*
 * tr2_recovery_note()  the drain reads this ring: store its tail with the next recovery point
 * tr2_recovery_see()   store how far the drain has read it under its lock, for a write that does not get the lock
 */
void tr2_recovery_note(struct tr2_thread *thread);
void tr2_recovery_see(struct tr2_thread *thread);

/* In a forked child: forget the parent's rings. */
void tr2_recovery_reset(void);

/* A new recovery point: all that was appended is written, or counted as dropped.  Cost  0.3 us, 0.2 us a ring */
void tr2_recovery_written(void);

/* 1: the stream goes into a regular file, with which the ring file can be joined.  Cost  1 us */
int tr2_recovery_has_file(void);

/*
 * Store the namespace of the process's id, unless it is known.  The first look into /proc is costly: so the consumer
 * thread does it, or, without one, a thread that forks or has to drain its full ring.  Cost  up to 30 us    Errno kept
 */
void tr2_recovery_pid_space(void);

#endif

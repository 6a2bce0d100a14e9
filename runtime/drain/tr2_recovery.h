/* SPDX-License-Identifier: MIT */
/*
 * tr2_recovery.h - the recovery point: what the ring file says of the .tlg file, so that the two can be joined when the
 * process is dead.
 *
 * After each write, and before anything of it may be overwritten in the rings, the drain stores in the ring file how
 * far the stream is and up to where each ring is in it.  What was written behind the recovery point is still in the
 * rings; so a reader takes from the file only the blocks up to it.
 *
 * Thread  the holder of the drain's lock; tr2_recovery_pid_space() any
 */
#ifndef TR2_RECOVERY_H
#define TR2_RECOVERY_H

struct tr2_thread;

/* A stream begins: whose it is, where it goes; nothing of it has been written. */
void tr2_recovery_begin(void);

/*
 * A ring is about to be read: store its tail with the next recovery point.  And how far it has been read under its
 * lock, for a write that does not get that.
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
 * The namespace of the process's id, unless it is known.  Cost  up to 30 us, for the first look into /proc: left to the
 * drain's thread; without one, to the thread that forks, or whose full ring has to be drained.  Errno kept
 */
void tr2_recovery_pid_space(void);

#endif

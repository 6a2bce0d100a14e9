/* SPDX-License-Identifier: MIT */
/*
 * tr2_leftover.h - ring files that dead processes left with nothing in them.
 *
 * A process leaves its ring file when none of our code runs at its end: a signal, mostly.  A process that has given up
 * its user's rights may not remove its file.  Most such files hold nothing that is not written.  So each process now
 * and then looks into the directories of ring files, and removes some of these.  A process that was another program
 * before knows that by its session id, and removes the earlier program's file at once.  A file with something unwritten
 * stays for `t2 recover`.
 *
 * It opens only files of the calling process's user, and removes only files that nobody has mapped for writing.  The
 * kernel shows that by granting a read lease, as to expand/recover/t2x_alive.c.  The content of such a file decides
 * about nothing but its own removal.
 */
#ifndef TR2_LEFTOVER_H
#define TR2_LEFTOVER_H

/*
 * Look at 1,000 entries of each directory, and into some of the ring files there.
 * files   how many in each directory, 64 at most; if there are more, they are chosen at random
 * Thread  a program's, for it opens files; one at a time, others return at once    Signal safe    Errno kept
 * Cost    10 us for each directory, 5 us a file, and up to 1 ms for one whose process had hundreds of threads
 */
void tr2_leftover_collect(unsigned files);

/*
 * The same for those that this process left when it was another program, all of them.
 * Thread, cost  as above
 */
void tr2_leftover_collect_own(void);

/*
 * Is everything that the ring file holds written?  fd is the calling process's own file, or one of a dead process; what
 * others change meanwhile may be missed.
 * Return  1; 0 also if nobody can say now    Thread  any    Signal safe    Cost  5 us
 */
int tr2_leftover_is_empty(int fd);

/* In a forked child: the parent may have been in one of these functions. */
void tr2_leftover_reset(void);

#endif

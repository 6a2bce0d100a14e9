/* SPDX-License-Identifier: MIT */
/*
 * t2x_alive.h - whether the process of a ring file lives.
 *
 * Its id says little: it may be another process's by now, or one of another PID namespace, where it means nothing
 * here.  So the kernel is asked who has the file mapped: it grants a read lease (fcntl(2), F_SETLEASE) on a file only
 * if nobody has it open, or mapped, for writing.  A lease that is granted means that nobody lives, whatever the ids
 * say.  One that is refused means that somebody does: the process, or only children that it forked and that have
 * never recorded anything, which is told by the id if it is one of our namespace.
 */
#ifndef T2X_ALIVE_H
#define T2X_ALIVE_H

#include "t2x_ring.h"

enum t2x_alive {
	T2X_DEAD,
	T2X_ALIVE,
	T2X_ALIVE_ELSEWHERE,      /* or may be: its PID namespace is another, or not known */
};

enum t2x_alive t2x_alive(const struct t2x_ring *ring);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_alive.h - whether the process of a ring file lives.
 *
 * Its id says little: it may be another process's by now, or belong to another PID namespace.  So we ask the kernel
 * who has the file mapped: it grants a read lease (fcntl(2), F_SETLEASE) only on a file that nobody has open, or
 * mapped, for writing.  If it is granted, nobody lives, whatever the ids say.  If it is refused, somebody does: the
 * process, or only children that it forked and that have never recorded; which of the two the id says, if it is of our
 * namespace.
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

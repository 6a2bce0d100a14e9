/* SPDX-License-Identifier: MIT */
/*
 * t2x_alive.h - finds out whether the process of a ring file lives.
 *
 * The process id proves little: another process may have it by now, or it may belong to another PID namespace.  So we
 * ask the kernel whether anybody has the file mapped.  The kernel grants a read lease (fcntl(2), F_SETLEASE) only on a
 * file that nobody has open, or mapped, for writing.  If the kernel grants the lease, the process is dead, whatever
 * the id says.  If the kernel refuses it, either the process lives, or only children live that it forked and that have
 * never recorded.  The id tells these two cases apart, provided that it belongs to our namespace.
 */
#ifndef T2X_ALIVE_H
#define T2X_ALIVE_H

#include "t2x_ring.h"

enum t2x_alive {
	T2X_DEAD,
	T2X_ALIVE,
	T2X_ALIVE_ELSEWHERE,      /* perhaps alive, in a PID namespace that is not ours or not known */
};

enum t2x_alive t2x_alive(const struct t2x_ring *ring);

#endif

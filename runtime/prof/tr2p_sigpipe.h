/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sigpipe.h - a write to a peer that has gone returns an error, without the signal that would end the program.
 */
#ifndef TR2P_SIGPIPE_H
#define TR2P_SIGPIPE_H

#include <signal.h>

struct tr2p_sigpipe {
	sigset_t pipe, before;
	int was_pending;              /* then it is the program's */
};

/* Between the two SIGPIPE is blocked.  The second removes the one that a failed write() has raised.  Never cancelled */
void tr2p_sigpipe_hold(struct tr2p_sigpipe *held);
void tr2p_sigpipe_release(const struct tr2p_sigpipe *held, int error);

#endif

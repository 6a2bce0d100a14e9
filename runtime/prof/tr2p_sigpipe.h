/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sigpipe.h - writing to who may be gone: that is an error of write(), and no signal, which would end the program.
 */
#ifndef TR2P_SIGPIPE_H
#define TR2P_SIGPIPE_H

#include <signal.h>

struct tr2p_sigpipe {
	sigset_t pipe, before;
	int was_pending;              /* then it is the program's */
};

/* Between the two SIGPIPE is blocked; one that came, as the error of write() says, is taken back.  Never cancelled */
void tr2p_sigpipe_hold(struct tr2p_sigpipe *held);
void tr2p_sigpipe_release(const struct tr2p_sigpipe *held, int error);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_behind.h - output that is written while the next text is put together.
 *
 * A t2x_out passes its full buffers on and goes on with empty ones; writing them, in order, is a duty.  Memory:
 * T2X_BEHIND_BUFFERS buffers; when all are full, putting text together waits.
 */
#ifndef T2X_BEHIND_H
#define T2X_BEHIND_H

#include "t2x_crew.h"
#include "t2x_out.h"

enum { T2X_BEHIND_BUFFERS = 4 };

struct t2x_behind {
	struct t2x_duty duty;             /* first: a duty's address is this */
	struct t2x_crew *crew;
	int fd;
	int error;                        /* of the first write that failed; from here on guarded by the lock */
	unsigned nfull, nspare;
	struct t2x_full { char *buf; size_t n; } full[T2X_BEHIND_BUFFERS];
	char *spare[T2X_BEHIND_BUFFERS];
};

/* Output to fd, where out, which is new, wrote itself so far.  Return  0 or -ENOMEM: out does so on */
int t2x_behind_start(struct t2x_behind *behind, struct t2x_crew *crew, struct t2x_out *out, int fd);

/* All text has been flushed: wait until it is written, free the memory.  Return  0 or the first errno */
int t2x_behind_finish(struct t2x_behind *behind);

#endif

/* SPDX-License-Identifier: MIT */
/* tr2p_stacks_text.h - the stacks of all threads, as in a crash report: with the names that the process knows. */
#ifndef TR2P_STACKS_TEXT_H
#define TR2P_STACKS_TEXT_H

#include "base/t2x_out.h"
#include "tr2p_stacks.h"

/* Write them.  Return  0, the errno of write, or ENOMEM */
int tr2p_stacks_write(const struct tr2p_stacks_thread *threads, unsigned n, t2x_write_fn *write, void *target);

#endif

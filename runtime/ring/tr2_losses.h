/* SPDX-License-Identifier: MIT */
/*
 * tr2_losses.h - what has been lost, by thread and reason, in total since the process began.
 *
 * Whoever loses something counts it here at once: the thread that drops, the drain that cannot write.  The totals
 * go into every cycle, so that a lost LOSS event does no harm.  When the table is full, further threads are
 * counted under TLG_NO_THREAD, so that the sum stays exact.  It is in the ring file, so that it stays exact also when
 * the process is killed.
 */
#ifndef TR2_LOSSES_H
#define TR2_LOSSES_H

#include <stdint.h>

#include "tlg_ring.h"

/* Nothing lost yet.  After tr2_shm_create().  Thread  alone */
void tr2_losses_reset(void);

/*
 * Add to the total of a thread and reason, a TLG_LOSS_* value; nothing for count 0.
 * Thread  any, no lock    Signal safe    Orders [M9]    Cost  about 10 ns, and 1 ns for each total that there is
 */
void tr2_losses_add(uint32_t tid, unsigned reason, uint64_t count);

/* The same for the process itself. */
void tr2_losses_note(unsigned reason);

/* The total of a thread and reason; 0 if the table has none. */
uint64_t tr2_losses_of(uint32_t tid, unsigned reason);

/* Has a total changed since tr2_losses_begin()? */
int tr2_losses_changed(void);

/* How many totals there may be. */
unsigned tr2_losses_bound(void);

/* The first so many are about to be read: what changes from here on is a new change.  Orders [M9] */
void tr2_losses_begin(unsigned bound);

/* The total at i, below the bound.  Return  0: there is none */
int tr2_losses_get(unsigned i, struct tlg_loss *loss);

#endif

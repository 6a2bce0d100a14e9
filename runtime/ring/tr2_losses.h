/* SPDX-License-Identifier: MIT */
/*
 * tr2_losses.h - dropped events: totals by thread and reason since the process began.
 *
 * Each drop is counted at once: by the thread that drops, by the drain that cannot write.  Every cycle repeats the
 * totals, so a missing LOSS event does no harm.  When the table is full, further threads are counted under
 * TLG_NO_THREAD: the total stays exact.  The table is in the ring file, so it also survives kill -9.
 */
#ifndef TR2_LOSSES_H
#define TR2_LOSSES_H

#include <stdint.h>

#include "tlg_ring.h"

/* Begin with a new ring file, in which nothing is dropped yet.  After tr2_shm_create().  Thread  alone */
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

/* The caller reads all totals below the bound now: tr2_losses_changed() reports later changes.  Orders [M9] */
void tr2_losses_begin(unsigned bound);

/* The total at i, below the bound.  Return  0: there is none */
int tr2_losses_get(unsigned i, struct tlg_loss *loss);

#endif

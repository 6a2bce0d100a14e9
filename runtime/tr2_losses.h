/* SPDX-License-Identifier: MIT */
/*
 * tr2_losses.h - what has been lost, by thread and reason, in total since the process began.
 *
 * The totals go into every cycle, so that a lost LOSS event does no harm.  When the table is full, further threads
 * are counted under TLG_NO_THREAD.  Only the holder of the drain's lock calls anything here, but for
 * tr2_losses_note().
 */
#ifndef TR2_LOSSES_H
#define TR2_LOSSES_H

#include <stdint.h>

#include "tlg_ring.h"

void tr2_losses_reset(void);

/* One more loss of the process itself, anywhere; it joins the totals with tr2_losses_collect().  Signal safe */
void tr2_losses_note(unsigned reason);
void tr2_losses_collect(void);

/* Add to the total of a thread and reason; nothing for count 0. */
void tr2_losses_add(uint32_t tid, unsigned reason, uint64_t count);

/* The totals, and whether they have changed since tr2_losses_posted(). */
unsigned tr2_losses_count(void);
const struct tlg_loss *tr2_losses_at(unsigned i);
int tr2_losses_changed(void);
void tr2_losses_posted(void);

#endif

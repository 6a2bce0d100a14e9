/* SPDX-License-Identifier: MIT */
/*
 * tr2p_fde.h - finds the unwind table's entry (FDE) of the function that has an address, and what the entry shares with
 * others (its CIE).
 *
 * glibc finds the table of each module without a lock (_dl_find_object()), and the table is sorted.  Only libgcc's
 * registry knows code that a program has made itself, and fully static programs.  tr2p_fde_find() asks the registry
 * where that is safe.  It trusts that the tables of a loaded module are in memory, and reads them within their bounds.
 */
#ifndef TR2P_FDE_H
#define TR2P_FDE_H

#include <stdint.h>

#include "tr2p_bytes.h"

struct tr2p_fde {
	uintptr_t start, size;        /* of the function */
	const uint8_t *base;          /* the entry; expressions of its rules are counted from here */
	struct tr2p_bytes cie_program, program;
	uint32_t code_align;
	int32_t data_align;
	uint8_t encoding;             /* of addresses in it */
	uint8_t is_signal_frame;      /* what it goes back to was interrupted, and has not called */
	uint8_t has_length;           /* of what its entries say for those who throw */
	uint8_t ra;                   /* register of the return address */
};

/*
 * Find the entry of an address of code.
 * may_ask  1: it may ask libgcc's registry, too.  0 in a signal handler, which may have interrupted libgcc while that
 *          has its lock; and before GCC 13 libgcc allocates at the first question
 * Return   0: there is none    Signal safe
 */
int tr2p_fde_find(struct tr2p_fde *fde, uintptr_t pc, int may_ask);

/* Once, before the first: whether the tables of this very code are in the registry only. */
void tr2p_fde_init(void);

#endif

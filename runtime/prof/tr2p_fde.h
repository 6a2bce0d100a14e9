/* SPDX-License-Identifier: MIT */
/*
 * tr2p_fde.h - find what the unwind tables say of an address: the entry (FDE) of the function that it is in, with what
 * it shares with others (its CIE).
 *
 * glibc knows the table of each module, without a lock (_dl_find_object()), and the table is sorted.  Code that a
 * program has made itself, and fully static programs, are in libgcc's registry only.  That is asked where it is safe,
 * see tr2p_fde_find().  Tables of a loaded module are trusted to be in memory, and read within their bounds.
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
 * The entry of an address of code.
 * may_ask  libgcc's registry may be asked, too: no signal has interrupted libgcc, which may have its lock then, nor
 *          anything else, for before GCC 13 it allocates the first time
 * Return   0: there is none    Signal safe
 */
int tr2p_fde_find(struct tr2p_fde *fde, uintptr_t pc, int may_ask);

/* Once, before the first: whether the tables of this very code are in the registry only. */
void tr2p_fde_init(void);

#endif

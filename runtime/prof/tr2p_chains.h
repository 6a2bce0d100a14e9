/* SPDX-License-Identifier: MIT */
/*
 * tr2p_chains.h - stacks of the kernel, as perf_event_open(2) writes them into a ring.
 *
 * The kernel writes backward and overwrites the oldest, so the newest record is at the head, and behind it come older
 * ones.  Nobody is told of a record, and nobody acknowledges one: who reads has seen all up to a head of before.  A
 * record has the kernel's addresses, and the stack pointer and program counter with which the program entered the
 * kernel: with these it goes on.
 *
 * The functions here only read.  The kernel may write at the same time: what it has overwritten is not returned.
 */
#ifndef TR2P_CHAINS_H
#define TR2P_CHAINS_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

enum { TR2P_CHAIN = 48 };                     /* addresses of the kernel at most */

struct tr2p_chains {
	const struct perf_event_mmap_page *page;
	const unsigned char *data;
	size_t size;                          /* of data, a power of 2 */
	uint64_t seen;                        /* the head of the last look; 0 at first */
};

/* Where the program is when it goes on. */
struct tr2p_chains_place {
	uintptr_t pc, sp;
};

/* The head now, for the next three. */
uint64_t tr2p_chains_head(const struct tr2p_chains *chains);

/* Count the records from head on that have not been seen and are of this place; all: of any. */
unsigned tr2p_chains_count(const struct tr2p_chains *chains, uint64_t head, const struct tr2p_chains_place *place,
			   unsigned *all);

/*
 * The addresses of the nth of these, from 0 up, the innermost first; of a call an address in it.
 * Return  how many; 0: it is not there any more
 */
unsigned tr2p_chains_copy(const struct tr2p_chains *chains, uint64_t head, const struct tr2p_chains_place *place,
			  unsigned nth, uintptr_t *to, unsigned max);

#endif

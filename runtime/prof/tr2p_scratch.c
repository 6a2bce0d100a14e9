/* SPDX-License-Identifier: MIT */
/* tr2p_scratch.c - entries, and which of them are in use. */
#include "tr2p_scratch.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

enum { ENTRIES = 256, PROBES = ENTRIES };

/* The kernel gives memory only to what is used of it. */
static struct entry {
	alignas(max_align_t) char bytes[TR2P_SCRATCH_BYTES];
} g_entries[ENTRIES];

static uint8_t g_is_taken[ENTRIES];

/* Threads begin to look at different places. */
static unsigned first(void)
{
	return (unsigned)((uintptr_t)&tr2p_g_thread >> 6) * UINT32_C(0x9e3779b9) >> 24;
}

void *tr2p_scratch_acquire(void)
{
	unsigned at = first();

	for (unsigned i = 0; i < PROBES; i++, at++) {
		uint8_t *is_taken = &g_is_taken[at % ENTRIES];
		/* [P11] acquire: what its last user did.  Pairs with tr2p_scratch_release() */
		if (tr2_cas_acq_rel(is_taken, 0, 1))
			return g_entries[at % ENTRIES].bytes;
	}
	return NULL;
}

void tr2p_scratch_release(void *scratch)
{
	size_t at = (size_t)((struct entry *)scratch - g_entries);

	if (scratch) /* [P11] release: what was done with it.  Pairs with tr2p_scratch_acquire() */
		tr2_store_rel(&g_is_taken[at], 0);
}

/* SPDX-License-Identifier: MIT */
/* tr2_memory.c - see tr2_memory.h. */
#include "tr2_memory.h"

#include <stdint.h>
#include <sys/mman.h>

#include "tr2_atomic.h"
#include "tr2_sys.h"

enum {
	ALIGNMENT = 64, PAGE = 4096,
	SHARED_BYTES = 11 << 20,          /* all that is taken at the beginning, and something more */
};

static unsigned char *g_shared;
static uint32_t g_used;

void *tr2_memory_map(size_t bytes)
{
	return tr2_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/*
 * Most processes use but the beginning of a table: so a page and more begin at the beginning of one.
 * Return  where the bytes begin; SHARED_BYTES: there is no room for them
 */
static uint32_t take(size_t bytes)
{
	const uint32_t alignment = bytes < PAGE ? ALIGNMENT : PAGE;
	uint32_t used, at;

	do {
		used = tr2_load_rlx(&g_used); /* relaxed: only the total matters */
		at = (used + alignment - 1) & -alignment;
		if (at > SHARED_BYTES - bytes)
			return SHARED_BYTES;
	} while (!tr2_cas_rlx(&g_used, used, at + (uint32_t)bytes)); /* relaxed: as above */
	return at;
}

void *tr2_memory_acquire(size_t bytes)
{
	uint32_t at = SHARED_BYTES;

	if (!g_shared && !(g_shared = tr2_memory_map(SHARED_BYTES)))
		return NULL;
	if (bytes <= SHARED_BYTES)
		at = take(bytes);
	return at < SHARED_BYTES ? g_shared + at : tr2_memory_map(bytes);
}

/* SPDX-License-Identifier: MIT */
/* tr2_memory.c - see tr2_memory.h. */
#include "tr2_memory.h"

#include <stdint.h>
#include <sys/mman.h>

#include "tr2_atomic.h"
#include "tr2_sys.h"

enum {
	ALIGNMENT = 64, PAGE = 4096,
	NEAR_BYTES = 2 << 20, SHARED_BYTES = 11 << 20,   /* all that is taken at the beginning, and something more */
};

/* A part of the shared mapping: what is used of it so far, and where it ends. */
struct part {
	uint32_t used, end;
};

static unsigned char *g_shared;
static struct part g_near = { 0, NEAR_BYTES }, g_far = { NEAR_BYTES, SHARED_BYTES };

void *tr2_memory_map(size_t bytes)
{
	return tr2_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void *tr2_memory_begin(void)
{
	if (!g_shared)
		g_shared = tr2_memory_map(SHARED_BYTES);
	return g_shared;
}

/* Return  where the bytes begin; SHARED_BYTES: there is no room for them */
static uint32_t take(struct part *part, size_t bytes, uint32_t alignment)
{
	uint32_t used, at;

	do {
		used = tr2_load_rlx(&part->used); /* relaxed: only the total matters */
		at = (used + alignment - 1) & -alignment;
		if (bytes > part->end || at > part->end - bytes)
			return SHARED_BYTES;
	} while (!tr2_cas_rlx(&part->used, used, at + (uint32_t)bytes)); /* relaxed: as above */
	return at;
}

static void *acquire(struct part *part, size_t bytes, uint32_t alignment)
{
	uint32_t at;

	if (!tr2_memory_begin())
		return NULL;
	at = take(part, bytes, alignment);
	if (at == SHARED_BYTES && part != &g_far)
		at = take(&g_far, bytes, alignment);
	return at < SHARED_BYTES ? g_shared + at : tr2_memory_map(bytes);
}

/* Most processes use but the beginning of a table: so a page and more begin at the beginning of one. */
static uint32_t alignment_of(size_t bytes)
{
	return bytes < PAGE ? ALIGNMENT : PAGE;
}

void *tr2_memory_acquire(size_t bytes)
{
	return acquire(&g_near, bytes, alignment_of(bytes));
}

void *tr2_memory_acquire_beside(size_t bytes)
{
	return acquire(&g_near, bytes, ALIGNMENT);
}

void *tr2_memory_acquire_far(size_t bytes)
{
	return acquire(&g_far, bytes, alignment_of(bytes));
}

/* The mapping is split at its beginning only. */
void *tr2_memory_acquire_last(size_t bytes)
{
	const uint32_t at = SHARED_BYTES - (uint32_t)bytes;

	if (bytes > SHARED_BYTES / 2 || !tr2_memory_begin() || g_far.used > at || g_far.end != SHARED_BYTES)
		return tr2_memory_acquire_far(bytes);
	g_far.end = at;
	return g_shared + at;
}

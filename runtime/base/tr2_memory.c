/* SPDX-License-Identifier: MIT */
/* tr2_memory.c - see tr2_memory.h. */
#include "tr2_memory.h"

#include <stdint.h>
#include <sys/mman.h>

#include "tr2_atomic.h"
#include "tr2_sys.h"

enum { ALIGNMENT = 64, SHARED_BYTES = 6 << 20 };   /* all that is taken at the beginning, and something more */

static unsigned char *g_shared;
static uint32_t g_used;

static void *map(size_t bytes)
{
	return tr2_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void *tr2_memory_take(size_t bytes)
{
	uint32_t at;

	if (!g_shared && !(g_shared = map(SHARED_BYTES)))
		return NULL;
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > SHARED_BYTES)
		return map(bytes);
	at = tr2_add_rlx(&g_used, (uint32_t)bytes); /* relaxed: only the total matters */
	if (at <= SHARED_BYTES - bytes)
		return g_shared + at;
	tr2_add_rlx(&g_used, -(uint32_t)bytes); /* relaxed: as above; it must not wrap */
	return map(bytes);
}

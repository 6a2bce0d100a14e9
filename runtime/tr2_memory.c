/* SPDX-License-Identifier: MIT */
/* tr2_memory.c - see tr2_memory.h. */
#include "tr2_memory.h"

#include <stdint.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, MAPPING_BYTES = 24 << 20 };   /* all that is taken at the beginning, and something more */

static unsigned char *g_free;
static size_t g_left;

void *tr2_memory_take(size_t bytes)
{
	unsigned char *taken;

	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > g_left) {
		size_t length = bytes > MAPPING_BYTES ? bytes : MAPPING_BYTES;
		void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				    -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		g_free = memory;
		g_left = length;
	}
	taken = g_free;
	g_free += bytes;
	g_left -= bytes;
	return taken;
}

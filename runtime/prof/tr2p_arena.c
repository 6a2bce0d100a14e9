/* SPDX-License-Identifier: MIT */
/* tr2p_arena.c - one mapping, and how much of it is taken. */
#include "tr2p_arena.h"

#include <errno.h>
#include <stdalign.h>
#include <sys/mman.h>

#include "base/tr2_atomic.h"

enum { LARGEST = 64 << 20, SMALLEST = 1 << 20, ALIGN = alignof(max_align_t) };

static struct arena {
	char *memory;
	size_t bytes;
	size_t used;              /* above bytes: it was asked for more */
} g_arena;

int tr2p_arena_init(void)
{
	void *memory = MAP_FAILED;
	size_t bytes = LARGEST;

	for (; bytes >= SMALLEST; bytes /= 2) {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory != MAP_FAILED)
			break;
	}
	if (memory == MAP_FAILED)
		return errno;
	g_arena.memory = memory;
	g_arena.bytes = bytes;
	return 0;
}

void *tr2p_arena_acquire(size_t bytes)
{
	size_t rounded = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1), at;

	/* relaxed: a bound, checked again below */
	if (rounded > g_arena.bytes || tr2_load_rlx(&g_arena.used) > g_arena.bytes - rounded)
		return NULL;
	at = tr2_add_rlx(&g_arena.used, rounded); /* relaxed: only the place matters */
	return at <= g_arena.bytes - rounded ? g_arena.memory + at : NULL;
}

/* SPDX-License-Identifier: MIT */
/* tr2p_arena.c - the arena's parts, and how much of each is taken. */
#include "tr2p_arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/tr2_atomic.h"

enum { PARTS = 6, FIRST = 2 << 20, ALIGN = alignof(max_align_t) };

/* Each is twice as large as the one before.  Those behind the first are mapped when they are needed. */
static struct part {
	char *memory;
	size_t used;              /* above its size: it was asked for more */
} g_parts[PARTS];

static size_t size_of(unsigned i)
{
	return (size_t)FIRST << i;
}

/* relaxed, here and in map(): memory of zeros, whichever thread has mapped it */
static char *memory_of(unsigned i)
{
	return tr2_load_rlx(&g_parts[i].memory);
}

/* Two threads may do so at once: one mapping stays.  Return  NULL: a limit, or no memory; errno kept */
static char *map(unsigned i)
{
	int saved = errno;
	void *memory = mmap(NULL, size_of(i), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);

	if (memory == MAP_FAILED)
		memory = NULL;
	else if (!tr2_cas_rlx(&g_parts[i].memory, NULL, memory)) /* relaxed: as above */
		munmap(memory, size_of(i));
	errno = saved;
	return memory ? memory_of(i) : NULL;
}

int tr2p_arena_init(void)
{
	return memory_of(0) || map(0) ? 0 : ENOMEM;
}

static void *take(unsigned i, size_t bytes)
{
	struct part *part = &g_parts[i];
	size_t at;

	/* relaxed: a bound, checked again below */
	if (bytes > size_of(i) || tr2_load_rlx(&part->used) > size_of(i) - bytes)
		return NULL;
	if (!memory_of(i) && !map(i))
		return NULL;
	at = tr2_add_rlx(&part->used, bytes); /* relaxed: only the place matters */
	return at <= size_of(i) - bytes ? memory_of(i) + at : NULL;
}

void *tr2p_arena_acquire(size_t bytes)
{
	void *memory = NULL;

	if (bytes > SIZE_MAX - ALIGN)
		return NULL;
	bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	for (unsigned i = 0; i < PARTS && !memory; i++)
		memory = take(i, bytes);
	return memory;
}

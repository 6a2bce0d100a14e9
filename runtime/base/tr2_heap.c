/* SPDX-License-Identifier: MIT */
/* tr2_heap.c - powers of two out of mapped blocks. */
#include "tr2_heap.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "tr2_sys.h"

enum {
	MIN_BITS = 5, MAX_BITS = 17,        /* of a piece, its header included */
	BLOCK_BYTES = 1 << 18,                 /* pieces are cut from */
	PAGE_BYTES = 4096,
};

/* In front of what is given out.  A piece that is free holds the next one of its size behind it. */
struct piece {
	size_t bytes;                          /* with this header; more than the largest piece: it is a mapping */
	size_t before;                         /* bytes of the mapping in front of this header */
};
static_assert(sizeof(struct piece) == 2 * sizeof(size_t) && sizeof(struct piece) % 8 == 0, "what follows is aligned");

static struct heap {
	unsigned char *at;                     /* in the present block */
	size_t left;
	struct piece *freed[MAX_BITS + 1];
} g_heap;

static void *map(size_t bytes)
{
	int saved = errno;
	void *memory = tr2_sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	errno = saved;
	return memory;
}

static void *behind(struct piece *piece)
{
	return piece + 1;
}

static struct piece **next_of(struct piece *piece)
{
	return (struct piece **)behind(piece);
}

/* The size of a piece for so many bytes, as a power of two. */
static unsigned bits_for(size_t bytes)
{
	unsigned bits = MIN_BITS;

	while ((size_t)1 << bits < bytes + sizeof(struct piece))
		bits++;
	return bits;
}

/* A new piece, which reads as zeros.  What is left of a block that is too short stays unused. */
static struct piece *cut(unsigned bits)
{
	const size_t bytes = (size_t)1 << bits;
	struct piece *piece;

	if (g_heap.left < bytes) {
		unsigned char *block = map(BLOCK_BYTES);
		if (!block)
			return NULL;
		g_heap.at = block;
		g_heap.left = BLOCK_BYTES;
	}
	piece = (struct piece *)(void *)g_heap.at;
	g_heap.at += bytes;
	g_heap.left -= bytes;
	piece->bytes = bytes;
	return piece;
}

/* A mapping of its own; lead: bytes in front of what is given out, with the header at their end */
static void *map_alone(size_t bytes, size_t lead)
{
	const size_t whole = (lead + bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	unsigned char *base = whole < bytes ? NULL : map(whole);
	struct piece *piece;

	if (!base)
		return NULL;
	piece = (struct piece *)(void *)(base + lead) - 1;
	piece->bytes = whole - lead + sizeof(*piece);
	piece->before = lead - sizeof(*piece);
	return behind(piece);
}

static int is_mapping(const struct piece *piece)
{
	return piece->before || piece->bytes > (size_t)1 << MAX_BITS;
}

static void *take(size_t bytes, int *is_zero)
{
	unsigned bits = bytes < (size_t)1 << MAX_BITS ? bits_for(bytes) : MAX_BITS + 1;
	struct piece *piece;

	*is_zero = 1;
	if (bits > MAX_BITS)
		return map_alone(bytes, sizeof(struct piece));
	piece = g_heap.freed[bits];
	if (!piece) {
		piece = cut(bits);
		return piece ? behind(piece) : NULL;
	}
	g_heap.freed[bits] = *next_of(piece);
	*is_zero = 0;
	return behind(piece);
}

static void give_back(void *memory)
{
	struct piece *piece = (struct piece *)memory - 1;
	unsigned bits;

	if (is_mapping(piece)) {
		int saved = errno;
		tr2_sys_unmap((unsigned char *)piece - piece->before, piece->before + piece->bytes);
		errno = saved;
		return;
	}
	bits = (unsigned)__builtin_ctzl(piece->bytes);
	*next_of(piece) = g_heap.freed[bits];
	g_heap.freed[bits] = piece;
}

void *tr2_heap_resize(void *memory, size_t bytes)
{
	size_t had = memory ? ((struct piece *)memory - 1)->bytes - sizeof(struct piece) : 0;
	int is_zero;
	void *made;

	if (memory && !bytes) {
		give_back(memory);
		return NULL;
	}
	if (bytes <= had)
		return memory;
	made = take(bytes, &is_zero);
	if (made && memory) {
		memcpy(made, memory, had);
		give_back(memory);
	}
	return made;
}

void *tr2_heap_zeroed(size_t bytes)
{
	int is_zero;
	void *made = take(bytes, &is_zero);

	return made && !is_zero ? memset(made, 0, bytes) : made;
}

void *tr2_heap_aligned(size_t alignment, size_t bytes)
{
	return alignment == PAGE_BYTES ? map_alone(bytes, PAGE_BYTES) : tr2_heap_zeroed(bytes);
}

void tr2_heap_reset(void)
{
	memset(&g_heap, 0, sizeof(g_heap));
}

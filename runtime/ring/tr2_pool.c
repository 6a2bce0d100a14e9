/* SPDX-License-Identifier: MIT */
/* tr2_pool.c - see tr2_pool.h. */
#include "tr2_pool.h"

#include <errno.h>

#include "base/tr2_memory.h"
#include "base/tr2_stack.h"

enum {
	PAGE = 4096,
	SIZES = 5,                        /* 0, 2, 4, 8 and 16 pages */
	OWN_PAGES = 2 * TR2_SHORT_PAGES,  /* that each thread adds to the bound */
	DEFAULT_PAGES = (64 << 20) / PAGE,
	MANY_PAGES = 4 * TR2_WHOLE_PAGES, /* a thread that has so many gets nothing of the last eighth */
	FIRST_CHUNKS = 64,
};

static struct pool {
	struct { _Alignas(64) struct tr2_stack chunks; } free[SIZES];   /* by pages, rounded down */
	unsigned char first[FIRST_CHUNKS];  /* pages of each chunk, whether free or not: of the first ones, ... */
	unsigned char *pages;             /* ... and of the others: a page less for a short process to touch */
	uint32_t *links;
	_Alignas(64) uint32_t bound;      /* pages, without what threads add */
	uint32_t threads;
	uint32_t committed, taken;        /* pages, the latter without those of free chunks */
} g_pool;

int tr2_pool_init(size_t bytes)
{
	const size_t links = tr2_g_shm.max_chunks * sizeof(*g_pool.links);
	unsigned char *memory = tr2_memory_acquire_far(links + tr2_g_shm.max_chunks);

	if (!memory)
		return -errno;
	g_pool = (struct pool){ .bound = bytes ? (uint32_t)(bytes / PAGE) : DEFAULT_PAGES };
	g_pool.links = (uint32_t *)(void *)memory;
	g_pool.pages = memory + links;
	for (unsigned i = 0; i < SIZES; i++)
		g_pool.free[i].chunks.links = g_pool.links;
	return 0;
}

/* ---- how much ----------------------------------------------------------------------------------- */

uint32_t tr2_pool_threads(void)
{
	return tr2_load_rlx(&g_pool.threads); /* relaxed: a share, not a promise */
}

void tr2_pool_count_thread(int change)
{
	tr2_add_rlx(&g_pool.threads, (uint32_t)change); /* relaxed: as above */
}

static uint32_t bound(void)
{
	return tr2_load_rlx(&g_pool.bound); /* relaxed: a number by itself */
}

void tr2_pool_set_bound(size_t bytes)
{
	tr2_store_rlx(&g_pool.bound, (uint32_t)(bytes / PAGE)); /* relaxed: as above */
}

uint32_t tr2_pool_bound(void)
{
	return bound() + OWN_PAGES * tr2_pool_threads();
}

static uint32_t taken(void)
{
	return tr2_load_rlx(&g_pool.taken); /* relaxed: a statistic */
}

uint32_t tr2_pool_taken(void)
{
	return taken();
}

int tr2_pool_is_short(void)
{
	return taken() > tr2_pool_bound() / 2;
}

int tr2_pool_is_used_up(void)
{
	return taken() + TR2_WHOLE_PAGES >= tr2_pool_bound() - tr2_pool_bound() / 8;
}

/* The current chunks of all threads together are a sixteenth of the pool, or a shortest chunk for each thread. */
unsigned tr2_pool_share(void)
{
	uint32_t threads = tr2_pool_threads(), share = bound() / 16 / (threads ? threads : 1);
	unsigned pages = TR2_WHOLE_PAGES;

	while (pages > share && pages > TR2_SHORT_PAGES)
		pages /= 2;
	return pages;
}

uint32_t tr2_pool_lasting_share(void)
{
	uint32_t threads = tr2_pool_threads(), share = bound() / 8 * 7 / (threads ? threads : 1);

	return share > OWN_PAGES ? share : OWN_PAGES;
}

/* ---- chunks ------------------------------------------------------------------------------------- */

static unsigned size_of(unsigned pages)
{
	return pages >= 16 ? 4 : pages >= 8 ? 3 : pages >= 4 ? 2 : pages >= 2;
}

static unsigned char *pages_of(uint32_t chunk)
{
	return chunk < FIRST_CHUNKS ? &g_pool.first[chunk] : &g_pool.pages[chunk];
}

unsigned tr2_pool_pages(uint32_t chunk)
{
	return *pages_of(chunk);
}

/* Another thread may have popped the chunk since: a thread that is slower than that one still reads the link. */
uint32_t tr2_pool_next(uint32_t chunk)
{
	return tr2_load_rlx(&g_pool.links[chunk]); /* relaxed: only the thread that has acquired the chunk writes it */
}

void tr2_pool_link(uint32_t chunk, uint32_t next)
{
	tr2_store_rlx(&g_pool.links[chunk], next); /* relaxed: tr2_stack_pop() detects that somebody was faster */
}

/*
 * Add, if the sum is in the bound.  Not added first and taken back: whoever is stopped in between would make the others
 * fail for as long as that lasts.
 */
static int add_within(uint32_t *total, uint32_t pages, uint32_t bound)
{
	uint32_t was;

	do {
		was = tr2_load_rlx(total); /* relaxed: a total */
		if (was + pages > bound)
			return 0;
	} while (!tr2_cas_rlx(total, was, was + pages)); /* relaxed: as above */
	return 1;
}

/* Give the chunk so many pages.  Return  0: there is no memory for them */
static int grow(uint32_t i, unsigned pages)
{
	struct tlg_chunk *chunk = tr2_shm_chunk(i);
	unsigned char *end = (unsigned char *)chunk + TLG_CHUNK_BYTES;
	unsigned more = pages - *pages_of(i);
	int error = 0;

	if (!add_within(&g_pool.committed, more, tr2_pool_bound()))
		return 0;
	if (pages == TR2_WHOLE_PAGES)
		error = tr2_shm_commit(chunk, TLG_CHUNK_BYTES);
	else if (!*pages_of(i) && !tr2_shm_is_provided(i))
		error = tr2_shm_commit(chunk, PAGE);
	if (!error && pages < TR2_WHOLE_PAGES && !(pages == TR2_SHORT_PAGES && tr2_shm_is_provided(i)))
		error = tr2_shm_commit(end - (pages - 1) * PAGE, (pages - 1) * PAGE);
	if (error) {
		tr2_add_rlx(&g_pool.committed, -more); /* relaxed: as above */
		return 0;
	}
	*pages_of(i) = (unsigned char)pages;
	return 1;
}

/* Give back to the system what a chunk has beyond so many pages.  If that fails, it stays as it is. */
static void shrink(uint32_t i, unsigned pages)
{
	unsigned less = *pages_of(i) - pages;
	unsigned char *chunk = (unsigned char *)tr2_shm_chunk(i);

	if (tr2_shm_release(chunk + PAGE, TLG_CHUNK_BYTES - pages * PAGE))
		return;
	*pages_of(i) = (unsigned char)pages;
	tr2_add_rlx(&g_pool.committed, -less); /* relaxed: a total */
}

static uint32_t pop(unsigned size)
{
	return tr2_stack_pop(&g_pool.free[size].chunks);
}

static void push(uint32_t chunk)
{
	tr2_stack_push(&g_pool.free[size_of(*pages_of(chunk))].chunks, chunk);
}

/* A chunk without memory, used before or not: index + 1, or 0. */
static uint32_t take_empty(void)
{
	uint32_t *used = &tr2_g_shm.head->chunks_used, i, chunk = pop(0);

	if (chunk)
		return chunk;
	do {
		i = tr2_load_rlx(used); /* relaxed: only the number matters */
		if (i >= tr2_g_shm.max_chunks || tr2_shm_reach(i))
			return 0;
	} while (!tr2_cas_rlx(used, i, i + 1)); /* relaxed: as above */
	return i + 1;
}

/* A new one of so many pages, or of a shorter size as long as there is memory for that. */
static uint32_t take_new(unsigned pages)
{
	uint32_t chunk = take_empty();

	for (; chunk && pages >= TR2_SHORT_PAGES; pages /= 2)
		if (grow(chunk - 1, pages))
			return chunk;
	if (chunk)
		push(chunk - 1);
	return 0;
}

/* A free one that is shorter, and grows if it can. */
static uint32_t take_shorter(unsigned pages)
{
	uint32_t chunk = 0;

	for (unsigned size = size_of(pages) - 1; size && !chunk; size--)
		chunk = pop(size);
	if (chunk)
		grow(chunk - 1, pages);
	return chunk;
}

/* A free one that is longer, cut to size: there was no memory for another one. */
static uint32_t take_longer(unsigned pages)
{
	uint32_t chunk = 0;

	for (unsigned size = size_of(pages) + 1; size < SIZES && !chunk; size++)
		chunk = pop(size);
	if (chunk)
		shrink(chunk - 1, pages);
	return chunk;
}

static uint32_t take(unsigned pages)
{
	uint32_t chunk = pop(size_of(pages));

	if (!chunk)
		chunk = take_shorter(pages);
	if (!chunk)
		chunk = take_new(pages);
	if (!chunk)
		chunk = take_longer(pages);
	return chunk;
}

/*
 * Count so many pages as taken.  What threads add to the bound is only for those that have no more than that: so each
 * of them finds it, however often chunks have changed hands.  But the shortest chunk, which each of them has even when
 * it is idle, takes nothing of what is for all.
 */
static int claim(unsigned pages, uint32_t held)
{
	uint32_t shared = bound() + TR2_SHORT_PAGES * tr2_pool_threads();

	return add_within(&g_pool.taken, pages, held + pages <= OWN_PAGES ? tr2_pool_bound() : shared);
}

uint32_t tr2_pool_acquire(unsigned pages, uint32_t held)
{
	uint32_t chunk;

	if (held >= MANY_PAGES && tr2_pool_is_used_up())
		return 0;
	for (; !claim(pages, held); pages /= 2)
		if (pages <= TR2_SHORT_PAGES)
			return 0;
	chunk = take(pages);
	/* relaxed: as in claim(): what it is in truth */
	tr2_add_rlx(&g_pool.taken, (chunk ? *pages_of(chunk - 1) : 0) - pages);
	return chunk;
}

void tr2_pool_release(uint32_t chunk)
{
	tr2_add_rlx(&g_pool.taken, -(uint32_t)*pages_of(chunk)); /* relaxed: a statistic */
	push(chunk);
}

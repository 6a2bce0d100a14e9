/* SPDX-License-Identifier: MIT */
/*
 * fuzzmemory.c - counts the memory of a fuzz target, and keeps its large pieces from one input to the next.
 *
 * The expander has some megabytes of tables and windows, of which a small input touches little.  Mapping and unmapping
 * them for each input would take longer than the rest.  A piece is poisoned behind its end, and as a whole while it is
 * free, so that AddressSanitizer finds wrong accesses to it as to any other memory.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "fuzz.h"

enum {
	LARGE = 16 * 1024,
	PAGE = 4096,
	PIECES = 64,
	CLEARED_BY_HAND = 64 * 1024,
	MOST = 56 * 1024 * 1024,      /* t2expand itself takes the rest of 64 MiB */
	LONGEST_S = 10,               /* of CPU time, which a busy machine does not make longer */
};

struct piece {
	unsigned char *at;
	size_t room;              /* 0: there is none */
	size_t n;                 /* 0: nobody has it */
	int is_used;              /* somebody has had it: it is not zero */
};

static struct piece g_pieces[PIECES];
static int64_t g_small;           /* bytes of what is not large */
static size_t g_large;

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *memory, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void __real_free(void *memory);
size_t malloc_usable_size(void *memory);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *memory, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void __wrap_free(void *memory);

/* AddressSanitizer's, where that is linked. */
__attribute__((weak)) void __asan_poison_memory_region(void const volatile *at, size_t n);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *at, size_t n);

/* Let the target access only the first n bytes of the piece. */
static void open_piece(struct piece *piece, size_t n)
{
	g_large += n - piece->n;
	piece->n = n;
	if (!__asan_poison_memory_region)
		return;
	__asan_unpoison_memory_region(piece->at, n);
	__asan_poison_memory_region(piece->at + n, piece->room - n);
}

static void drop_piece(struct piece *piece)
{
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region(piece->at, piece->room);
	munmap(piece->at, piece->room);
	piece->room = 0;
}

static void check_sum(void)
{
	if ((int64_t)g_large + g_small > MOST)
		fuzz_fail("memory", "more than 56 MiB", "", 0);
}

static void end_long_input(int signo)
{
	(void)signo;
	fuzz_fail("time", "an input takes too long", "", 0);
}

static void start_timer(void)
{
	static const struct itimerval longest = { .it_value = { LONGEST_S, 0 } };
	static int is_set;

	if (!is_set)
		signal(SIGPROF, end_long_input);
	is_set = 1;
	setitimer(ITIMER_PROF, &longest, NULL);
}

void fuzz_begin(void)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (g_pieces[i].n)
			fuzz_fail("memory", "a large piece has not been freed", "", 0);
	g_small = 0;
	start_timer();
}

/* Return  an entry of the table that is empty, or whose piece is free */
static struct piece *find_place(void)
{
	struct piece *found = NULL;

	for (struct piece *piece = g_pieces; piece < g_pieces + PIECES; piece++) {
		if (!piece->room)
			return piece;
		if (!piece->n)
			found = piece;
	}
	if (!found)
		fuzz_fail("memory", "too many large pieces", "", 0);
	drop_piece(found);
	return found;
}

/* Make a piece, with a poisoned page behind it. */
static struct piece *make_piece(size_t n)
{
	size_t room = (n + 2 * PAGE - 1) & ~((size_t)PAGE - 1);
	struct piece *piece = find_place();

	piece->at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (piece->at == MAP_FAILED) {
		for (struct piece *other = g_pieces; other < g_pieces + PIECES; other++)
			if (other->room && !other->n)
				drop_piece(other);
		piece->at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (piece->at == MAP_FAILED)
		return NULL;
	piece->room = room;
	piece->is_used = 0;
	return piece;
}

static struct piece *acquire_piece(size_t n)
{
	struct piece *best = NULL;

	for (struct piece *piece = g_pieces; piece < g_pieces + PIECES; piece++)
		if (piece->room > n && !piece->n && piece->room / 2 <= n + PAGE && (!best || piece->room < best->room))
			best = piece;
	if (!best)
		best = make_piece(n);
	if (best)
		open_piece(best, n);
	check_sum();
	return best;
}

static struct piece *piece_of(const void *memory)
{
	if ((uintptr_t)memory % PAGE == 0)
		for (struct piece *piece = g_pieces; piece < g_pieces + PIECES; piece++)
			if (piece->room && piece->at == memory)
				return piece;
	return NULL;
}

static void *count(void *memory)
{
	if (memory)
		g_small += (int64_t)malloc_usable_size(memory);
	check_sum();
	return memory;
}

void *__wrap_malloc(size_t n)
{
	struct piece *piece;

	if (n < LARGE)
		return count(__real_malloc(n));
	piece = acquire_piece(n);
	if (!piece)
		return NULL;
	piece->is_used = 1;
	return piece->at;
}

void *__wrap_calloc(size_t many, size_t n)
{
	struct piece *piece;

	if (n && many > SIZE_MAX / n)
		return NULL;
	if (many * n < LARGE)
		return count(__real_calloc(many, n));
	piece = acquire_piece(many * n);
	if (!piece)
		return NULL;
	if (piece->is_used && piece->n <= CLEARED_BY_HAND)
		memset(piece->at, 0, piece->n);
	else if (piece->is_used && madvise(piece->at, piece->room, MADV_DONTNEED))
		abort();
	piece->is_used = 1;
	return piece->at;
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	return n < LARGE || alignment > PAGE ? count(__real_aligned_alloc(alignment, n)) : __wrap_malloc(n);
}

void *__wrap_realloc(void *memory, size_t n)
{
	struct piece *piece = piece_of(memory);
	size_t old = piece ? piece->n : memory ? malloc_usable_size(memory) : 0;
	void *larger;

	if (!piece && n < LARGE) {
		g_small -= (int64_t)old;
		return count(__real_realloc(memory, n));
	}
	larger = __wrap_malloc(n);
	if (!larger)
		return NULL;
	if (memory)
		memcpy(larger, memory, old < n ? old : n);
	__wrap_free(memory);
	return larger;
}

void __wrap_free(void *memory)
{
	struct piece *piece = piece_of(memory);

	if (!piece) {
		if (memory)
			g_small -= (int64_t)malloc_usable_size(memory);
		__real_free(memory);
		return;
	}
	if (!piece->n)
		fuzz_fail("memory", "a large piece is freed twice", "", 0);
	open_piece(piece, 0);
}

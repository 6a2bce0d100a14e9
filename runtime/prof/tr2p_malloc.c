/* SPDX-License-Identifier: MIT */
/*
 * tr2p_malloc.c - one pointer for each function, which leads to one of
 *
 *   early_*  until the next definitions are known: finds them
 *   next     no profile: they themselves
 *   on_*     counts down to the next sample, then goes to the next definition
 *
 * Each pointer is right at any time, whatever the others are, so they are changed one by one while threads run.
 *
 * dlsym() may allocate.  What it gets while it looks for malloc() is of a small buffer, and is never reused.
 */
#include "tr2p_malloc.h"

#ifdef TR2_IS_SANITIZED

/* Sanitizers stand there themselves. */
void tr2p_malloc_profile(int is_on)
{
	(void)is_on;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tr2p_heap.h"
#include "tr2p_new.h"

#define EXPORT __attribute__((visibility("default")))
/* Out of line, so that the way without a sample needs no stack frame */
#define COLD __attribute__((noinline, cold))

struct functions {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *old, size_t size);
	void (*free)(void *address);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	int (*posix_memalign)(void **to, size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
};

static void *early_malloc(size_t size);
static void *early_calloc(size_t n, size_t size);
static void *early_realloc(void *old, size_t size);
static void early_free(void *address);
static void *early_aligned_alloc(size_t alignment, size_t size);
static void *early_memalign(size_t alignment, size_t size);
static int early_posix_memalign(void **to, size_t alignment, size_t size);
static void *early_valloc(size_t size);
static void *early_pvalloc(size_t size);

#define EARLY { early_malloc, early_calloc, early_realloc, early_free, early_aligned_alloc, early_memalign, \
		early_posix_memalign, early_valloc, early_pvalloc }
/* Where calls go; where they go from there. */
static struct functions g_now = EARLY, g_next = EARLY;

#define NOW(function) tr2_load_rlx(&g_now.function)     /* relaxed: each pointer is right by itself */
#define NEXT(function) tr2_load_rlx(&g_next.function)   /* relaxed: as above */

/* ---- before the next definitions are known ---------------------------------------------------------- */

enum { EARLY_BYTES = 8192, ALIGN = 16 };

static struct early {
	_Alignas(ALIGN) char memory[EARLY_BYTES];   /* each block has its size in ALIGN bytes in front */
	size_t used;
} g_early;

static __thread int g_is_looking __attribute__((tls_model("initial-exec")));

static int is_early(const void *address)
{
	return (uintptr_t)address - (uintptr_t)g_early.memory < sizeof(g_early.memory);
}

static void *take_early(size_t size)
{
	size_t bytes = (size + 2 * ALIGN - 1) / ALIGN * ALIGN, at;
	char *block;

	if (size > EARLY_BYTES / 2) {
		errno = ENOMEM;
		return NULL;
	}
	at = tr2_add_rlx(&g_early.used, bytes); /* relaxed: only the place matters */
	if (at + bytes > sizeof(g_early.memory)) {
		errno = ENOMEM;
		return NULL;
	}
	block = g_early.memory + at;
	memcpy(block, &size, sizeof(size));
	return block + ALIGN;
}

/* The functions that are given blocks, if there are any of that buffer: instead of the next ones. */
static void (*g_real_free)(void *address);
static void *(*g_real_realloc)(void *old, size_t size);

static void careful_free(void *address)
{
	if (!is_early(address))
		g_real_free(address);
}

static void *careful_realloc(void *old, size_t size)
{
	size_t old_size;
	void *block;

	if (!is_early(old))
		return g_real_realloc(old, size);
	block = NEXT(malloc)(size);
	memcpy(&old_size, (char *)old - ALIGN, sizeof(old_size));
	return block ? memcpy(block, old, old_size < size ? old_size : size) : NULL;
}

#define FIND(to, name) \
	do { \
		union { \
			void *object; \
			__typeof__(g_next.name) function; \
		} found = { dlsym(RTLD_NEXT, #name) }; \
		if (found.object) \
			tr2_store_rlx(&(to), found.function); /* relaxed: right by itself */ \
	} while (0)
#define USE(name) (void)tr2_cas_rlx(&g_now.name, early_##name, NEXT(name)) /* relaxed: right by itself */

/* Threads that come at the same time find the same. Return  0: by a call that dlsym() makes here */
static int find_next(void)
{
	if (g_is_looking)
		return 0;
	g_is_looking = 1;
	FIND(g_next.malloc, malloc);
	FIND(g_next.calloc, calloc);
	FIND(g_next.aligned_alloc, aligned_alloc);
	FIND(g_next.memalign, memalign);
	FIND(g_next.posix_memalign, posix_memalign);
	FIND(g_next.valloc, valloc);
	FIND(g_next.pvalloc, pvalloc);
	FIND(g_real_realloc, realloc);
	FIND(g_real_free, free);
	/* relaxed: a buffer that this thread alone has used by now; each pointer is right by itself */
	tr2_store_rlx(&g_next.realloc, tr2_load_rlx(&g_early.used) ? careful_realloc : g_real_realloc);
	/* relaxed: as above */
	tr2_store_rlx(&g_next.free, tr2_load_rlx(&g_early.used) ? careful_free : g_real_free);
	USE(malloc);
	USE(calloc);
	USE(realloc);
	USE(free);
	USE(aligned_alloc);
	USE(memalign);
	USE(posix_memalign);
	USE(valloc);
	USE(pvalloc);
	g_is_looking = 0;
	return 1;
}

static void *early_malloc(size_t size)
{
	return find_next() ? NEXT(malloc)(size) : take_early(size);
}

static void *early_calloc(size_t n, size_t size)
{
	if (find_next())
		return NEXT(calloc)(n, size);
	return n && size > EARLY_BYTES / n ? take_early(EARLY_BYTES) : take_early(n * size);
}

static void *early_realloc(void *old, size_t size)
{
	return find_next() ? NEXT(realloc)(old, size) : careful_realloc(old, size);
}

static void early_free(void *address)
{
	if (address && !is_early(address) && find_next())
		NEXT(free)(address);
}

/* dlsym() needs none of these: they fail if there is no next definition. */
static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *early_aligned_alloc(size_t alignment, size_t size)
{
	return find_next() && NEXT(aligned_alloc) != early_aligned_alloc ? NEXT(aligned_alloc)(alignment, size) :
									   no_memory();
}

static void *early_memalign(size_t alignment, size_t size)
{
	return find_next() && NEXT(memalign) != early_memalign ? NEXT(memalign)(alignment, size) : no_memory();
}

static int early_posix_memalign(void **to, size_t alignment, size_t size)
{
	return find_next() && NEXT(posix_memalign) != early_posix_memalign ?
		       NEXT(posix_memalign)(to, alignment, size) : ENOMEM;
}

static void *early_valloc(size_t size)
{
	return find_next() && NEXT(valloc) != early_valloc ? NEXT(valloc)(size) : no_memory();
}

static void *early_pvalloc(size_t size)
{
	return find_next() && NEXT(pvalloc) != early_pvalloc ? NEXT(pvalloc)(size) : no_memory();
}

/* ---- with a profile --------------------------------------------------------------------------------- */

#define CALLER __builtin_return_address(0)

static void *sampled(void *address, size_t size, const void *caller)
{
	tr2p_heap_allocated(address, size, caller);
	return address;
}

static COLD void *sample_malloc(size_t size, const void *caller)
{
	return sampled(NEXT(malloc)(size), size, caller);
}

static void *on_malloc(size_t size)
{
	return tr2p_heap_passes(size) ? NEXT(malloc)(size) : sample_malloc(size, CALLER);
}

static COLD void *sample_calloc(size_t n, size_t size, const void *caller)
{
	return sampled(NEXT(calloc)(n, size), n * size, caller);
}

/* If n * size does not fit it fails, and what is counted down does not matter. */
static void *on_calloc(size_t n, size_t size)
{
	return tr2p_heap_passes(n * size) ? NEXT(calloc)(n, size) : sample_calloc(n, size, CALLER);
}

/* For the profile what is reallocated was freed and allocated, wherever it is now; unless that fails. */
static COLD void *sample_realloc(void *old, size_t size, int is_on, const void *caller)
{
	struct tr2p_live live;
	int is_live = tr2p_live_take(old, &live);
	void *address = NEXT(realloc)(old, size);

	if (is_live && (address || !size || !tr2p_live_put(old, &live)))
		tr2p_heap_freed_sample(&live);
	return is_on && !tr2p_heap_passes(size) ? sampled(address, size, caller) : address;
}

static void *on_realloc(void *old, size_t size)
{
	return !tr2p_live_may_have(old) && tr2p_heap_passes(size) ? NEXT(realloc)(old, size) :
								    sample_realloc(old, size, 1, CALLER);
}

/* When there was a profile. */
static void *after_realloc(void *old, size_t size)
{
	return tr2p_live_may_have(old) ? sample_realloc(old, size, 0, CALLER) : NEXT(realloc)(old, size);
}

static COLD void free_sampled(void *address)
{
	tr2p_heap_freed(address);
	NEXT(free)(address);
}

static void on_free(void *address)
{
	if (tr2p_live_may_have(address))
		free_sampled(address);
	else
		NEXT(free)(address);
}

static void *on_aligned_alloc(size_t alignment, size_t size)
{
	return tr2p_heap_passes(size) ? NEXT(aligned_alloc)(alignment, size) :
					sampled(NEXT(aligned_alloc)(alignment, size), size, CALLER);
}

static void *on_memalign(size_t alignment, size_t size)
{
	return tr2p_heap_passes(size) ? NEXT(memalign)(alignment, size) :
					sampled(NEXT(memalign)(alignment, size), size, CALLER);
}

static int on_posix_memalign(void **to, size_t alignment, size_t size)
{
	int error = NEXT(posix_memalign)(to, alignment, size);

	if (!error && !tr2p_heap_passes(size))
		tr2p_heap_allocated(*to, size, CALLER);
	return error;
}

static void *on_valloc(size_t size)
{
	return tr2p_heap_passes(size) ? NEXT(valloc)(size) : sampled(NEXT(valloc)(size), size, CALLER);
}

static void *on_pvalloc(size_t size)
{
	return tr2p_heap_passes(size) ? NEXT(pvalloc)(size) : sampled(NEXT(pvalloc)(size), size, CALLER);
}

/* relaxed: each pointer is right by itself */
#define LEAD(name, to) tr2_store_rlx(&g_now.name, (to))

void tr2p_malloc_profile(int is_on)
{
	static int was_on;

	find_next();
	if (!is_on && !tr2_load_rlx(&was_on)) /* relaxed: set by an earlier call */
		return;
	tr2_store_rlx(&was_on, 1); /* relaxed: as above */
	LEAD(free, on_free);
	LEAD(realloc, is_on ? on_realloc : after_realloc);
	LEAD(malloc, is_on ? on_malloc : NEXT(malloc));
	LEAD(calloc, is_on ? on_calloc : NEXT(calloc));
	LEAD(aligned_alloc, is_on ? on_aligned_alloc : NEXT(aligned_alloc));
	LEAD(memalign, is_on ? on_memalign : NEXT(memalign));
	LEAD(posix_memalign, is_on ? on_posix_memalign : NEXT(posix_memalign));
	LEAD(valloc, is_on ? on_valloc : NEXT(valloc));
	LEAD(pvalloc, is_on ? on_pvalloc : NEXT(pvalloc));
	tr2p_new_profile(is_on);
}

/* ---- what the program calls -------------------------------------------------------------------------- */

EXPORT void *malloc(size_t size)
{
	return NOW(malloc)(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return NOW(calloc)(n, size);
}

EXPORT void *realloc(void *old, size_t size)
{
	return NOW(realloc)(old, size);
}

/* That of libc calls realloc(), too; that of an allocator may not. */
EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return no_memory();
	return NOW(realloc)(old, bytes);
}

EXPORT void free(void *address)
{
	NOW(free)(address);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return NOW(aligned_alloc)(alignment, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	return NOW(memalign)(alignment, size);
}

EXPORT int posix_memalign(void **to, size_t alignment, size_t size)
{
	return NOW(posix_memalign)(to, alignment, size);
}

EXPORT void *valloc(size_t size)
{
	return NOW(valloc)(size);
}

EXPORT void *pvalloc(size_t size)
{
	return NOW(pvalloc)(size);
}

#endif

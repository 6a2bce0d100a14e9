/* SPDX-License-Identifier: MIT */
/* tr2p_new.c - a pointer for each operator, as tr2p_malloc.c has one for each function. */
#include "tr2p_new.h"

#ifdef TR2_IS_SANITIZED

void tr2p_new_profile(int is_on)
{
	(void)is_on;
}

#else

#include <dlfcn.h>
#include <stdlib.h>

#include "tr2p_heap.h"

/* Names are C++'s, with the letter of the type that size_t is. */
#if __SIZEOF_SIZE_T__ == 8
#define SIZE "m"
#else
#define SIZE "j"
#endif
#define NOTHROW "RKSt9nothrow_t"
#define ALIGN "St11align_val_t"

#define PLAIN_NEW malloc(size)
#define ALIGNED_NEW aligned_alloc(align, size)

/*
 * The operators: function, name, parameters, arguments; of new what it is made of if there is no C++ library, and
 * whether it throws.
 */
#define OPERATORS(NEW, DELETE) \
	NEW(new_one, "_Znw" SIZE, (size_t size), (size), PLAIN_NEW, 1) \
	NEW(new_array, "_Zna" SIZE, (size_t size), (size), PLAIN_NEW, 1) \
	NEW(new_one_nothrow, "_Znw" SIZE NOTHROW, (size_t size, const void *n), (size, n), PLAIN_NEW, 0) \
	NEW(new_array_nothrow, "_Zna" SIZE NOTHROW, (size_t size, const void *n), (size, n), PLAIN_NEW, 0) \
	NEW(new_one_aligned, "_Znw" SIZE ALIGN, (size_t size, size_t align), (size, align), ALIGNED_NEW, 1) \
	NEW(new_array_aligned, "_Zna" SIZE ALIGN, (size_t size, size_t align), (size, align), ALIGNED_NEW, 1) \
	NEW(new_one_aligned_nothrow, "_Znw" SIZE ALIGN NOTHROW, (size_t size, size_t align, const void *n), \
	    (size, align, n), ALIGNED_NEW, 0) \
	NEW(new_array_aligned_nothrow, "_Zna" SIZE ALIGN NOTHROW, (size_t size, size_t align, const void *n), \
	    (size, align, n), ALIGNED_NEW, 0) \
	DELETE(delete_one, "_ZdlPv", (void *address), (address)) \
	DELETE(delete_array, "_ZdaPv", (void *address), (address)) \
	DELETE(delete_one_sized, "_ZdlPv" SIZE, (void *address, size_t size), (address, size)) \
	DELETE(delete_array_sized, "_ZdaPv" SIZE, (void *address, size_t size), (address, size)) \
	DELETE(delete_one_nothrow, "_ZdlPv" NOTHROW, (void *address, const void *n), (address, n)) \
	DELETE(delete_array_nothrow, "_ZdaPv" NOTHROW, (void *address, const void *n), (address, n)) \
	DELETE(delete_one_aligned, "_ZdlPv" ALIGN, (void *address, size_t align), (address, align)) \
	DELETE(delete_array_aligned, "_ZdaPv" ALIGN, (void *address, size_t align), (address, align)) \
	DELETE(delete_one_sized_aligned, "_ZdlPv" SIZE ALIGN, (void *address, size_t size, size_t align), \
	       (address, size, align)) \
	DELETE(delete_array_sized_aligned, "_ZdaPv" SIZE ALIGN, (void *address, size_t size, size_t align), \
	       (address, size, align)) \
	DELETE(delete_one_aligned_nothrow, "_ZdlPv" ALIGN NOTHROW, (void *address, size_t align, const void *n), \
	       (address, align, n)) \
	DELETE(delete_array_aligned_nothrow, "_ZdaPv" ALIGN NOTHROW, (void *address, size_t align, const void *n), \
	       (address, align, n))

struct operators {
#define NEW_MEMBER(name, symbol, params, args, plain, throws) void *(*name) params;
#define DELETE_MEMBER(name, symbol, params, args) void (*name) params;
	OPERATORS(NEW_MEMBER, DELETE_MEMBER)
};

#define NEW_EARLY(name, symbol, params, args, plain, throws) static void *early_##name params;
#define DELETE_EARLY(name, symbol, params, args) static void early_##name params;
OPERATORS(NEW_EARLY, DELETE_EARLY)

#define INITIAL_NEW(name, symbol, params, args, plain, throws) early_##name,
#define INITIAL_DELETE(name, symbol, params, args) early_##name,
/* Where calls go; where they go from there. */
static struct operators g_now = { OPERATORS(INITIAL_NEW, INITIAL_DELETE) };
static struct operators g_next = { OPERATORS(INITIAL_NEW, INITIAL_DELETE) };

#define NOW(name) tr2_load_rlx(&g_now.name)     /* relaxed: each pointer is right by itself */
#define NEXT(name) tr2_load_rlx(&g_next.name)   /* relaxed: as above */

/* libstdc++'s, which throws std::bad_alloc; NULL without it */
void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak));

/* ---- the next definitions ------------------------------------------------------------------------- */

/* Behind this library; or in a C++ library that the program has loaded for a plugin alone. */
static void *find(const char *symbol)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++.so.1", "libc++abi.so.1" };
	void *found = dlsym(RTLD_NEXT, symbol), *library;

	for (unsigned i = 0; !found && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		found = library ? dlsym(library, symbol) : NULL;
	}
	return found;
}

static const void *module_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Is it malloc()'s own?  Then it need not call malloc(). */
static int is_allocators(const void *found)
{
	return found && module_of(found) == module_of(dlsym(RTLD_NEXT, "malloc"));
}

/* Threads that come at the same time find the same. */
static void find_next(void)
{
	/* relaxed: each pointer is right by itself */
#define NEW_FIND(name, symbol, params, args, plain, throws) DELETE_FIND(name, symbol, params, args)
#define DELETE_FIND(name, symbol, params, args) \
	do { \
		union { \
			void *object; \
			__typeof__(g_next.name) function; \
		} found = { find(symbol) }; \
		if (found.object) { \
			/* relaxed: as above */ \
			tr2_store_rlx(&g_next.name, found.function); \
			(void)tr2_cas_rlx(&g_now.name, early_##name, found.function); \
		} \
	} while (0);
	OPERATORS(NEW_FIND, DELETE_FIND)
}

/* The program has no C++ library, and the operator is called nevertheless: by one that has it in itself. */
static void *or_throw(void *address)
{
	if (!address && throw_bad_alloc)
		throw_bad_alloc();
	return address;
}

#define NEW_BODY(name, symbol, params, args, plain, throws) \
	static void *early_##name params \
	{ \
		find_next(); \
		if (NEXT(name) != early_##name) \
			return NEXT(name) args; \
		return throws ? or_throw(plain) : plain; \
	}
#define DELETE_BODY(name, symbol, params, args) \
	static void early_##name params \
	{ \
		find_next(); \
		if (NEXT(name) != early_##name) \
			NEXT(name) args; \
		else \
			free(address); \
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
OPERATORS(NEW_BODY, DELETE_BODY)
#pragma GCC diagnostic pop

/* ---- with a profile --------------------------------------------------------------------------------- */

static void *sampled(void *address, size_t size, const void *caller)
{
	tr2p_heap_allocated(address, size, caller);
	return address;
}

static void leave(const int *unused)
{
	(void)unused;
	tr2p_leave();
}

/* Some of jemalloc's call aligned_alloc(), which is not to be sampled, too; and may throw. */
#define NEW_ON(name, symbol, params, args, plain, throws) \
	static void *inside_##name params \
	{ \
		__attribute__((cleanup(leave))) const int at_end = 0; \
		(void)at_end; \
		tr2p_enter(); \
		return NEXT(name) args; \
	} \
	static void *on_##name params \
	{ \
		void *address = inside_##name args; \
		return tr2p_heap_passes(size) ? address : sampled(address, size, __builtin_return_address(0)); \
	}
#define DELETE_ON(name, symbol, params, args) \
	static void on_##name params \
	{ \
		if (tr2p_live_may_have(address)) \
			tr2p_heap_freed(address); \
		NEXT(name) args; \
	}
OPERATORS(NEW_ON, DELETE_ON)

void tr2p_new_profile(int is_on)
{
	void *found = dlsym(RTLD_NEXT, "_Znw" SIZE);

	if (!is_allocators(found))
		return;
	find_next();
	/* relaxed: each pointer is right by itself */
#define NEW_LEAD(name, symbol, params, args, plain, throws) \
	tr2_store_rlx(&g_now.name, is_on ? on_##name : NEXT(name));
#define DELETE_LEAD(name, symbol, params, args) tr2_store_rlx(&g_now.name, on_##name);
	OPERATORS(NEW_LEAD, DELETE_LEAD)
}

/* ---- what the program calls -------------------------------------------------------------------------- */

#define NEW_EXPORT(name, symbol, params, args, plain, throws) \
	__attribute__((visibility("default"))) void *tr2p_##name params __asm__(symbol); \
	void *tr2p_##name params \
	{ \
		return NOW(name) args; \
	}
#define DELETE_EXPORT(name, symbol, params, args) \
	__attribute__((visibility("default"))) void tr2p_##name params __asm__(symbol); \
	void tr2p_##name params \
	{ \
		NOW(name) args; \
	}
OPERATORS(NEW_EXPORT, DELETE_EXPORT)

#endif

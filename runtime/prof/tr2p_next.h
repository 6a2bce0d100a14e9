/* SPDX-License-Identifier: MIT */
/*
 * tr2p_next.h - functions that the profiler intercepts, and the next definitions behind its own.
 *
 * A file lists its functions as FUNCTIONS(X), with X(name) for each, and contains TR2P_NEXT_TABLE(FUNCTIONS).
 * NEXT(name) is then the next definition: libc's, or that of another library which intercepts it, too.  The profiler
 * finds them when it is loaded, since dlsym() acquires a lock, and a thread may have that while it waits for another
 * one.  It finds them at the first call if a constructor before its own calls one.
 */
#ifndef TR2P_NEXT_H
#define TR2P_NEXT_H

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/tr2_atomic.h"

/* A definition that programs find in front of libc's. */
#define TR2P_IN_FRONT __attribute__((visibility("default")))

/* The version to look for, if dlsym() finds the function that programs of 2002 call; NULL: it finds the right one. */
static inline const char *tr2p_version_of(const char *name)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__s390x__)
	if (!strcmp(name, "pthread_cond_wait") || !strcmp(name, "pthread_cond_timedwait") ||
	    !strcmp(name, "pthread_cond_signal") || !strcmp(name, "pthread_cond_broadcast"))
		return "GLIBC_2.3.2";
#endif
#ifdef __i386__
	if (!strcmp(name, "pthread_create"))
		return "GLIBC_2.1";
#endif
	(void)name;
	return NULL;
}

/*
 * The definition must exist.  A failing search allocates, for the text that dlerror() returns.  An allocator that locks
 * at its beginning would then call the function that is being searched, without end.
 */
static inline void *tr2p_find_next(const char *name)
{
	const char *version = tr2p_version_of(name);
	void *next = dlsym(RTLD_NEXT, name), *right = version ? dlvsym(RTLD_NEXT, name, version) : next;
	struct dl_find_object of_next, of_right;

	/* dlvsym() passes over a library between us and libc whose definition has no version; programs call that one */
	if (next == right || !right || _dl_find_object(next, &of_next) || _dl_find_object(right, &of_right))
		return next;
	return of_next.dlfo_link_map == of_right.dlfo_link_map ? right : next;
}

#define TR2P_NEXT_MEMBER_(name) __typeof__(name) *name;
/* relaxed: right by itself */
#define TR2P_NEXT_FIND_(name) tr2_store_rlx((void **)(void *)&g_next.name, tr2p_find_next(#name));

/* Looked up once. relaxed: all threads find the same */
#define TR2P_NEXT_GET_(name) \
	__attribute__((unused)) static inline __typeof__(name) *next_##name(void) \
	{ \
		__typeof__(name) *next = tr2_load_rlx(&g_next.name); /* relaxed: as above */ \
		if (__builtin_expect(!next, 0)) { \
			find_next(); \
			next = tr2_load_rlx(&g_next.name); /* relaxed: as above */ \
		} \
		return next; \
	}

#define TR2P_NEXT_TABLE(functions) \
	static struct next { \
		functions(TR2P_NEXT_MEMBER_) \
	} g_next; \
	__attribute__((constructor, cold)) static void find_next(void) \
	{ \
		int saved = errno; \
		functions(TR2P_NEXT_FIND_) \
		errno = saved; \
	} \
	functions(TR2P_NEXT_GET_) \
	struct next

#define NEXT(name) next_##name()

#endif

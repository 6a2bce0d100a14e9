/* SPDX-License-Identifier: MIT */
/*
 * tr2p_next.h - functions that we stand in front of, and the next definitions behind ours.
 *
 * A file lists its functions, FUNCTIONS(X) with X(name) for each, and says TR2P_NEXT_TABLE(FUNCTIONS); NEXT(name) is
 * then the next definition: that of libc, or of another library that stands in front of it.  They are found when the
 * library is loaded, for dlsym() takes a lock that a thread may hold which waits for another one; or at the first call,
 * if a constructor before ours calls one.
 */
#ifndef TR2P_NEXT_H
#define TR2P_NEXT_H

#include <dlfcn.h>
#include <errno.h>

#include "base/tr2_atomic.h"

/* A definition that programs find in front of libc's. */
#define TR2P_IN_FRONT __attribute__((visibility("default")))

/*
 * Some functions for condition variables are there in two versions, of which dlsym() finds the one that programs of
 * 2002 call.
 */
static inline void *tr2p_find_next(const char *name)
{
	void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return found ? found : dlsym(RTLD_NEXT, name);
}

#define TR2P_NEXT_MEMBER_(name) __typeof__(name) *name;
/* relaxed: right by itself */
#define TR2P_NEXT_FIND_(name) tr2_store_rlx((void **)(void *)&g_next.name, tr2p_find_next(#name));

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
	struct next

/* relaxed: the same whoever has found it */
#define NEXT(name) \
	(__builtin_expect(tr2_load_rlx(&g_next.name) != NULL, 1) ? (void)0 : find_next(), tr2_load_rlx(&g_next.name))

#endif

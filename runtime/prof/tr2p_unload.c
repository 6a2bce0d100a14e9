/* SPDX-License-Identifier: MIT */
/* tr2p_unload.c - in front of dlclose(). */
#include "tr2p_unload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <time.h>

#include "tr2p_next.h"
#include "base/tr2_atomic.h"

#ifdef __has_feature
#define TR2P_HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define TR2P_HAS_ADDRESS_SANITIZER 1
#else
#define TR2P_HAS_ADDRESS_SANITIZER 0
#endif

enum { HELD = 1, ONE = 2 };

static uint32_t g_unloads;      /* ONE for each thread that unloads, and HELD */
static __thread uint32_t g_mine __attribute__((tls_model("initial-exec")));   /* what is the calling thread's of it */

int tr2p_unload_hold(void)
{
	/* [P12] acquire: what has been unloaded.  Pairs with end_unload() */
	return tr2_cas_acq_rel(&g_unloads, 0, HELD);
}

void tr2p_unload_release(void)
{
	tr2_add_rel(&g_unloads, (uint32_t)-HELD); /* [P12] release: that all was read.  Pairs with begin_unload() */
}

void tr2p_unload_begin_child(void)
{
	tr2_store_rlx(&g_unloads, g_mine); /* relaxed: there is no other thread */
}

/* AddressSanitizer does not stand there, so that the profiler may where it is checked by that. */
#if !defined(TR2_IS_SANITIZED) || TR2P_HAS_ADDRESS_SANITIZER
#define FUNCTIONS(X) \
	X(dlclose)

TR2P_NEXT_TABLE(FUNCTIONS);

static void begin_unload(void)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	g_mine += ONE;
	tr2_add_rlx(&g_unloads, ONE); /* relaxed: a number by itself; the next one orders it */
	/* [P12] acquire: that all was read.  Pairs with tr2p_unload_release() */
	while (tr2_read_acq_rel(&g_unloads) & HELD)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static void end_unload(void)
{
	tr2_add_rel(&g_unloads, (uint32_t)-ONE); /* [P12] release: what is unloaded.  Pairs with tr2p_unload_hold() */
	g_mine -= ONE;
}

/* The child of vfork() unloads in its parent's memory: the same holds for it. */
TR2P_IN_FRONT int dlclose(void *handle)
{
	int saved = errno, result;

	begin_unload();
	errno = saved;
	result = NEXT(dlclose)(handle);
	saved = errno;
	end_unload();
	errno = saved;
	return result;
}
#endif

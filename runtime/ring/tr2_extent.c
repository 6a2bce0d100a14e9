/* SPDX-License-Identifier: MIT */
/* tr2_extent.c - see tr2_extent.h. */
#include "tr2_extent.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/tr2_atomic.h"
#include "base/tr2_mask.h"
#include "base/tr2_sys.h"

enum { PAGE = 4096, TRIES = 10000, PAUSE_NS = 100000 };

static uint32_t g_is_growing;             /* by the thread that makes an extent grow */

/*
 * Two threads may need the same step.  The second one's call would fail as if the place were taken.  So one thread
 * grows at a time, and others wait.  It runs no handler meanwhile, so the wait is short.  If it gets no processor for a
 * second, the others give up: they drop events, and count them.
 */
static int take(void)
{
	for (int i = 0; i < TRIES; i++) {
		if (tr2_cas_acq_rel(&g_is_growing, 0, 1)) /* [M30] acquire: where extents end.  Pairs with give() */
			return 1;
		tr2_sys_sleep(PAUSE_NS);
	}
	return 0;
}

static void give(void)
{
	tr2_store_rel(&g_is_growing, 0); /* [M30] release: where extents end.  Pairs with take() */
}

/* Growing the mapping's last page grows the mapping.  A locked one may not grow beyond RLIMIT_MEMLOCK. */
static int grow_mapping(unsigned char *end, size_t bytes)
{
	unsigned char *last = end - PAGE;

	if (!tr2_sys_grow(last, PAGE, PAGE + bytes))
		return 0;
	if (errno != EAGAIN || tr2_sys_unlock(last, PAGE))
		return -errno;
	return tr2_sys_grow(last, PAGE, PAGE + bytes) ? -errno : 0;
}

static int grow(struct tr2_extent *extent, unsigned char *to)
{
	unsigned char *end = tr2_load_rlx(&extent->end); /* relaxed: behind take() */
	int error;

	if (to <= end)
		return 0;
	if (extent->is_mapped)
		error = tr2_sys_protect(end, (size_t)(to - end), PROT_READ | PROT_WRITE) ? -errno : 0;
	else
		error = grow_mapping(end, (size_t)(to - end));
	if (!error)
		tr2_store_rlx(&extent->end, to); /* relaxed: a thread that does not see it asks again */
	return error;
}

static unsigned char *round_up(const struct tr2_extent *extent, const unsigned char *to)
{
	const size_t bytes = (size_t)(to - extent->begin) + extent->step - 1;
	const size_t rounded = bytes - bytes % extent->step, most = (size_t)(extent->limit - extent->begin);

	return extent->begin + (rounded < most ? rounded : most);
}

int tr2_extent_reach(struct tr2_extent *extent, const unsigned char *to)
{
	int saved = errno, error = -EAGAIN;
	uint64_t mask;

	if (to <= tr2_load_rlx(&extent->end)) /* relaxed: memory is there for everybody */
		return 0;
	tr2_mask_all(&mask);
	if (take()) {
		error = grow(extent, round_up(extent, to));
		give();
	}
	tr2_mask_restore(&mask);
	errno = saved;
	return error;
}

size_t tr2_extent_bytes(const struct tr2_extent *extent)
{
	return (size_t)(tr2_load_rlx(&extent->end) - extent->begin); /* relaxed: nobody makes it grow */
}

void tr2_extent_forked(void)
{
	tr2_store_rlx(&g_is_growing, 0); /* relaxed: nobody else is there */
}

/* SPDX-License-Identifier: MIT */
/* tr2_lock.c - see tr2_lock.h. */
#include "tr2_lock.h"

#include <stdint.h>
#include <time.h>

#include "base/tr2_atomic.h"
#include "base/tr2_futex.h"
#include "base/tr2_progress.h"
#include "base/tr2_sys.h"

enum { BRIEF_PAUSES = 100, PAUSE_NS = 100000 };

static struct lock {
	uint32_t is_held;              /* [M5]; a futex */
	uint32_t waiting;              /* threads in tr2_lock_wait() */
	uint32_t holders;              /* so far, without the present one */
	uint32_t timed_out;            /* the holder, counted from 1, on whom somebody has timed out; 0: none */
} g_lock;

static __thread int g_is_ours __attribute__((tls_model("initial-exec")));

int tr2_lock_try(void)
{
	/* [M5] acquire: the last pass's state.  Pairs with tr2_lock_release() */
	if (!tr2_cas_acq_rel(&g_lock.is_held, 0, 1))
		return 0;
	g_is_ours = 1;
	return 1;
}

void tr2_lock_release(void)
{
	g_is_ours = 0;
	tr2_progress_made();
	tr2_store_rlx(&g_lock.holders, g_lock.holders + 1); /* relaxed: only tells one holder from the next */
	tr2_store_rel(&g_lock.is_held, 0); /* [M5] release: this pass's state.  Pairs with tr2_lock_try() */
	if (tr2_lock_is_awaited())
		tr2_futex_wake(&g_lock.is_held, 1);
}

static uint32_t holder(void)
{
	return tr2_load_rlx(&g_lock.holders) + 1; /* relaxed: see tr2_lock_release() */
}

int tr2_lock_wait(void)
{
	struct tr2_timeout timeout = tr2_timeout_begin(TR2_TIMEOUT_TURNS);
	int is_ours = tr2_lock_try(), may_wait = !is_ours && !g_is_ours;

	if (!may_wait)
		return is_ours;
	tr2_add_rlx(&g_lock.waiting, 1); /* relaxed: a thread that the holder misses looks again after a turn */
	while (!is_ours && may_wait && tr2_load_rlx(&g_lock.timed_out) != holder()) { /* relaxed: as in holder() */
		may_wait = tr2_timeout_wait(&timeout, &g_lock.is_held, 1);
		is_ours = tr2_lock_try();
		if (!is_ours && !may_wait)
			tr2_store_rlx(&g_lock.timed_out, holder()); /* relaxed: as above */
	}
	tr2_add_rlx(&g_lock.waiting, UINT32_MAX); /* relaxed: as above */
	return is_ours;
}

int tr2_lock_briefly(void)
{
	int is_ours = tr2_lock_try();

	for (int i = 0; !is_ours && i < BRIEF_PAUSES; i++) {
		tr2_sys_sleep(PAUSE_NS);
		is_ours = tr2_lock_try();
	}
	return is_ours;
}

int tr2_lock_is_ours(void)
{
	return g_is_ours;
}

int tr2_lock_is_awaited(void)
{
	return tr2_load_rlx(&g_lock.waiting) != 0; /* relaxed: a hint */
}

void tr2_lock_reset(void)
{
	g_lock = (struct lock){ 0 };
}

void tr2_lock_leave(void)
{
	g_is_ours = 0;
}

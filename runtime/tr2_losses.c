/* SPDX-License-Identifier: MIT */
/* tr2_losses.c - a small table of totals, to which every thread adds without a lock. */
#include "tr2_losses.h"

#include <string.h>

#include "tr2_atomic.h"

struct total {
	uint32_t is_set;                  /* [M11] tid and reason are written */
	uint32_t tid;
	uint32_t reason;
	uint64_t count;
};

static struct {
	uint64_t process[TLG_LOSS_REASONS];
	struct total threads[TLG_MAX_LOSSES - TLG_LOSS_REASONS];
	uint32_t used;                    /* of threads; may run past their number */
	uint32_t is_changed;              /* [M9] */
} g_losses;

enum { MOST = sizeof(g_losses.threads) / sizeof(g_losses.threads[0]) };

void tr2_losses_reset(void)
{
	memset(&g_losses, 0, sizeof(g_losses));
}

static unsigned used(void)
{
	uint32_t n = tr2_load_rlx(&g_losses.used); /* relaxed: a bound; is_set tells of each */

	return n < MOST ? n : MOST;
}

static int is_set(const struct total *total)
{
	return (int)tr2_load_acq(&total->is_set); /* [M11] acquire: whose it is.  Pairs with add_total() */
}

static struct total *find(uint32_t tid, unsigned reason)
{
	for (unsigned i = 0, n = used(); i < n; i++) {
		struct total *total = &g_losses.threads[i];
		if (is_set(total) && total->tid == tid && total->reason == reason)
			return total;
	}
	return NULL;
}

static struct total *add_total(uint32_t tid, unsigned reason)
{
	struct total *total;
	uint32_t i;

	if (used() == MOST)
		return NULL;
	i = tr2_add_rlx(&g_losses.used, 1); /* relaxed: only the number matters */
	if (i >= MOST)
		return NULL;
	total = &g_losses.threads[i];
	total->tid = tid;
	total->reason = reason;
	tr2_store_rel(&total->is_set, 1); /* [M11] release: whose it is.  Pairs with is_set() */
	return total;
}

/* Where the count of this thread and reason is kept.  Two that add the first one at once have a total each. */
static uint64_t *count_of(uint32_t tid, unsigned reason)
{
	struct total *total = tid == TLG_NO_THREAD ? NULL : find(tid, reason);

	if (!total && tid != TLG_NO_THREAD)
		total = add_total(tid, reason);
	return total ? &total->count : &g_losses.process[reason];
}

void tr2_losses_add(uint32_t tid, unsigned reason, uint64_t count)
{
	if (!count)
		return;
	tr2_add_rlx(count_of(tid, reason), count); /* relaxed: is_changed orders it */
	/* [M9] release: the count.  Pairs with tr2_losses_begin() */
	tr2_store_rel(&g_losses.is_changed, 1);
}

void tr2_losses_note(unsigned reason)
{
	tr2_losses_add(TLG_NO_THREAD, reason, 1);
}

int tr2_losses_changed(void)
{
	return (int)tr2_load_rlx(&g_losses.is_changed); /* relaxed: a later change is seen later */
}

unsigned tr2_losses_bound(void)
{
	return TLG_LOSS_REASONS + used();
}

void tr2_losses_begin(unsigned bound)
{
	/* [M9] acquire: the counts that this change tells of.  Pairs with tr2_losses_add() */
	tr2_exchange_acq_rel(&g_losses.is_changed, 0);
	if (tr2_losses_bound() > bound)
		tr2_store_rlx(&g_losses.is_changed, 1); /* relaxed: seen by the caller, next time */
}

int tr2_losses_get(unsigned i, struct tlg_loss *loss)
{
	const struct total *total;

	if (i < TLG_LOSS_REASONS) {
		/* relaxed: [M9] */
		*loss = (struct tlg_loss){ tr2_load_rlx(&g_losses.process[i]), TLG_NO_THREAD, (uint16_t)i, 0 };
		return loss->count != 0;
	}
	total = &g_losses.threads[i - TLG_LOSS_REASONS];
	if (!is_set(total))
		return 0;
	/* relaxed: [M9] */
	*loss = (struct tlg_loss){ tr2_load_rlx(&total->count), total->tid, (uint16_t)total->reason, 0 };
	return loss->count != 0;
}

/* SPDX-License-Identifier: MIT */
/* tr2_losses.c - a small table in the ring file, to which every thread adds without a lock. */
#include "tr2_losses.h"

#include <string.h>

#include "tr2_shm.h"
#include "base/tr2_atomic.h"
#include "base/tr2_memory.h"

static_assert((int)TLG_LOSS_REASONS <= (int)TLG_RING_REASONS, "each reason has its count");

enum {
	MAX = TLG_MAX_LOSSES - TLG_LOSS_REASONS,    /* totals of threads */
	AT_ONCE = 64,                               /* so many threads may each be adding one */
	NEAR = 1024, NEAR_BITS = 24, NOWHERE = (1 << NEAR_BITS) - 1,
};

/* Where totals were found lately: tid and reason, and below them index + 1, or NOWHERE once the table is full. */
TR2_LARGE static uint64_t g_near[NEAR];

static uint32_t g_has_near;            /* something is in it: three pages that most processes never touch */

void tr2_losses_reset(void)
{
	if (tr2_exchange_rlx(&g_has_near, 0)) /* relaxed: nobody is there yet */
		memset(g_near, 0, sizeof(g_near));
}

static unsigned used(void)
{
	uint32_t n = tr2_load_rlx(&tr2_g_shm.head->losses_used); /* relaxed: a bound; is_set says which count */

	return n < MAX ? n : MAX;
}

static int is_set(const struct tlg_ring_loss *total)
{
	return (int)tr2_load_acq(&total->is_set); /* [M11] acquire: whose it is.  Pairs with add_total() */
}

static unsigned search(uint32_t tid, unsigned reason)
{
	for (unsigned i = 0, n = used(); i < n; i++) {
		const struct tlg_ring_loss *total = tr2_shm_loss(i);
		if (is_set(total) && total->tid == tid && total->reason == reason)
			return i + 1;
	}
	return used() == MAX ? NOWHERE : 0;
}

/* A thread that drops much asks often; and many do when the table is full. */
static struct tlg_ring_loss *find(uint32_t tid, unsigned reason)
{
	const uint64_t key = ((uint64_t)tid << 8 | (reason + 1)) << NEAR_BITS;
	uint64_t *near = &g_near[(tid * TLG_RING_REASONS + reason) % NEAR];
	uint64_t known = tr2_load_rlx(near); /* relaxed: it is all in one word, and totals stay where they are */
	unsigned place = (unsigned)(known & NOWHERE);

	if (known >> NEAR_BITS != key >> NEAR_BITS) {
		place = search(tid, reason);
		if (place) {
			tr2_store_rlx(&g_has_near, 1); /* relaxed: asked for in a forked child, which has a copy */
			tr2_store_rlx(near, key | place); /* relaxed: as above */
		}
	}
	return place && place != NOWHERE ? tr2_shm_loss(place - 1) : NULL;
}

static struct tlg_ring_loss *add_total(uint32_t tid, unsigned reason)
{
	struct tlg_ring_loss *total;
	uint32_t i = used(), more = MAX - i < AT_ONCE ? MAX - i : AT_ONCE;

	/* before it is counted: then other threads read it, which on a full file system would raise SIGBUS */
	if (!more || tr2_shm_commit(tr2_shm_loss(i), more * sizeof(*total)))
		return NULL;
	i = tr2_add_rlx(&tr2_g_shm.head->losses_used, 1); /* relaxed: only the number matters */
	if (i >= MAX)
		return NULL;
	total = tr2_shm_loss(i);
	total->tid = tid;         /* is_set, which others are reading, and count are 0: so the file began */
	total->reason = reason;
	tr2_store_rel(&total->is_set, 1); /* [M11] release: whose it is.  Pairs with is_set() */
	return total;
}

/* The total of this thread and reason.  Two that add the first one at once have a total each. */
static uint64_t *count_of(uint32_t tid, unsigned reason)
{
	struct tlg_ring_loss *total = tid == TLG_NO_THREAD ? NULL : find(tid, reason);

	if (!total && tid != TLG_NO_THREAD)
		total = add_total(tid, reason);
	return total ? &total->count : &tr2_g_shm.head->losses[reason];
}

void tr2_losses_add(uint32_t tid, unsigned reason, uint64_t count)
{
	if (!count)
		return;
	tr2_add_rlx(count_of(tid, reason), count); /* relaxed: losses_changed orders it */
	/* [M9] release: the count.  Pairs with tr2_losses_begin() */
	tr2_store_rel(&tr2_g_shm.head->losses_changed, 1);
}

uint64_t tr2_losses_of(uint32_t tid, unsigned reason)
{
	const struct tlg_ring_loss *total = find(tid, reason);

	return total ? tr2_load_rlx(&total->count) : 0; /* relaxed: only the calling thread adds to it */
}

void tr2_losses_note(unsigned reason)
{
	tr2_losses_add(TLG_NO_THREAD, reason, 1);
}

int tr2_losses_changed(void)
{
	return (int)tr2_load_rlx(&tr2_g_shm.head->losses_changed); /* relaxed: a later change is seen later */
}

unsigned tr2_losses_bound(void)
{
	return TLG_LOSS_REASONS + used();
}

void tr2_losses_begin(unsigned bound)
{
	/* [M9] acquire: the counts that were changed.  Pairs with tr2_losses_add() */
	tr2_exchange_acq_rel(&tr2_g_shm.head->losses_changed, 0);
	if (tr2_losses_bound() > bound)
		tr2_store_rlx(&tr2_g_shm.head->losses_changed, 1); /* relaxed: seen by the caller, next time */
}

int tr2_losses_get(unsigned i, struct tlg_loss *loss)
{
	const struct tlg_ring_loss *total;

	if (i < TLG_LOSS_REASONS) {
		/* relaxed: [M9] */
		*loss = (struct tlg_loss){ tr2_load_rlx(&tr2_g_shm.head->losses[i]), TLG_NO_THREAD, (uint16_t)i, 0 };
		return loss->count != 0;
	}
	total = tr2_shm_loss(i - TLG_LOSS_REASONS);
	if (!is_set(total))
		return 0;
	/* relaxed: [M9] */
	*loss = (struct tlg_loss){ tr2_load_rlx(&total->count), total->tid, (uint16_t)total->reason, 0 };
	return loss->count != 0;
}

/* SPDX-License-Identifier: MIT */
/* tr2p_live.c - addresses in one array, to be searched fast; what is known of them in another. */
#include "tr2p_live.h"

#include <errno.h>
#include <sys/mman.h>

enum { PROBES = 64, FULL = 255 };
/* In the place of an address: a slot that nobody has; one that is being filled. */
enum { FREE, BUSY };

unsigned char tr2p_g_filter[TR2P_FILTER];

struct slots {
	uintptr_t addresses[TR2P_LIVE_MAX];   /* [P7] */
	struct tr2p_live lives[TR2P_LIVE_MAX];
};

static struct slots *g_sampled;
static uint64_t g_lost;

/* NULL: there are none, as this thread sees it. */
static struct slots *get_slots(void)
{
	return tr2_load_rlx(&g_sampled); /* relaxed: zeroed memory, whichever thread has mapped it */
}

int tr2p_live_init(void)
{
	struct slots *slots;

	if (get_slots())
		return 0;
	slots = mmap(NULL, sizeof(*slots), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (slots == MAP_FAILED)
		return errno;
	if (!tr2_cas_rlx(&g_sampled, NULL, slots)) /* relaxed: as in get_slots() */
		munmap(slots, sizeof(*slots));   /* another thread was faster */
	return 0;
}

/* A count that does not fit stays, and the table is asked. */
static void filter_add(const void *address, int n)
{
	unsigned char *at = &tr2p_g_filter[tr2p_filter_of(address)], old;

	do
		old = tr2_load_rlx(at); /* relaxed: a count; see tr2p_live_may_have() */
	while (old != FULL && !tr2_cas_rlx(at, old, (unsigned char)(old + n))); /* relaxed: as above */
}

static size_t slot_of(const void *address, unsigned probe)
{
	uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)((hash >> 32) + probe) % TR2P_LIVE_MAX;
}

/* A slot for an address, or TR2P_LIVE_MAX. */
static size_t claim(struct slots *slots, const void *address)
{
	for (unsigned probe = 0; probe < PROBES && slots; probe++) {
		size_t slot = slot_of(address, probe);
		/* relaxed: looked at again at once */
		if (tr2_load_rlx(&slots->addresses[slot]) != FREE)
			continue;
		/* [P7] acquire: the owner before has read it.  Pairs with the exchange in tr2p_live_take() */
		if (tr2_cas_acq_rel(&slots->addresses[slot], (uintptr_t)FREE, (uintptr_t)BUSY))
			return slot;
	}
	return TR2P_LIVE_MAX;
}

int tr2p_live_put(const void *address, const struct tr2p_live *live)
{
	struct slots *slots = get_slots();
	size_t slot = claim(slots, address);

	if (slot == TR2P_LIVE_MAX) {
		tr2_add_rlx(&g_lost, 1); /* relaxed: a number for people */
		return 0;
	}
	slots->lives[slot] = *live;
	filter_add(address, 1);
	/* [P7] release: what the slot has.  Pairs with tr2p_live_take() */
	tr2_store_rel(&slots->addresses[slot], (uintptr_t)address);
	return 1;
}

int tr2p_live_take(const void *address, struct tr2p_live *live)
{
	struct slots *slots = get_slots();

	for (unsigned probe = 0; probe < PROBES && slots && address; probe++) {
		size_t slot = slot_of(address, probe);
		/* [P7] acquire: what the slot has.  Pairs with tr2p_live_put() */
		if (tr2_load_acq(&slots->addresses[slot]) != (uintptr_t)address)
			continue;
		*live = slots->lives[slot];
		/* [P7] release: it was read.  Pairs with claim().  Not there any more: the program frees it twice */
		if (!tr2_cas_acq_rel(&slots->addresses[slot], (uintptr_t)address, (uintptr_t)FREE))
			return 0;
		filter_add(address, -1);
		return 1;
	}
	return 0;
}

uint64_t tr2p_live_lost(void)
{
	return tr2_load_rlx(&g_lost); /* relaxed: as they are added up */
}

/* SPDX-License-Identifier: MIT */
/* tr2_snapshot.c - requests for snapshots, and what they keep from being overwritten. */
#include "tr2_snapshot.h"

#include "tr2_overwrite.h"
#include "settings/tr2_env.h"

static struct requests {
	uint32_t asked, served;           /* so far */
	uint32_t kept_upto;               /* number of the latest chunk that one of them wants; 0: none */
} g_requests;

/* The order does not matter: a thread that does not see it yet overwrites one more chunk, and counts that. */
int tr2_snapshot_request(void)
{
	if (!tr2_is_flight_recorder())
		return 0;
	tr2_store_rlx(&g_requests.kept_upto, tr2_ring_latest()); /* relaxed: see above */
	tr2_add_rlx(&g_requests.asked, 1); /* relaxed: a request that is missed now is seen at the next look */
	return 1;
}

static uint32_t asked(void)
{
	return tr2_load_rlx(&g_requests.asked); /* relaxed: see tr2_snapshot_request() */
}

int tr2_snapshot_is_requested(void)
{
	return tr2_is_flight_recorder() && asked() != tr2_load_rlx(&g_requests.served); /* relaxed: as above */
}

uint32_t tr2_snapshot_begin(void)
{
	uint32_t requests = asked();

	tr2_store_rlx(&g_requests.kept_upto, tr2_ring_latest()); /* relaxed: as above */
	return requests;
}

void tr2_snapshot_end(uint32_t requests)
{
	tr2_store_rlx(&g_requests.served, requests); /* relaxed: as above */
	if (asked() == requests)
		tr2_store_rlx(&g_requests.kept_upto, 0); /* relaxed: as above */
}

int tr2_snapshot_make_room(struct tr2_thread *self)
{
	return tr2_is_flight_recorder() &&
	       tr2_overwrite_oldest(self, tr2_load_rlx(&g_requests.kept_upto)); /* relaxed: as above */
}

void tr2_snapshot_reset(void)
{
	g_requests = (struct requests){ 0 };
}

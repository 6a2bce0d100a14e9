/* SPDX-License-Identifier: MIT */
/* tr2_leave.c - see tr2_leave.h. */
#include "tr2_leave.h"

#include <stdint.h>

#include "base/tr2_atomic.h"

enum { RUNS, ASKED, LEAVES, HAS_LEFT };

static uint32_t g_leaves;         /* [M27] [M28] */

void tr2_leave_ask(void)
{
	tr2_store_rlx(&g_leaves, ASKED); /* relaxed: calls that wake the thread follow, until it has ended */
}

int tr2_leave_take_back(void)
{
	return tr2_cas_rlx(&g_leaves, ASKED, RUNS); /* relaxed: decides by itself */
}

void tr2_leave_end(void)
{
	tr2_store_rel(&g_leaves, RUNS); /* [M28] release: what the last one has noted.  Pairs with tr2_leave_is() */
}

int tr2_leave_is(void)
{
	return tr2_load_acq(&g_leaves) != RUNS; /* [M28] acquire: what it has noted.  Pairs with tr2_leave_end() */
}

int tr2_leave_now(void)
{
	/* relaxed: a hint; the exchange decides by itself */
	if (tr2_load_rlx(&g_leaves) != ASKED || !tr2_cas_rlx(&g_leaves, ASKED, LEAVES))
		return 0;
	tr2_store_rel(&g_leaves, HAS_LEFT); /* [M27] release: what it has noted.  Pairs with tr2_leave_has_left() */
	return 1;
}

int tr2_leave_has_left(void)
{
	return tr2_load_acq(&g_leaves) == HAS_LEFT; /* [M27] acquire: what it has noted.  Pairs with tr2_leave_now() */
}

/* SPDX-License-Identifier: MIT */
/* tr2_late.c - see tr2_late.h. */
#include "tr2_late.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/tr2_atomic.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_dormant.h"
#include "ring/tr2_thread.h"

enum { WAIT_NS = 100000, WAITS = 10000 };

static struct late {
	uint32_t state;                   /* [M26] enum tr2_late */
	int error;                        /* of TR2_LATE_FAILED */
	int has_paused;
	int is_introduced;                /* 0: the first thread of the session has to do it */
} g_late = { .is_introduced = 1 };

TR2_LARGE static char g_path[4096];
static void (*g_introduction)(void);

/* ---- asking for it ------------------------------------------------------------------------------ */

int tr2_late_want(const char *path)
{
	/* [M26] acquire: an earlier try.  Pairs with end_trying() */
	uint32_t state = tr2_load_acq(&g_late.state);

	if (strlen(path) >= sizeof(g_path))
		return -ENAMETOOLONG;
	if (state != TR2_LATE_NONE && state != TR2_LATE_FAILED)
		return -EBUSY;
	strcpy(g_path, path);
	tr2_store_rel(&g_late.state, TR2_LATE_WANTED); /* [M26] release: the path.  Pairs with tr2_late_ensure() */
	tr2_set_enabled(1);
	return 0;
}

enum tr2_late tr2_late_state(int *error)
{
	/* [M26] acquire: its error.  Pairs with end_trying() */
	enum tr2_late state = (enum tr2_late)tr2_load_acq(&g_late.state);

	*error = g_late.error;
	return state;
}

int tr2_late_withdraw(void)
{
	/* relaxed: nothing is read; the exchange keeps a thread out that begins it */
	if (!tr2_cas_rlx(&g_late.state, TR2_LATE_WANTED, TR2_LATE_NONE))
		return 0;
	tr2_set_enabled(0);
	return 1;
}

/* ---- beginning it ------------------------------------------------------------------------------- */

static void end_trying(int error)
{
	g_late.error = error;
	g_late.is_introduced = error != 0;
	if (error)
		tr2_set_enabled(0);
	/* [M26] release: the session, the error.  Pairs with tr2_late_ensure() */
	tr2_store_rel(&g_late.state, error ? TR2_LATE_FAILED : TR2_LATE_BEGUN);
}

/* Another thread is beginning the session. */
static int await_other(void)
{
	for (int i = 0; i < WAITS; i++) {
		/* [M26] acquire: the session.  Pairs with end_trying() */
		if (tr2_load_acq(&g_late.state) != TR2_LATE_BEGINNING)
			break;
		tr2_sys_sleep(WAIT_NS);
	}
	return tr2_load_rlx(&g_late.state) == TR2_LATE_BEGUN; /* relaxed: the loop has ordered it */
}

int tr2_late_ensure(uint64_t mask)
{
	/* [M26] acquire: the session, or the path.  Pairs with end_trying(), tr2_late_want() */
	uint32_t state = tr2_load_acq(&g_late.state);

	if (state == TR2_LATE_NONE || state == TR2_LATE_BEGUN)
		return 1;
	if (state == TR2_LATE_FAILED)
		return 0;
	/* [M26] acquire: the path.  Pairs with tr2_late_want() */
	if (!tr2_cas_acq_rel(&g_late.state, TR2_LATE_WANTED, TR2_LATE_BEGINNING))
		return await_other();
	end_trying(tr2_session_begin_late(g_path, mask));
	if (tr2_is_enabled())
		tr2_dormant_session();
	return tr2_is_enabled();
}

void tr2_late_set_introduction(void (*function)(void))
{
	g_introduction = function;
}

void tr2_late_introduce(void)
{
	/* relaxed: of several threads one does it, the first that comes behind the session's beginning */
	if (tr2_load_rlx(&g_late.is_introduced) || tr2_exchange_rlx(&g_late.is_introduced, 1) || !g_introduction)
		return;
	g_introduction();
}

/* ---- pausing ------------------------------------------------------------------------------------ */

int tr2_late_has_paused(void)
{
	return tr2_load_rlx(&g_late.has_paused); /* relaxed: a flag, which orders nothing */
}

int tr2_late_pause(void)
{
	if (!tr2_is_enabled() || !tr2_g_shm.head)
		return 0;
	tr2_store_rlx(&g_late.has_paused, 1); /* relaxed: as above */
	tr2_set_enabled(0);
	return 1;
}

/* A forked child has no session of its own before its first call: nothing of it is missing. */
int tr2_late_resume(void)
{
	if (!tr2_late_has_paused())
		return 0;
	if (!tr2_is_forked_child())
		tr2_drain_note_pause();
	tr2_store_rlx(&g_late.has_paused, 0); /* relaxed: as above */
	tr2_set_enabled(1);
	return 1;
}

void tr2_late_begin_child(void)
{
	/* relaxed: no other thread is there */
	if (tr2_load_rlx(&g_late.state) != TR2_LATE_BEGINNING)
		return;
	tr2_store_rlx(&g_late.state, TR2_LATE_NONE); /* relaxed: as above */
	tr2_set_enabled(0);
	tr2_session_drop();
}

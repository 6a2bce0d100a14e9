/* SPDX-License-Identifier: MIT */
/* tr2_dormant.c - see tr2_dormant.h. */
#include "tr2_dormant.h"

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "tr2_leave.h"
#include "base/tr2_atomic.h"
#include "base/tr2_sys.h"
#include "ctl/tr2_page.h"

enum { SLEEPS, HAS_SESSION, IS_OVER };

static struct dormant {
	pid_t pid;                /* the dormant process; 0: there is none */
	uint32_t state;           /* [M25] SLEEPS, ...; the futex of a thread whose page is closed */
} g_dormant;

static unsigned (*g_serve)(void);

void tr2_dormant_set_server(unsigned (*function)(void))
{
	g_serve = function;
}

unsigned tr2_dormant_serve(void)
{
	return g_serve ? g_serve() : 0;
}

void tr2_dormant_begin(void)
{
	tr2_store_rlx(&g_dormant.state, SLEEPS); /* relaxed: its thread is not there yet */
	g_dormant.pid = tr2_sys_getpid();
}

int tr2_dormant_is(void)
{
	return g_dormant.pid && g_dormant.pid == tr2_sys_getpid();
}

int tr2_dormant_await(void)
{
	uint32_t state;

	for (;;) {
		const uint32_t bell = tr2_page_listen();
		unsigned ms = tr2_dormant_serve();
		const struct timespec timeout = { ms / 1000, (long)(ms % 1000) * 1000000 };

		state = tr2_load_acq(&g_dormant.state); /* [M25] acquire: the session.  Pairs with set_state() */
		if (state != SLEEPS)
			return state == HAS_SESSION;
		if (tr2_leave_now())
			return 0;
		tr2_page_wait(bell, &g_dormant.state, SLEEPS, ms ? &timeout : NULL);
	}
}

static void set_state(uint32_t state)
{
	if (!tr2_dormant_is())
		return;
	tr2_store_rel(&g_dormant.state, state); /* [M25] release: the session.  Pairs with tr2_dormant_await() */
	tr2_page_wake(&g_dormant.state);
}

void tr2_dormant_wake(void)
{
	if (tr2_dormant_is())
		tr2_page_wake(&g_dormant.state);
}

void tr2_dormant_session(void)
{
	set_state(HAS_SESSION);
}

void tr2_dormant_end(void)
{
	/* relaxed: only the thread that ends the process changes it now */
	if (tr2_load_rlx(&g_dormant.state) == SLEEPS)
		set_state(IS_OVER);
}

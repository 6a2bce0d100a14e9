/* SPDX-License-Identifier: MIT */
/* tr2_sandbox.c - see tr2_sandbox.h. */
#include "tr2_sandbox.h"

#include <errno.h>
#include <sys/prctl.h>

#include "tr2_sys.h"

static struct state { int filters, privileges; } g_noted;   /* -1: not to be had */

static struct state ask(void)
{
	int saved = errno;
	struct state now = { tr2_sys_prctl(PR_GET_SECCOMP, 0), tr2_sys_prctl(PR_GET_NO_NEW_PRIVS, 0) };

	errno = saved;
	return now;
}

void tr2_sandbox_note(void)
{
	g_noted = ask();
}

/* Without a filter before, a process may give up new privileges for other reasons. */
int tr2_sandbox_has_begun(void)
{
	const struct state now = ask();

	return now.filters != g_noted.filters || (now.filters && now.privileges != g_noted.privileges);
}

int tr2_sandbox_can_tell(void)
{
	return !g_noted.filters || !g_noted.privileges;
}

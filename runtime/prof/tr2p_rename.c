/* SPDX-License-Identifier: MIT */
/* tr2p_rename.c - in front of pthread_setname_np(). */
#include "tr2p_rename.h"

#include <pthread.h>
#include <unistd.h>

#include "tr2p_exit.h"
#include "tr2p_next.h"
#include "tr2p_sandbox.h"
#include "tr2p_thread.h"
#include "record/tr2_sample.h"

/* A program may bring along an older libtrace2, without this. */
#pragma weak tr2_sample_renamed_v1

/* A vfork() child that renames itself writes to its parent's memory.  So only the process that records reports it. */
static void report(int is_certain)
{
	pid_t recorder = tr2_load_rlx(&tr2p_g_recorder); /* relaxed: a number by itself */

	if (!recorder || tr2p_sandbox_is_closed() || tr2p_is_inside() || !tr2_sample_renamed_v1 || recorder != getpid())
		return;
	tr2p_enter();
	tr2_sample_renamed_v1(is_certain);
	tr2p_leave();
}

void tr2p_rename_note(void)
{
	report(1);
}

void tr2p_rename_end(void)
{
	report(0);
}

static uint32_t g_count;

void tr2p_rename_other(void)
{
	tr2_add_rel(&g_count, 1); /* [P15] release: the kernel has the name.  Pairs with tr2p_rename_count() */
}

uint32_t tr2p_rename_count(void)
{
	return tr2_load_acq(&g_count); /* [P15] acquire: the name, to be read.  Pairs with tr2p_rename_other() */
}

#ifndef TR2_IS_SANITIZED
/* ---- in front of libc ------------------------------------------------------------------------------ */

#define FUNCTIONS(X) \
	X(pthread_setname_np)

TR2P_NEXT_TABLE(FUNCTIONS);

TR2P_IN_FRONT int pthread_setname_np(pthread_t thread, const char *name)
{
	int error = NEXT(pthread_setname_np)(thread, name);

	if (!error) {
		tr2p_rename_other();
		tr2p_rename_note();
	}
	return error;
}
#endif

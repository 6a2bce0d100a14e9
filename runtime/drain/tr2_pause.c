/* SPDX-License-Identifier: MIT */
/* tr2_pause.c - see tr2_pause.h. */
#include "tr2_pause.h"

#include <errno.h>

#include "tr2_leave.h"
#include "tr2_wake.h"
#include "base/tr2_atomic.h"
#include "base/tr2_mask.h"
#include "base/tr2_sandbox.h"
#include "ring/tr2_shm.h"

int tr2_pause_begin(void)
{
	if (!tr2_wake_is_running() || tr2_sandbox_has_begun())
		return 0;
	tr2_leave_ask();
	tr2_wake_await_end();
	if (tr2_leave_take_back())
		return 0;
	while (!tr2_leave_has_left())
		tr2_wake_await_end();
	tr2_wake_await_end();
	tr2_wake_has_left();
	if (tr2_shm_is_own())
		tr2_store_rlx(&tr2_g_shm.head->lacks_thread, 1); /* relaxed: a number by itself */
	return 1;
}

void tr2_pause_end(void)
{
	int saved = errno;

	tr2_leave_end();
	tr2_wake_wanted(tr2_mask_now());
	errno = saved;
}

/* SPDX-License-Identifier: MIT */
/* tr2_exec.c - when the ring file may lose its name, and who gives it one again. */
#include "tr2_exec.h"

#include <errno.h>

#include "tr2_collect.h"
#include "tr2_drain.h"
#include "tr2_lock.h"
#include "tr2_pass.h"
#include "tr2_wake.h"
#include "base/tr2_mask.h"
#include "base/tr2_sandbox.h"
#include "base/tr2_text.h"
#include "output/tr2_sink.h"
#include "ring/tr2_detach.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

/*
 * The position of each ring goes away from its chunk, so that the next call takes the slow path.
 * Return  0: something is recorded, or just being recorded, that has not been read
 */
static int park_all(void)
{
	int are_all = 1;

	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		tr2_ring_park(&thread->reader);
		/* relaxed: no other thread of the program runs */
		are_all &= !tr2_load_rlx(&thread->ring.head->has_owner) || tr2_ring_is_away(&thread->reader);
	}
	return are_all;
}

static int is_all_written(void)
{
	return !tr2_drain_is_over() && tr2_collect_has_written() && !tr2_pass_wait_for_margin();
}

void tr2_exec_begin(void)
{
	uint64_t mask;
	int saved = errno;

	if (tr2_is_flight_recorder() || tr2_is_forked_child() || !tr2_shm_is_own() || tr2_is_detached() ||
	    !tr2_sandbox_can_tell() || tr2_sandbox_has_begun())
		return;
	tr2_mask_all(&mask);
	if (tr2_wake_is_alone() && tr2_lock_briefly()) {
		if (is_all_written() && park_all())
			tr2_detach();
		tr2_lock_release();
	}
	tr2_mask_restore(&mask);
	errno = saved;
}

void tr2_exec_failed(void)
{
	int saved = errno, is_ours = tr2_lock_wait(), error = 0;

	if (tr2_is_detached())   /* else another thread was first */
		error = is_ours ? tr2_attach() : -ETIMEDOUT;
	tr2_detach_reset();
	if (is_ours)
		tr2_lock_release();
	if (error && tr2_g_settings.dst_debug)
		tr2_warning("no ring file after a failed exec, events are lost if the process is killed: ",
			    tr2_text_error(-error));
	errno = saved;
}

/* SPDX-License-Identifier: MIT */
/* tr2_drain_here.c - passes of the program's threads, where the consumer thread does not run. */
#include "tr2_drain.h"

#include "tr2_collect.h"
#include "tr2_lock.h"
#include "tr2_pass.h"
#include "tr2_recovery.h"
#include "output/tr2_sink.h"
#include "settings/tr2_env.h"

/* Return  1: fn was run, or the trace has ended */
static int run_here(void (*fn)(void), int may_be_handler)
{
	int takes;

	if ((may_be_handler && tr2_sink_has_texts()) || !tr2_lock_try())
		return 0;
	takes = tr2_drain_may_write() && tr2_sink_takes_now();
	tr2_recovery_pid_space();   /* here there is no thread to do it */
	if (takes && !tr2_drain_is_over())
		fn();
	tr2_lock_release();
	return takes;
}

int tr2_drain_instead(int may_be_handler)
{
	return run_here(tr2_drain_all, may_be_handler);
}

static void pass_once(void)
{
	uint64_t upto;

	if (tr2_is_flight_recorder())
		tr2_pass_snapshot();
	else
		tr2_pass(TR2_DRAIN_TIMEOUT_US, &upto);
	if (!tr2_collect_has_written())
		tr2_collect_write();
}

void tr2_drain_in_passing(int may_be_handler)
{
	run_here(pass_once, may_be_handler);
}

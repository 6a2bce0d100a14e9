/* SPDX-License-Identifier: MIT */
/*
 * step_young.c - the same as step.c for a young process (runtime/drain/tr2_young.h).  In the first two places there is
 * no thread, and all calls use the slow path.  In the third, which is also the fourth, the second chunk starts the
 * thread.
 */
#include "step.c"

int __wrap_tr2_young_is_outgrown(void);

/* Keep the process young: stepping takes longer than 5 ms. */
int __wrap_tr2_young_is_outgrown(void)
{
	return 0;
}

__attribute__((constructor)) static void be_young(void)
{
	places[CALL_PLACES - 1] = places[CALL_PLACES - 2];
	setenv("TRACE2_RAW_THREAD", "auto", 1);
}

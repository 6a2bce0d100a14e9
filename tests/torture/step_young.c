/* SPDX-License-Identifier: MIT */
/*
 * step_young.c - the same as step.c for a process that is young, see runtime/drain/tr2_young.h: at the first two places
 * there is no thread, and all calls take the slow path; at the third, which is also the fourth, the second chunk starts
 * the thread.
 */
#include "step.c"

int __wrap_tr2_young_is_outgrown(void);

/* Stepping takes longer than youth lasts. */
int __wrap_tr2_young_is_outgrown(void)
{
	return 0;
}

__attribute__((constructor)) static void be_young(void)
{
	places[CALL_PLACES - 1] = places[CALL_PLACES - 2];
	setenv("TRACE2_RAW_THREAD", "auto", 1);
}

/* SPDX-License-Identifier: MIT */
/* tr2_progress.c - see tr2_progress.h. */
#include "tr2_progress.h"

#include <errno.h>
#include <sched.h>

#include "tr2_atomic.h"
#include "tr2_futex.h"
#include "tr2_sys.h"

static uint32_t g_steps;

void tr2_progress_made(void)
{
	tr2_add_rlx(&g_steps, 1); /* relaxed: only that it changes matters */
}

struct tr2_timeout tr2_timeout_begin(unsigned turns)
{
	return (struct tr2_timeout){ .seen = tr2_load_rlx(&g_steps), .max = turns }; /* relaxed: as above */
}

int tr2_timeout_wait(struct tr2_timeout *timeout, const uint32_t *word, uint32_t value)
{
	const struct timespec turn = { 0, TR2_TIMEOUT_TURN_MS * 1000000L };
	uint32_t steps;

	errno = 0;
	tr2_futex_wait(word, value, &turn);
	if (errno == ETIMEDOUT) {
		tr2_sys_yield();
		timeout->turns++;
	}
	steps = tr2_load_rlx(&g_steps); /* relaxed: as above */
	if (steps != timeout->seen)
		timeout->turns = 0;
	timeout->seen = steps;
	return timeout->turns < timeout->max;
}

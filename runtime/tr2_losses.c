/* SPDX-License-Identifier: MIT */
/* tr2_losses.c - a small table of totals. */
#include "tr2_losses.h"

#include <stddef.h>

#include "tr2_atomic.h"

static struct tlg_loss g_losses[TLG_MAX_LOSSES];
static unsigned g_count;
static int g_changed;
static uint64_t g_noted[TLG_LOSS_REASONS];

void tr2_losses_reset(void)
{
	g_count = 0;
	g_changed = 0;
}

static struct tlg_loss *find(uint32_t tid, unsigned reason)
{
	for (unsigned i = 0; i < g_count; i++)
		if (g_losses[i].tid == tid && g_losses[i].reason == reason)
			return &g_losses[i];
	return NULL;
}

static struct tlg_loss *add(uint32_t tid, unsigned reason)
{
	/* the last places are kept for the process's own totals, one for each reason */
	unsigned most = tid == TLG_NO_THREAD ? TLG_MAX_LOSSES : TLG_MAX_LOSSES - TLG_LOSS_REASONS;

	if (g_count >= most)
		return NULL;
	g_losses[g_count] = (struct tlg_loss){ .tid = tid, .reason = (uint16_t)reason };
	return &g_losses[g_count++];
}

void tr2_losses_add(uint32_t tid, unsigned reason, uint64_t count)
{
	struct tlg_loss *loss;

	if (!count)
		return;
	loss = find(tid, reason);
	if (!loss)
		loss = add(tid, reason);
	if (!loss && tid != TLG_NO_THREAD) {
		tr2_losses_add(TLG_NO_THREAD, reason, count);
		return;
	}
	if (loss)
		loss->count += count;
	g_changed = 1;
}

unsigned tr2_losses_count(void)
{
	return g_count;
}

const struct tlg_loss *tr2_losses_at(unsigned i)
{
	return &g_losses[i];
}

int tr2_losses_changed(void)
{
	return g_changed;
}

void tr2_losses_posted(void)
{
	g_changed = 0;
}

void tr2_losses_note(unsigned reason)
{
	tr2_add_rlx(&g_noted[reason], 1); /* relaxed: a statistic */
}

void tr2_losses_collect(void)
{
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		tr2_losses_add(TLG_NO_THREAD, reason, tr2_exchange_rlx(&g_noted[reason], 0)); /* relaxed: a statistic */
}

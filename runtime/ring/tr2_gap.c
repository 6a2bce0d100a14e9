/* SPDX-License-Identifier: MIT */
/* tr2_gap.c - see tr2_gap.h. */
#include "tr2_gap.h"

#include "base/tr2_clock.h"

/*
 * One word, so that a handler finds it whole: ring events in the low half; regions left, above them; regions entered.
 */
enum { LEFT_SHIFT = 32, ENTERED_SHIFT = 48, COUNT_MASK = 0xffff };

static uint64_t pack(uint32_t events, unsigned left, unsigned entered)
{
	return events | (uint64_t)left << LEFT_SHIFT | (uint64_t)entered << ENTERED_SHIFT;
}

/* The word after one more chain of events.  Nobody counts how many regions a thread leaves at once. */
static uint64_t add_chain(uint64_t word, enum tlg_style style, unsigned events)
{
	uint32_t sum = (uint32_t)word + events;
	unsigned left = (unsigned)(word >> LEFT_SHIFT) & COUNT_MASK, entered = (unsigned)(word >> ENTERED_SHIFT);

	if (style == TLG_STYLE_region_enter)
		entered++;
	else if (style == TLG_STYLE_region_leave && entered)
		entered--;
	else if (style == TLG_STYLE_region_leave)
		left++;
	if (style == TLG_STYLE_none || tlg_style_cuts(style) || left > TLG_GAP_MAX || entered > TLG_GAP_MAX)
		return pack(sum, TLG_GAP_UNKNOWN, 0);
	return pack(sum, left, entered);
}

void tr2_gap_count(struct tr2_gap *gap, enum tlg_style style, unsigned events)
{
	uint64_t word;

	do
		word = tr2_load_rlx(&gap->dropped); /* relaxed: only the thread's own handlers change it */
	while (!tr2_cas_rlx(&gap->dropped, word, add_chain(word, style, events))); /* relaxed: as above */
}

void tr2_gap_reset(struct tr2_gap *gap, const struct tlg_ring *ring)
{
	*gap = (struct tr2_gap){ .reported_events = ring->lost_events };
}

/*
 * A handler may have come between the two counts of a dropped chain, here and in the ring: then the ring lacks the
 * chain now, and has it too much the next time.
 */
void tr2_gap_report(struct tr2_gap *gap, const struct tlg_ring *ring, struct tlg_event *event)
{
	uint64_t events = ring->lost_events - gap->reported_events, word = gap->dropped;
	unsigned left = (unsigned)(word >> LEFT_SHIFT) & COUNT_MASK;
	int is_whole = (uint32_t)word == (uint32_t)events;

	if (!is_whole || gap->is_torn || events > UINT32_MAX)
		left = TLG_GAP_UNKNOWN;
	event->u.gap = (struct tlg_gap){
		tr2_clock_raw(), (uint32_t)events, (uint16_t)left, (uint16_t)(word >> ENTERED_SHIFT)
	};
	tr2_gap_reset(gap, ring);
	gap->is_torn = !is_whole;
	tr2_ring_commit(event, TLG_GAP);
}

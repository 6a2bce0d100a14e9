/* SPDX-License-Identifier: MIT */
/* t2x_pace.c - see t2x_pace.h. */
#include "t2x_pace.h"

static void set_mark(struct t2x_pace *pace, uint64_t when)
{
	uint64_t ns = pace->has_clock ? t2x_clock_ns(&pace->clock, when) : 0;

	if (ns > pace->ns)
		pace->ns = ns;
}

/* No event of a process is older than the process, wherever reading has begun. */
static void set_start(struct t2x_pace *pace)
{
	if (pace->start_ns || !pace->start || !pace->has_clock)
		return;
	pace->start_ns = t2x_clock_ns(&pace->clock, pace->start);
	set_mark(pace, pace->start);
}

void t2x_pace_follow(struct t2x_pace *pace, const struct t2x_block *block)
{
	for (unsigned i = 0; block->tid == TLG_NO_THREAD && i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];

		switch (tlg_event_type(event)) {
		case TLG_PROCINFO:
			pace->start = event->u.procinfo.start;
			break;
		case TLG_TIMETYPE:
			t2x_clock_set_rate(&pace->clock, event->u.timetype.tdiv);
			pace->has_rate = 1;
			break;
		case TLG_TIMEINFO:
			t2x_clock_set_pair(&pace->clock, event->u.timeinfo.start_hires, event->u.timeinfo.start);
			pace->has_clock = pace->has_rate;
			set_start(pace);
			break;
		case TLG_MARK:
			set_mark(pace, event->u.mark.when);
			break;
		default:
			break;
		}
	}
}

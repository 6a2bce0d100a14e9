/* SPDX-License-Identifier: MIT */
/* tr2_reader.c - see tr2_reader.h. */
#include "tr2_reader.h"

#include <string.h>

#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "ring/tr2_scope.h"

struct tr2_post_thread *tr2_reader_post(struct tr2_thread *thread)
{
	if (!thread->post)
		thread->post = tr2_memory_take(sizeof(struct tr2_post_thread));
	return thread->post;
}

void tr2_reader_meet_thread(struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	const struct tlg_event *event = chain->events;
	char name[32] = "";
	unsigned first_text = 3, i;
	size_t at = 0;

	while (first_text < chain->count && tlg_event_type(&event[first_text]) == TLG_VALUE)
		first_text++;
	for (i = first_text; i < chain->count && at + TLG_TEXT_SIZE <= sizeof(name); i++, at += TLG_TEXT_SIZE)
		memcpy(name + at, event[i].u.info.text.c, TLG_TEXT_SIZE);
	name[sizeof(name) - 1] = '\0';
	tr2_post_thread(post, event->u.thread.tid, event->u.thread.ostid, event->u.thread.start, name);
	i = 3;
	if (i < first_text && !event[i].u.value.value) {
		post->is_below_root = 1;
		i++;
	}
	for (; i < first_text; i++) {
		if ((uint64_t)event[i].u.value.value == TLG_OPEN_ASSUMED)
			post->doubt = post->depth + 1;
		else
			tr2_post_enter_region(post, (uint64_t)event[i].u.value.value, 0);
	}
}

void tr2_reader_change_thread(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	uint64_t lost = (uint64_t)chain->events[2].u.value.value;

	if (lost > thread->ring.seen_events)
		thread->ring.seen_events = lost;
	tr2_reader_meet_thread(post, chain);
	tr2_post_gap(post, tr2_ring_lost(&thread->ring, 0));   /* its own: those before it got in */
}

void tr2_reader_check_thread(struct tr2_post_thread *post, uint32_t tid)
{
	if (post->tid != tid || !post->start)
		tr2_post_thread(post, tid, 0, tr2_clock_start(), "?");
}

void tr2_reader_count_gap(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	if ((chain->is_first || chain->skipped) && tlg_event_type(chain->events) != TLG_THREAD)
		tr2_post_gap(post, tr2_ring_lost(&thread->ring, 0));
}

int tr2_reader_is_identity(const struct tr2_chain *chain)
{
	const struct tlg_ring_scope *scope = tr2_scope_get(chain->events->u.hit.scopeIndex);

	return tlg_event_type(chain->events) == TLG_HIT && scope && tlg_style_is_identity(scope->style);
}

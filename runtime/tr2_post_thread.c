/* SPDX-License-Identifier: MIT */
/* tr2_post_thread.c - what the stream knows about a thread: who it is, which regions it has open. */
#include <string.h>

#include "tr2_post.h"

void tr2_post_thread(struct tr2_post_thread *thread, uint32_t tid, uint32_t ostid, uint64_t start, const char *name)
{
	thread->tid = tid;
	thread->ostid = ostid;
	thread->start = thread->last_when = start;
	thread->position = 0;
	thread->cycle = 0;
	thread->depth = 0;
	strncpy(thread->name, name, sizeof(thread->name) - 1);
}

static void enter_region(struct tr2_post_thread *thread, uint64_t when, uint32_t scope)
{
	if (thread->depth < TR2_OPEN_REGIONS) {
		thread->open[thread->depth].when = when;
		thread->open[thread->depth].scope = scope;
	}
	thread->depth++;
}

void tr2_post_open_region(struct tr2_post_thread *thread, uint64_t when)
{
	enter_region(thread, when, 0);
}

void tr2_post_follow_regions(struct tr2_post_thread *thread, const struct tlg_hit *hit, unsigned style)
{
	if (style == TLG_STYLE_region_enter) {
		enter_region(thread, hit->when, hit->scopeIndex);
	} else if (style == TLG_STYLE_region_leave && thread->depth) {
		thread->depth--;
	} else if (style == TLG_STYLE_thread_exit || style == TLG_STYLE_atexit) {
		thread->depth = 0;
	}
}

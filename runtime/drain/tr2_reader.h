/* SPDX-License-Identifier: MIT */
/*
 * tr2_reader.h - what every reader of a ring has to follow: whose events these are, and how many were dropped in
 * between.  Readers are the drain, and, where rings are overwritten, their owners: see tr2_overwrite.h.
 */
#ifndef TR2_READER_H
#define TR2_READER_H

#include "tr2_post.h"
#include "ring/tr2_thread.h"

/* What the stream knows about the thread; made at the first call.  NULL: no memory */
struct tr2_post_thread *tr2_reader_post(struct tr2_thread *thread);

/* THREAD in a ring: whose events follow, which regions are open; and what the ring had dropped before. */
void tr2_reader_meet_thread(struct tr2_post_thread *post, const struct tr2_chain *chain);
void tr2_reader_change_thread(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain);

/* A HIT of tid.  Its THREAD comes before all of them; if it does not, memory is damaged, and the thread is "?". */
void tr2_reader_check_thread(struct tr2_post_thread *post, uint32_t tid);

/* In front of the first chain of a chunk: what was dropped before the chunk was opened. */
void tr2_reader_count_gap(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain);

/* 1 if the HIT tells what process this is; MORE, or one whose scope is not known: 0. */
int tr2_reader_is_identity(const struct tr2_chain *chain);

#endif

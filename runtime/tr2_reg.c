/* SPDX-License-Identifier: MIT */
/* tr2_reg.c - the set of rings; the only user of liburcu, whose functions become part of this file. */
#include "tr2_reg.h"

#include <stddef.h>
/*
 * Inline: a library less that each process would load.  Not where sanitizers look on: they would judge liburcu, whose
 * orders are in assembler, unseen, and which takes the address of a member of NULL.
 */
#ifndef TR2_IS_SANITIZED
#define _LGPL_SOURCE
#endif
#include <urcu/lfstack.h>

static_assert(sizeof(struct cds_lfs_node) <= sizeof(((struct tr2_thread *)0)->member), "a link fits");

static struct __cds_lfs_stack g_rings;

static struct cds_lfs_node *node_of(struct tr2_thread *thread)
{
	return (struct cds_lfs_node *)(void *)thread->member;
}

static struct tr2_thread *thread_of(struct cds_lfs_node *node)
{
	return node ? (struct tr2_thread *)(void *)((char *)node - offsetof(struct tr2_thread, member)) : NULL;
}

void tr2_reg_reset(void)
{
	__cds_lfs_init(&g_rings);
}

/* The push is a full barrier, but one that is written in assembler: the flag says the same to tools and readers. */
void tr2_reg_add(struct tr2_thread *thread)
{
	cds_lfs_node_init(node_of(thread));
	tr2_store_rel(&thread->is_member, 1); /* [M6] release: the ring is set up.  Pairs with skip_unready() */
	cds_lfs_push(&g_rings, node_of(thread));
}

static struct tr2_thread *skip_unready(struct cds_lfs_node *node)
{
	struct tr2_thread *thread = thread_of(node);

	/* [M6] acquire: its set-up.  Pairs with tr2_reg_add() */
	while (thread && !tr2_load_acq(&thread->is_member))
		thread = thread_of(node_of(thread)->next);
	return thread;
}

struct tr2_thread *tr2_reg_first(void)
{
	struct cds_lfs_head *head = tr2_load_rlx(&g_rings.head); /* relaxed: is_member orders what it leads to */

	return head ? skip_unready(&head->node) : NULL;
}

struct tr2_thread *tr2_reg_next(struct tr2_thread *thread)
{
	return skip_unready(node_of(thread)->next);
}

/* SPDX-License-Identifier: MIT */
/* tr2_reg.c - the set of rings; the only user of liburcu. */
#include "tr2_reg.h"

#include <stddef.h>
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

void tr2_reg_add(struct tr2_thread *thread)
{
	cds_lfs_node_init(node_of(thread));
	cds_lfs_push(&g_rings, node_of(thread)); /* [M6] release: a full barrier inside.  Pairs with tr2_reg_first() */
}

struct tr2_thread *tr2_reg_first(void)
{
	/* [M6] acquire: the latest ring's node.  Pairs with the push in tr2_reg_add() */
	struct cds_lfs_head *head = tr2_load_acq(&g_rings.head);

	return head ? thread_of(&head->node) : NULL;
}

struct tr2_thread *tr2_reg_next(struct tr2_thread *thread)
{
	return thread_of(node_of(thread)->next);
}

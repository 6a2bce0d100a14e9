/* SPDX-License-Identifier: MIT */
/* tr2_registry.c - the set of rings; the only user of liburcu, whose functions become part of this file. */
#include "tr2_registry.h"

#include <assert.h>
/*
 * Inline: a library less that each process would load.  Not where sanitizers look on: they would judge liburcu, whose
 * orders are in assembler, unseen, and which takes the address of a member of NULL.
 */
#ifndef TR2_IS_SANITIZED
#define _LGPL_SOURCE
#endif
#include <urcu/lfstack.h>

#include "base/tr2_atomic.h"

static_assert(sizeof(struct cds_lfs_node) <= sizeof(((struct tr2_registry_link *)0)->node), "liburcu's link fits");

static struct __cds_lfs_stack g_rings;

static struct cds_lfs_node *node_of(struct tr2_registry_link *link)
{
	return (struct cds_lfs_node *)(void *)link->node;
}

void tr2_registry_reset(void)
{
	__cds_lfs_init(&g_rings);
}

/* The push is a full barrier, but one that is written in assembler: the flag says the same to tools and readers. */
void tr2_registry_add(struct tr2_registry_link *link)
{
	cds_lfs_node_init(node_of(link));
	tr2_store_rel(&link->is_member, 1); /* [M6] release: the ring is set up.  Pairs with skip_unready() */
	cds_lfs_push(&g_rings, node_of(link));
}

/* A node is the first member of its link. */
static struct tr2_registry_link *skip_unready(struct cds_lfs_node *node)
{
	struct tr2_registry_link *link = (struct tr2_registry_link *)(void *)node;

	/* [M6] acquire: its set-up.  Pairs with tr2_registry_add() */
	while (link && !tr2_load_acq(&link->is_member))
		link = (struct tr2_registry_link *)(void *)node_of(link)->next;
	return link;
}

struct tr2_registry_link *tr2_registry_first(void)
{
	struct cds_lfs_head *head = tr2_load_rlx(&g_rings.head); /* relaxed: is_member orders what it leads to */

	return head ? skip_unready(&head->node) : NULL;
}

struct tr2_registry_link *tr2_registry_next(struct tr2_registry_link *link)
{
	return skip_unready(node_of(link)->next);
}

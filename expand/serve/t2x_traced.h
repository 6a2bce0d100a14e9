/* SPDX-License-Identifier: MIT */
/*
 * t2x_traced.h - the traced processes of this user: those that run, and those that died and left a ring file.
 *
 * A process is known by its control page, by its ring file, or by both.  Files of other users are left out, also for
 * root: what a page of `t2 serve' shows is this user's.
 */
#ifndef T2X_TRACED_H
#define T2X_TRACED_H

#include <stdint.h>

#include "tlg_ring.h"

struct t2x_traced {
	uint32_t pid;
	int is_alive;
	char name[32];                    /* of its program; "": not known */
	char page[512], ring[512];        /* paths of its control page and of its ring file; "": it has none */
	char file[TLG_RING_PATH];         /* its .tlg file, as its ring file says; "": none */
	uint64_t stored;                  /* checkpoints in that file */
};

struct t2x_traced_list {
	struct t2x_traced *items;         /* by process id; dead ones behind those that run */
	unsigned n, space;
};

/* Return  0 or -ENOMEM; the caller frees the list in both cases */
int t2x_traced_find(struct t2x_traced_list *list);
void t2x_traced_free(struct t2x_traced_list *list);

/* The process that runs.  Return  NULL: there is none with this id */
const struct t2x_traced *t2x_traced_get(const struct t2x_traced_list *list, uint32_t pid);

/* The dead process whose ring file has this name, without its directory.  Return  NULL: there is none */
const struct t2x_traced *t2x_traced_dead(const struct t2x_traced_list *list, const char *name);

#endif

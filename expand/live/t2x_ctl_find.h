/* SPDX-License-Identifier: MIT */
/*
 * t2x_ctl_find.h - which processes `t2 ctl' is to ask.
 *
 * Control pages are files trace2-PID-ID.ctl in $XDG_RUNTIME_DIR, /dev/shm and, for another user's processes,
 * /run/user/UID.  A name or an id in a file name proves nothing: t2x_ctl_page_open() decides.
 */
#ifndef T2X_CTL_FIND_H
#define T2X_CTL_FIND_H

#include <stdint.h>

struct t2x_ctl_found {
	uint32_t pid;
	char name[32];                    /* of the process, as the system knows it: "" if it has ended */
	char path[512];                   /* of its page */
};

struct t2x_ctl_list {
	struct t2x_ctl_found *items;      /* by process id */
	unsigned n, space;
};

/*
 * Find pages.  target: a process id; "all"; else the name of programs.  Pages of dead processes are removed, if that is
 * possible, and are not in the list.
 * Return  0 or -ENOMEM; the caller frees the list in both cases
 */
int t2x_ctl_find(struct t2x_ctl_list *list, const char *target);
void t2x_ctl_free(struct t2x_ctl_list *list);

/* The process id that text is; 0: it is none. */
uint32_t t2x_ctl_pid(const char *text);

/* Why a process without a page cannot be asked, in words, with what to do about it. */
void t2x_ctl_explain(uint32_t pid, char *to, unsigned long size);

#endif

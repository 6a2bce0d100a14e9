/* SPDX-License-Identifier: MIT */
/*
 * t2x_ctl_page.h - asks a process by its control page, and waits for the answer.
 *
 * The page is hostile: a process may write anything into it, and truncate the file.  So it is read by pread(2), which
 * never raises a signal; the mapping serves futex(2) alone.  What is read has bounds; whoever prints an answer escapes
 * it.  The kernel says to which process a page belongs: /proc/PID/maps shows the file, read through a directory that is
 * open for this process alone.  A process that has executed another program, or has ended, no longer has the page.
 */
#ifndef T2X_CTL_PAGE_H
#define T2X_CTL_PAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "tlg_ctl.h"

struct t2x_ctl_page {
	int fd, directory, process;       /* the page; /proc/PID; a pidfd, -1: this kernel has none */
	uint32_t pid;
	void *mapping;                    /* for futex(2); NULL: not mapped */
};

/* The answer.  kind: TLG_CTL_DONE, ...; TLG_CTL_ERROR also if there is none, with why as text */
struct t2x_ctl_answer {
	unsigned kind;
	char text[TLG_CTL_ANSWER + 1];
};

/*
 * Open the page.
 * Return  NULL; or why it is no page of a living process, in words: then nothing is open
 */
const char *t2x_ctl_page_open(struct t2x_ctl_page *page, const char *path, uint32_t pid);
void t2x_ctl_page_close(struct t2x_ctl_page *page);

/*
 * Ask, and wait at most ms for other askers and for the answer.
 * words  of the command, nwords of them, with any characters but control characters
 */
void t2x_ctl_page_ask(struct t2x_ctl_page *page, const char *const *words, int nwords, unsigned ms,
		      struct t2x_ctl_answer *answer);

/* The words as a command, see tlg_ctl.h.  Return  its bytes; -1: it is too long, or has control characters */
int t2x_ctl_join(const char *const *words, int nwords, char command[TLG_CTL_COMMAND]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * t2x_target.h - a process that is to get a signal: held, so that another one with its id later never does.
 *
 * What is read about it, in /proc, is read through one open directory of its own, and the signal goes through a
 * descriptor of the process (pidfd_open(2)), which is older than all that was read.  So whatever has been found out, it
 * was about the process that gets the signal.
 */
#ifndef T2X_TARGET_H
#define T2X_TARGET_H

#include <stdint.h>
#include <sys/types.h>

struct t2x_target {
	int fd, directory;                /* -1: not open */
	uid_t user;                       /* to whom its files in /proc belong */
};

/* Return  NULL, or why it cannot be held, in words: nothing is open then */
const char *t2x_target_open(struct t2x_target *process, uint32_t pid);
void t2x_target_close(struct t2x_target *process);

/*
 * The signal by which libtrace2-prof in this process is asked, by the mark that it makes for those that read
 * /proc/PID/maps (prof/tr2p_remote.h); 0: there is none.
 *
 * Files of that name may come from others, for programs map what they are sent.  So the mark is a page of a private
 * mapping which the process itself has written to before it gave up all access to it: that nobody does with the file of
 * another one, and that the page is the process's own, and none of the file, the kernel says in /proc/PID/pagemap.
 *
 * why  NULL, or why we may not look
 */
int t2x_target_mark(const struct t2x_target *process, const char **why);

/*
 * Send it a signal, if that is one that may ask (tlg_signal.h), and the process handles it.
 * Return  NULL, or why that is not possible, in words
 */
const char *t2x_target_ask(const struct t2x_target *process, int signo);

#endif

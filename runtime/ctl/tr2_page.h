/* SPDX-License-Identifier: MIT */
/*
 * tr2_page.h - the control page of this process: it brings commands, and carries the answers.
 *
 * The page is a file trace2-PID-ID.ctl in the directory of ring files; only its user may open it.  format/tlg_ctl.h has
 * its layout.  A thread of the program makes the file and maps it, before the consumer thread starts.  From then on
 * only the consumer thread reads and writes the page; other threads wake it.  The consumer thread sleeps on the page's
 * `bell`, so that one sleep ends for both reasons: a call of a thread of the program, and a command.
 *
 * The page is hostile.  Whoever may write to it may also truncate it.  So the kernel, which answers with an error where
 * an access would raise SIGBUS, is asked about the page before each access.  Every member is read once into memory of
 * our own and has bounds.  Nothing that the page says decides about memory, about files or about whether an event is
 * stored: what it can change is what the commands of api/tr2_steer.h can change, and the length of a sleep.  A page
 * that wakes the thread again and again for nothing is closed.
 *
 * The same user can truncate the file between the question and the access, within a microsecond.  He may also send
 * SIGKILL.
 *
 * Signal  safe    Errno kept
 */
#ifndef TR2_PAGE_H
#define TR2_PAGE_H

#include <stdint.h>
#include <time.h>

#include "tlg_ctl.h"

/*
 * Create the page if TRACE2_CTL asks for one, unless this process has one.
 * Return  0 or -errno: then there is none    Thread  a program's, for it opens a file    Cost  12 us
 */
int tr2_page_open(void);

/* 1: TRACE2_CTL asks for a page, also in a process without a destination.  Signal unsafe */
int tr2_page_is_asked_for(void);

/* 1: TRACE2_CTL asks for a page, as far as it has been read */
int tr2_page_is_to_open(void);

/* Read TRACE2_CTL.  Before tr2_page_open()    Signal unsafe */
void tr2_page_read_setting(void);

/* Remove the file's name: nobody finds the process any more.  Idempotent; a forked child leaves its parent's. */
void tr2_page_close(void);

/* In a forked child: the page is the parent's.  _is_inherited() is 1 until the child knows that */
int tr2_page_is_inherited(void);
void tr2_page_forget(void);

/* 1 if this process has a page.  Thread  any */
int tr2_page_is_open(void);

/* ---- sleeping.  own: the futex that the consumer thread uses where there is no page ----------------------------- */

/*
 * tr2_page_listen()  what is given to tr2_page_wait(); before the caller looks at anything that may end its sleep
 * tr2_page_wait()    sleep until the bell has changed since, or `own` from seen, or for so long; NULL: without a bound
 * tr2_page_wake()    wake the thread, which may be about to sleep.  Thread  any
 */
uint32_t tr2_page_listen(void);
void tr2_page_wait(uint32_t bell, const uint32_t *own, uint32_t seen, const struct timespec *timeout);
void tr2_page_wake(const uint32_t *own);

/* ---- commands.  Thread  the consumer ---------------------------------------------------------------------------- */

struct tr2_asked {
	uint32_t number;
	int nwords;
	const char *words[TLG_CTL_WORDS];
	char text[TLG_CTL_COMMAND + 1];
};

/* 1: there is a command without an answer, as far as can be seen without a look at it. */
int tr2_page_is_asked(void);

/* Copy the command.  Return  1; 0: there is none, or nothing that is one: then it has been answered */
int tr2_page_take(struct tr2_asked *asked);

/* Answer a command.  kind: TLG_CTL_DONE, ...    The text is truncated to TLG_CTL_ANSWER */
void tr2_page_answer(const struct tr2_asked *asked, unsigned kind, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tlg_signal.h - signals by name and number, as settings and commands have them, and which ones may ask a process where
 * its threads are: who answers and who asks read the same table.
 *
 * Thread  any    Signal safe
 */
#ifndef TLG_SIGNAL_H
#define TLG_SIGNAL_H

enum { TLG_SIGNAL_NAME = 16 };

/*
 * "USR1", "SIGUSR1", "10", "RTMIN", "RTMIN+3", "SIGRTMAX-1", "37"; letters of either case.
 * Return  0: it is none, or one of those that the C library keeps for itself
 */
int tlg_signal_parse(const char *name);

/* "SIGUSR1", "SIGRTMIN+3"; of what is no signal "SIG?". */
void tlg_signal_name(int signo, char name[TLG_SIGNAL_NAME]);

/* 1: libtrace2-prof may answer it.  Others end programs, stop them, or tell them something: nobody sends these. */
int tlg_signal_may_ask(int signo);

#endif

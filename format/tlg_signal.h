/* SPDX-License-Identifier: MIT */
/*
 * tlg_signal.h - parses and prints signals as settings and commands name them.  It also decides which signals may
 * request stacks from a process, for the process that asks and for the one that answers.
 *
 * Thread  any    Signal safe
 */
#ifndef TLG_SIGNAL_H
#define TLG_SIGNAL_H

enum { TLG_SIGNAL_NAME = 16 };

/*
 * "USR1", "SIGUSR1", "10", "RTMIN", "RTMIN+3", "SIGRTMAX-1", "37"; letters of either case.
 * Return  0: it is no signal, or one that the C library reserves
 */
int tlg_signal_parse(const char *name);

/* "SIGUSR1", "SIGRTMIN+3"; "SIG?" if signo is no signal. */
void tlg_signal_name(int signo, char name[TLG_SIGNAL_NAME]);

/* 1: libtrace2-prof may answer this signal.  Never send others: they end or stop programs, or have a meaning there. */
int tlg_signal_may_ask(int signo);

#endif

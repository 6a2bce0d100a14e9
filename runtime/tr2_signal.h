/* SPDX-License-Identifier: MIT */
/*
 * tr2_signal.h - the `signal` event: what is recorded before a signal ends the process.
 *
 * Only a signal whose action is the default one is taken; it is recorded, everything is written out, and then
 * it has its effect.  A program that installs its own handler, before or after, keeps it.
 */
#ifndef TR2_SIGNAL_H
#define TR2_SIGNAL_H

/* What a watched signal does, before the program's own handler: name is "SIGUSR1".  Runs in the handler. */
typedef void tr2_signal_fn(const char *name);

/* Take SIGPIPE, as git does, and the signals that PREFIX_SIGNALS lists: "TERM,INT", "15".  Signal unsafe */
void tr2_signal_init(void);

/* Watch a signal: it ends the program no more, and its handler, if it has one, runs as before.  0 or -1.  One watch */
int tr2_signal_watch(int signo, tr2_signal_fn *watch);

/* "TERM", "SIGTERM", "15"; 0 for what is no signal below 32. */
int tr2_signal_parse(const char *name);

/* For each word of a list, commas or blanks between them; those of more than 15 bytes mean nothing.  NULL: none */
void tr2_signal_each_word(const char *list, void (*call)(const char *word));

/* Take a signal.  0, or -1: it ends no process, or has another action.  Signal safe */
int tr2_signal_take(int signo);

#endif

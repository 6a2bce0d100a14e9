/* SPDX-License-Identifier: MIT */
/*
 * tr2_watch.h - signals by their names, and a watch on one: a signal that means something to us, and perhaps to the
 * program, which keeps its handler.
 */
#ifndef TR2_WATCH_H
#define TR2_WATCH_H

/* What a watched signal does, before the program's own handler: name is "SIGUSR1".  Runs in the handler. */
typedef void tr2_watch_fn(const char *name);

/*
 * Watch a signal: it ends the program no more, and its handler, if it has one, runs as before.  One watch for all
 * signals; a second time for one of them changes nothing.  0 or -1
 */
int tr2_watch_signal(int signo, tr2_watch_fn *watch);

/* Call with the signal's name, "SIGUSR1".  Signal safe */
void tr2_watch_call(int signo, tr2_watch_fn *call);

/* "TERM", "SIGTERM", "15"; 0 for what is no signal below 32. */
int tr2_watch_parse(const char *name);

/* For each word of a list, commas or blanks between them, cut to 63 bytes.  NULL: none */
void tr2_watch_each_word(const char *list, void (*call)(const char *word));

#endif

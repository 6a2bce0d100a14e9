/* SPDX-License-Identifier: MIT */
/*
 * tr2_signal_hook.h - signals by their names, and a hook on one: a signal that means something to us, and perhaps to
 * the program, which keeps its handler.
 */
#ifndef TR2_SIGNAL_HOOK_H
#define TR2_SIGNAL_HOOK_H

/* What a watched signal does, before the program's own handler: name is "SIGUSR1".  Runs in the handler. */
typedef void tr2_signal_hook_fn(const char *name);

/*
 * Watch a signal: it ends the program no more, and its handler, if it has one, runs as before.  One watch for all
 * signals; a second time for one of them changes nothing.  0 or -1
 */
int tr2_signal_hook_signal(int signo, tr2_signal_hook_fn *watch);

/* Call with the signal's name, "SIGUSR1".  Signal safe */
void tr2_signal_hook_call(int signo, tr2_signal_hook_fn *call);

/* "TERM", "SIGTERM", "15"; 0 for what is no signal below 32. */
int tr2_signal_hook_parse(const char *name);

/* For each word of a list, commas or blanks between them, cut to 63 bytes.  NULL: none */
void tr2_signal_hook_each_word(const char *list, void (*call)(const char *word));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_signal_hook.h - a hook on a signal in front of the program's own handler.
 */
#ifndef TR2_SIGNAL_HOOK_H
#define TR2_SIGNAL_HOOK_H

/* What a hooked signal does, before the program's own handler: name is "SIGUSR1".  Runs in the handler. */
typedef void tr2_signal_hook_fn(const char *name);

/*
 * Hook a signal: it ends the program no more, and its handler, if it has one, runs as before.  All signals have the
 * same hook; hooking one a second time changes nothing.  0 or -1
 */
int tr2_signal_hook_signal(int signo, tr2_signal_hook_fn *hook);

/* Call with the signal's name, "SIGUSR1".  Signal safe */
void tr2_signal_hook_call(int signo, tr2_signal_hook_fn *call);

/* For each word of a list, commas or blanks between them, cut to 63 bytes.  NULL: none */
void tr2_signal_hook_each_word(const char *list, void (*call)(const char *word));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tr2_signal_hook.h - a hook on a signal in front of the program's own handler.
 */
#ifndef TR2_SIGNAL_HOOK_H
#define TR2_SIGNAL_HOOK_H

/* The hook runs in the signal handler, before the program's own handler.  name  such as "SIGUSR1" */
typedef void tr2_signal_hook_fn(const char *name);

/*
 * Hook a signal: it no longer ends the program, and the program's handler runs as before.  All signals have the same
 * hook.  Hooking a signal a second time changes nothing.  Return  0 or -1
 */
int tr2_signal_hook_signal(int signo, tr2_signal_hook_fn *hook);

/* Call the hook with the signal's name, "SIGUSR1".  Signal safe */
void tr2_signal_hook_call(int signo, tr2_signal_hook_fn *call);

/* For each word of a list, commas or blanks between them, cut to 63 bytes.  NULL: none */
void tr2_signal_hook_each_word(const char *list, void (*call)(const char *word));

#endif

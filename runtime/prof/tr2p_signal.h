/* SPDX-License-Identifier: MIT */
/*
 * tr2p_signal.h - the profiler and the program share signals: the profiler intercepts sigaction() and signal().
 *
 * The profiler's handler stays once it is installed.  A tick or a question may be on its way when the program changes
 * the signal: the program's handler would get it, or the default action would end the program.  So the profiler notes
 * the action that the program sets, and returns it when the program asks.  A signal that is not the profiler's has the
 * effect that the program wants.
 *
 * SIGPROF     of the two clocks.  The kernel never gets the program's action.
 * real time   a signal that asks threads where they are (tr2p_ask.h).  The kernel gets the program's flags and mask,
 *             so that its calls are interrupted as it wants, or that it ignores the signal.
 *
 * The child of vfork() runs in this memory, and has signals of its own: what it sets goes to the kernel alone.
 */
#ifndef TR2P_SIGNAL_H
#define TR2P_SIGNAL_H

#include <signal.h>

typedef void tr2p_handler(int signo, siginfo_t *info, void *context);

/*
 * Install our handler, or find that it is there.  The program leaves the signal at its default, or ignores SIGPROF.
 * Return  0 or an error number; EBUSY: the program uses the signal
 */
int tr2p_signal_install(int signo, tr2p_handler *handler);

/* 1: the kernel has our handler, and the program does not use the signal.  Signal safe */
int tr2p_signal_is_spare(int signo);

/* The same without asking the kernel, where another library may have set another action past us. */
int tr2p_signal_is_unwanted(int signo);

/* 1: the program has a handler for it, as far as we know.  Signal safe */
int tr2p_signal_has_handler(int signo);

/*
 * All signals but those of faults, which come at once from what the thread does, and cannot wait.  SIGSYS is one of
 * these: a sandbox handles or refuses a system call by it, and the kernel ends a process that blocks it.  Signal safe
 */
static inline void tr2p_signal_fill(sigset_t *set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

	sigfillset(set);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(set, faults[i]);
}

/*
 * 1: this is a vfork() child, which shares its parent's memory.  The two functions below stand around fork(), so that a
 * forked child is never taken for one.  Signal safe
 */
int tr2p_signal_is_in_vfork(void);
void tr2p_signal_before_fork(void);
void tr2p_signal_after_fork(void);      /* in the parent, and in the child */

/* In our handler: this signal is not ours.  It does what the program wants of it. */
void tr2p_signal_pass_on(int signo, siginfo_t *info, void *context);

#endif

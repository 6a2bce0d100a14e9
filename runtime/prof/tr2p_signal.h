/* SPDX-License-Identifier: MIT */
/*
 * tr2p_signal.h - SIGPROF is ours and the program's: the profiler stands in front of sigaction() and signal().
 *
 * From the first start of a clock on our handler stays: a tick may be on its way when its clock has been stopped, and
 * would end the program, as it would if the program then reset the signal.  What the program asks for is noted
 * instead, and is what it is told; a SIGPROF that is no tick of ours has that effect.
 */
#ifndef TR2P_SIGNAL_H
#define TR2P_SIGNAL_H

#include <signal.h>

typedef void tr2p_handler(int signo, siginfo_t *info, void *context);

/* Install the handler, once.  Return  0 or an error number; EBUSY: the program has one of its own */
int tr2p_signal_install(tr2p_handler *handler);

/*
 * All signals but those of faults: of the thread's own, at once, and so not to be blocked.  SIGSYS is one, too: by it
 * sandboxes do, or refuse, what a system call asks for; where it is blocked the kernel ends the process.  Signal safe
 */
static inline void tr2p_signal_fill(sigset_t *set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

	sigfillset(set);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(set, faults[i]);
}

/* In the handler: this SIGPROF is not ours.  The program's disposition says what happens. */
void tr2p_signal_pass_on(int signo, siginfo_t *info, void *context);

#endif

/* SPDX-License-Identifier: MIT */
/* tr2p_signal.c - two dispositions of SIGPROF: that of the kernel, and that of the program. */
#include "tr2p_signal.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "tr2p_outside.h"
#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

static int is_installed;
static struct sigaction programs;         /* what the program wants of SIGPROF, once ours is installed */

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef void (*old_handler)(int);
typedef old_handler signal_function(int, old_handler);

#ifdef TR2_IS_SANITIZED
static action_function *const next_action = sigaction;

static void find_next(void)
{
}
#else
static action_function *next_action;
static signal_function *next_signal;

/* When the library is loaded, as a rule: see tr2p_create.c. */
__attribute__((constructor)) static void find_next(void)
{
	int saved = errno;

	if (next_action)
		return;
	tr2p_enter();
	*(void **)(void *)&next_signal = dlsym(RTLD_NEXT, "signal");
	*(void **)(void *)&next_action = dlsym(RTLD_NEXT, "sigaction");
	tr2p_leave();
	errno = saved;
}
#endif

static int is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static int is_ignored(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN;
}

/* ---- ours ------------------------------------------------------------------------------------------ */

int tr2p_signal_install(tr2p_handler *handler)
{
	struct sigaction ours = { .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK }, now;
	const struct sigaction *theirs = &now;

	find_next();
	if (next_action(SIGPROF, NULL, &now))
		return errno;
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler)
		theirs = &programs;
	if (!is_default(theirs) && !is_ignored(theirs))
		return EBUSY;
	if (theirs == &now)
		programs = now;   /* and not again: handlers may be reading it */
	ours.sa_sigaction = handler;
	/* Other signals wait: a handler that leaves by longjmp() would leave ours, too, in the midst of it. */
	tr2p_signal_fill(&ours.sa_mask);
	if (next_action(SIGPROF, &ours, NULL))
		return errno;
	tr2_store_rlx(&is_installed, 1); /* relaxed: a flag, which orders nothing */
	return 0;
}

void tr2p_signal_pass_on(int signo, siginfo_t *info, void *context)
{
	const struct sigaction action = programs;

	if (is_ignored(&action))
		return;
	if (action.sa_flags & (int)SA_RESETHAND)
		programs = (struct sigaction){ .sa_handler = SIG_DFL };
	if (is_default(&action)) {
		next_action(SIGPROF, &action, NULL);
		raise(SIGPROF);   /* when this handler returns */
	} else if (action.sa_flags & SA_SIGINFO) {
		action.sa_sigaction(signo, info, context);
	} else {
		action.sa_handler(signo);
	}
}

/* ---- in front of libc ------------------------------------------------------------------------------ */

#ifndef TR2_IS_SANITIZED
/* Within the profiler libtrace2 asks, which has to know of our handler. */
static int is_noted(int signo)
{
	return signo == SIGPROF && !tr2p_is_inside() && tr2_load_rlx(&is_installed); /* relaxed: as above */
}

/* The program has changed another signal, unless it failed.  Return  error */
static int note(int signo, int is_change, int error)
{
	if (is_change && !error && !tr2p_is_inside())
		tr2p_outside_lost(signo);
	return error;
}

__attribute__((visibility("default"))) int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
	const struct sigaction before = programs;

	find_next();
	if (!is_noted(signo))
		return note(signo, action != NULL, next_action(signo, action, old));
	if (action)
		programs = *action;
	if (old)
		*old = before;
	return 0;
}

__attribute__((visibility("default"))) old_handler signal(int signo, old_handler handler)
{
	const struct sigaction before = programs;

	find_next();
	if (!is_noted(signo)) {
		const old_handler was = next_signal(signo, handler);
		note(signo, was != SIG_ERR, 0);
		return was;
	}
	programs = (struct sigaction){ .sa_handler = handler, .sa_flags = SA_RESTART };
	return before.sa_handler;
}
#endif
